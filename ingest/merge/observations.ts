// States of each account by one source, slot by slot: a hash of the data at the end of each slot. Pure.

import { LRUCache } from 'lru-cache';

/** One state of an account. */
export interface Observation {
  readonly slot: number;
  readonly hash: string;
  /** Order inside the slot on this source; null when it has none: the later arrival counts. */
  readonly version: bigint | null;
  /** Whether the source had another state of the account before. */
  readonly isChange: boolean;
  /** Hashes of the states before it in the same slot. */
  readonly earlier: readonly string[];
}

/** Slots of states in memory, as many as the shadow check keeps: the arbiter answers within them. */
export const OBSERVED_SLOTS = 64;
/** Accounts whose newest state is remembered, several times those of a large exchange. */
const ACCOUNTS_MAX = 500_000;

export class Observations {
  /** By account, oldest first. Only the first may be older than the slots in memory. */
  readonly #accounts = new LRUCache<string, Observation[]>({ max: ACCOUNTS_MAX });
  readonly #slots = new Map<number, Set<string>>();

  /** The source lost its connection: its observations of an account may skip states. */
  clear(): void {
    this.#accounts.clear();
    this.#slots.clear();
  }

  add(key: string, slot: number, version: bigint | null, hash: string): void {
    const states = this.#accounts.get(key) ?? [];
    const last = states.at(-1);
    if (last && isNewer(last, slot, version)) return;
    const replaced = last?.slot === slot ? states.pop() : undefined;
    const before = states.at(-1);
    const isChange = before !== undefined && before.hash !== hash;
    const earlier = replaced ? [...replaced.earlier, replaced.hash] : NO_STATES;
    states.push({ slot, version, hash, isChange, earlier });
    while ((states[1]?.slot ?? slot) < slot - OBSERVED_SLOTS) states.shift();
    this.#accounts.set(key, states);
    this.#slots.set(slot, (this.#slots.get(slot) ?? new Set()).add(key));
  }

  /** Accounts with a state of this slot. */
  changedIn(slot: number): ReadonlySet<string> {
    return this.#slots.get(slot) ?? NONE;
  }

  /** State of an account at the end of a slot, if the source named it. */
  at(key: string, slot: number): Observation | null {
    return this.#accounts.get(key)?.findLast((one) => one.slot <= slot) ?? null;
  }

  /** Whether the account changed in a range of slots: `after` is outside of it. */
  hasChange(key: string, after: number, to: number): boolean {
    return (this.#accounts.get(key) ?? []).some(({ slot, isChange }) => isChange && slot > after && slot <= to);
  }

  /** Slots up to here were compared. */
  compared(slot: number): void {
    for (const known of this.#slots.keys()) if (known <= slot) this.#slots.delete(known);
  }
}

const NONE: ReadonlySet<string> = new Set();
const NO_STATES: readonly string[] = [];

function isNewer(last: Observation, slot: number, version: bigint | null): boolean {
  if (last.slot !== slot) return last.slot > slot;
  return last.version !== null && version !== null && last.version > version;
}
