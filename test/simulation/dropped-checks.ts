// Laws of runs whose chain drops slots that it had confirmed. Their stored events are retracted, and nothing else is. A
// transaction that lands again has its events with the new slot too.

import bs58 from 'bs58';
import { decodeMessage } from '../../schemas/index.ts';
import { signatureOf } from './tape.ts';
import type { TrueEvent, Truth } from './truth.ts';

export interface DroppedParts {
  readonly truth: Truth;
  readonly violated: (rule: string, detail: string) => void;
}

export class DroppedChecks {
  readonly #parts: DroppedParts;
  /** Stored events of dropped slots, by event and slot. */
  readonly #stored = new Map<string, TrueEvent>();
  /** Retracted transactions, by signature and slot. */
  readonly #retracted = new Set<string>();

  constructor(parts: DroppedParts) {
    this.#parts = parts;
  }

  /** Retracted transactions so far. */
  get retracted(): number {
    return this.#retracted.size;
  }

  /** Takes a stored event of a dropped slot. False for any other event. */
  takes(id: string, slot: number): boolean {
    const { truth, violated } = this.#parts;
    const event = truth.droppedEvent(id, slot);
    if (event === null) return false;
    const key = `${id} ${slot}`;
    if (this.#stored.has(key)) violated('no event twice', `${event.name} of the dropped slot ${slot}`);
    this.#stored.set(key, event);
    return true;
  }

  /** Whether the event may come later, after a retraction: a dropped block had its transaction too. */
  mayComeLater(id: string): boolean {
    return this.#parts.truth.isOfDropped(signatureOf(id));
  }

  /** A record of the topic of retractions. */
  retraction(value: Uint8Array): void {
    const message = decodeMessage(value);
    if (message.name !== 'SlotRetraction') return;
    const { slot, signatures } = message.value;
    const standing = new Set([...this.#parts.truth.events(slot - 1, slot)].map(({ id }) => signatureOf(id)));
    for (const bytes of signatures) {
      const signature = Buffer.from(bytes).toString('latin1');
      this.#retracted.add(`${signature} ${slot}`);
      if (standing.has(signature))
        this.#parts.violated('no standing transaction is retracted', `${bs58.encode(bytes)} of slot ${slot}`);
    }
  }

  /** Every stored event of a dropped slot is retracted by now. */
  settled(): void {
    for (const { id, slot, name } of this.#stored.values()) {
      if (this.#retracted.has(`${signatureOf(id)} ${slot}`)) continue;
      this.#parts.violated('a dropped event is retracted', `${name} of slot ${slot}`);
      return;
    }
  }
}
