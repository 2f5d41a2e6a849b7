// Remembers delivered transactions by signature. Pure.

/** Signatures in each of two generations, about 25 MB: several times the transactions that a first start reads back. */
const GENERATION_MAX = 250_000;

export class Signatures {
  #young = new Set<string>();
  #old = new Set<string>();

  has(signature: string): boolean {
    return this.#young.has(signature) || this.#old.has(signature);
  }

  add(signature: string): void {
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(signature);
  }
}
