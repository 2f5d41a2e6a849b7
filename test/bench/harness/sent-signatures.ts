// The transactions that a sender has sent, for the lists and statuses that an ingester asks for.

import { type Signature, signatureOf } from './update-frames.ts';

/** Some minutes at the highest rate: an ingester asks for the newest half of them. */
const KEPT_MAX = 400_000;

export class SentSignatures {
  readonly #slots = new Map<string, number>();
  /** From the first kept one on; `#first` is its number. */
  #texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  #first = 0;

  next(slot: number): Signature {
    const number = this.#first + this.#texts.length;
    const signature = signatureOf(number);
    this.#texts.push(signature.text);
    this.#numbers.set(signature.text, number);
    this.#slots.set(signature.text, slot);
    if (this.#texts.length > KEPT_MAX) this.#forget();
    return signature;
  }

  /** Entries of `getSignaturesForAddress`, newest first. */
  page(before: string | undefined, limit: number): readonly object[] {
    const end = before === undefined ? this.#texts.length : (this.#numbers.get(before) ?? this.#first) - this.#first;
    const texts = this.#texts.slice(Math.max(0, end - limit), end).reverse();
    return texts.map((signature) => ({ signature, slot: this.#slots.get(signature), err: null }));
  }

  status(text: string): object | null {
    const slot = this.#slots.get(text);
    return slot === undefined ? null : { slot, confirmations: null, err: null, confirmationStatus: 'finalized' };
  }

  #forget(): void {
    const gone = this.#texts.slice(0, KEPT_MAX / 2);
    this.#texts = this.#texts.slice(gone.length);
    this.#first += gone.length;
    for (const text of gone) {
      this.#slots.delete(text);
      this.#numbers.delete(text);
    }
  }
}
