// Decides when another source is better than the leader: by the slots of data that it completes first. Pure.

/** A leader so many slots behind a follower is replaced at once: two healthy nodes of one chain are 1 to 3 slots apart. */
export const BEHIND_SLOTS_MAX = 8;
/** A follower that completes so many slots in a row before the leader replaces it (about 26 s): slower than any flapping. */
export const BETTER_SLOTS = 64;

export interface CandidateState {
  /** Newest complete slot. */
  readonly label: number;
  /** Whether it could continue the books. */
  readonly isFit: boolean;
}

export class Leadership {
  /** Slots in a row that each source completed before the leader. */
  readonly #before: number[];

  constructor(sources: number) {
    this.#before = Array<number>(sources).fill(0);
  }

  /** Another leadership began. */
  began(): void {
    this.#before.fill(0);
  }

  lost(source: number): void {
    this.#before[source] = 0;
  }

  /** A source completed a slot. Returns the source that leads from here on, or null for no change. */
  completed(source: number, leader: number, states: readonly CandidateState[]): number | null {
    const led = states[leader]?.label ?? -1;
    if (source === leader) return this.#led(led, leader, states);
    const state = states[source];
    return state?.isFit && led >= 0 && state.label >= led + BEHIND_SLOTS_MAX ? source : null;
  }

  /** The leader completed a slot: who had it before? */
  #led(slot: number, leader: number, states: readonly CandidateState[]): number | null {
    for (const [source, { label, isFit }] of states.entries()) {
      const wasBefore = source !== leader && isFit && label >= slot;
      this.#before[source] = wasBefore ? (this.#before[source] ?? 0) + 1 : 0;
    }
    const best = this.#before.findIndex((slots) => slots >= BETTER_SLOTS);
    return best < 0 ? null : best;
  }
}
