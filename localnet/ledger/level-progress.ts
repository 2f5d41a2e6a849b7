// Follows how far each commitment level has come, for those who publish what it reaches.

import type { Commitment, Ledger, StoredBlock } from '../ledger.ts';

export class LevelProgress {
  readonly #ledger: Ledger;
  /** Height of the newest block of the winning chain that each level has reached. */
  readonly #reached: Record<Commitment, number>;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#reached = {
      processed: ledger.heightAt('processed'),
      confirmed: ledger.heightAt('confirmed'),
      finalized: ledger.heightAt('finalized'),
    };
  }

  /** Blocks that the level has reached since the last call, oldest first. */
  advance(commitment: Commitment): StoredBlock[] {
    const newest = this.#ledger.history.fromTip(0)?.height ?? 0;
    const reached = this.#ledger.heightAt(commitment);
    const blocks: StoredBlock[] = [];
    for (let height = this.#reached[commitment] + 1; height <= reached; height++) {
      const block = this.#ledger.history.fromTip(newest - height);
      if (block !== null) blocks.push(block);
    }
    this.#reached[commitment] = Math.max(reached, this.#reached[commitment]);
    return blocks;
  }
}
