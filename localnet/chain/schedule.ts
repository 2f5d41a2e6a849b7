// Decides for each slot of the chain: a block, nothing, or a fork. The answer follows from seed and slot alone, so a restarted
// chain goes on with the same slots.

import { chanceOf } from '../chance.ts';
import type { Profile } from './profile.ts';

/** At most one fork, or one run of skipped slots, starts in each window of so many slots. */
const FORK_WINDOW_SLOTS = 64;
const SHORT_FORK_SLOTS_MAX = 3;
const LONG_FORK_SLOTS_MIN = 6;
const LONG_FORK_SLOTS_MAX = 20;
const RUN_SLOTS_MIN = 12;
const RUN_SLOTS_MAX = 30;

/**
 * `block`: a block of the winning fork, which also ends an open fork. `branch`: a block of a fork that loses, which the node
 * follows meanwhile. `hidden`: a block of the winning fork while the node follows the other one. `skipped`: no block. `dead`: a
 * block that every node refuses.
 */
export type SlotKind = 'block' | 'branch' | 'hidden' | 'skipped' | 'dead';

/** A fork or a run of skipped slots: slots `from` up to but not including `to`. */
interface Stretch {
  readonly kind: 'fork' | 'run';
  readonly from: number;
  readonly to: number;
  readonly long: boolean;
}

export class Schedule {
  readonly #seed: number;
  readonly #profile: Profile;

  constructor(seed: number, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
  }

  at(slot: number): SlotKind {
    const { skippedShare, deadShare, forkShare, runShare } = this.#profile;
    if (skippedShare + deadShare + forkShare + runShare === 0) return 'block';
    const stretch = this.#stretch(Math.floor(slot / FORK_WINDOW_SLOTS));
    if (stretch !== null && slot >= stretch.from && slot < stretch.to) return this.#within(stretch, slot);
    if (stretch?.kind === 'fork' && slot === stretch.to) return 'block';
    const fate = this.#chance(`slot|${slot}`);
    if (fate < skippedShare) return 'skipped';
    return fate < skippedShare + deadShare ? 'dead' : 'block';
  }

  /** The first slot from `slot` on with a block of the winning fork. */
  winnerFrom(slot: number): number {
    for (let at = slot; ; at++) {
      const kind = this.at(at);
      if (kind === 'block' || kind === 'hidden') return at;
    }
  }

  #within({ kind, from, long }: Stretch, slot: number): SlotKind {
    if (kind === 'run') return 'skipped';
    if (!long || slot === from) return 'branch';
    return this.#chance(`side|${slot}`) < 0.5 ? 'branch' : 'hidden';
  }

  /** The stretch of a window. It ends inside, with a slot left for the block that ends a fork. */
  #stretch(window: number): Stretch | null {
    const { forkShare, longForkShare, runShare } = this.#profile;
    const fate = this.#chance(`window|${window}`);
    const isFork = fate < forkShare;
    if (!isFork && fate >= forkShare + (1 - forkShare) * runShare) return null;
    const long = isFork && this.#chance(`long|${window}`) < longForkShare;
    const [least, most] = isFork
      ? long
        ? [LONG_FORK_SLOTS_MIN, LONG_FORK_SLOTS_MAX]
        : [1, SHORT_FORK_SLOTS_MAX]
      : [RUN_SLOTS_MIN, RUN_SLOTS_MAX];
    const length = this.#between(`length|${window}`, least, most);
    const from = window * FORK_WINDOW_SLOTS + this.#between(`start|${window}`, 1, FORK_WINDOW_SLOTS - 2 - length);
    return { kind: isFork ? 'fork' : 'run', from, to: from + length, long };
  }

  #between(text: string, least: number, most: number): number {
    return least + Math.floor(this.#chance(text) * (most - least + 1));
  }

  #chance(text: string): number {
    return chanceOf(`schedule|${this.#seed}|${text}`);
  }
}
