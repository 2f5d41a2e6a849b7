// The state of every account at the tip of the fork that the node follows: the confirmed state, or a newer one of that fork.
// When a slot leaves the fork, the states of the surviving ancestor come back. Pure: no clock, no I/O.

import { keyText } from '../../schemas/index.ts';
import type { AccountUpdate } from '../source.ts';
import { ForkChain, type Place } from './chain.ts';

/** Bytes of states above the confirmed slot; `npm run bench undo` measures the whole. */
const UNDO_BYTES_MAX = 128 * 1024 * 1024;
/** Objects and map entries of one state, beside its data. */
const STATE_BYTES = 400;
const CLOSED = new Uint8Array(0);

/** The newest confirmed state of an account. `slot`: the newest slot in which it had these bytes. */
export interface ConfirmedState {
  readonly slot: number;
  readonly update: AccountUpdate | null;
}

export interface ForkPorts {
  /** Null for an account that no confirmed slot has. */
  confirmed(key: string): ConfirmedState | null;
  /** Takes the state that an account has at the tip. */
  emit(update: AccountUpdate): void;
  /** Emits follow, up to `reverted(null)`, which undo the changes of abandoned slots from this one on. */
  reverted(slot: number | null): void;
}

interface Entry {
  /** Above the confirmed slot, oldest first, of every fork. */
  states: AccountUpdate[];
  /** The state of `states` that was emitted last; null: the confirmed one. */
  emitted: AccountUpdate | null;
  /** Slot of the confirmed state that was emitted last; -1 before. */
  confirmedSlot: number;
}

export class ForkStates {
  readonly #ports: ForkPorts;
  readonly #chain = new ForkChain();
  readonly #entries = new Map<string, Entry>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(ports: ForkPorts, bytesMax = UNDO_BYTES_MAX) {
    this.#ports = ports;
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the states that an undo may need. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Newest slot at the tip of the fork; the confirmed one while nothing above it is known. */
  get slot(): number {
    return this.#chain.newest;
  }

  /** Changes whenever the place of a slot may have changed. */
  get version(): number {
    return this.#chain.version;
  }

  /** Whether an account shows a processed state of a slot above this one. */
  isAhead(slot: number): boolean {
    for (const { emitted } of this.#entries.values()) if (emitted && emitted.slot > slot) return true;
    return false;
  }

  placeOf(slot: number): Place {
    return this.#chain.placeOf(slot);
  }

  /**
   * Data up to `slot` may be missing, as after a lost connection: every account has its confirmed state until the chain has
   * confirmed that slot.
   */
  restart(slot: number): void {
    this.#move(() => this.#chain.restart(slot));
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** A state of a processed slot. Call `follow` for its slot, before or after. */
  account(update: AccountUpdate): void {
    const { slot, pubkey } = update;
    if (slot <= this.#chain.confirmed) return;
    this.#chain.delivered(slot);
    const key = keyText(pubkey);
    const entry = this.#entries.get(key) ?? { states: [], emitted: null, confirmedSlot: -1 };
    this.#entries.set(key, entry);
    this.#keep(entry, update);
    this.#settle(key, entry);
    // Beyond the bound the books fall back to the confirmed states, until these have passed every dropped one.
    if (this.#bytes > this.#bytesMax) this.restart(this.#newestSlot());
  }

  link(slot: number, parent: number): void {
    this.#move(() => this.#chain.link(slot, parent));
  }

  dead(slot: number): void {
    this.#move(() => this.#chain.dead(slot));
  }

  follow(slot: number): void {
    this.#move(() => this.#chain.follow(slot));
  }

  /** All data of the slot has come, or comes before the next one is followed. */
  delivered(slot: number): void {
    this.#chain.delivered(slot);
  }

  /** Whether the block of `slot` is newer than those of the fork, and stands on the newest of them. */
  extends(slot: number): boolean {
    return slot > this.#chain.tip && this.#chain.extends(slot);
  }

  /** Whether it does, and no block of another fork does as well. */
  isUncontested(slot: number): boolean {
    return slot > this.#chain.tip && this.#chain.isUncontested(slot);
  }

  /** An account has a new confirmed state. */
  confirmed(pubkey: Uint8Array): void {
    const key = keyText(pubkey);
    const entry = this.#entries.get(key);
    if (entry) this.#overtake(key, entry);
    // The confirmed state itself may have changed.
    if (!entry?.emitted) this.#emit(key, null, pubkey);
  }

  /** All confirmed states up to `slot` are known. A state of these slots that is not among them belonged to another fork. */
  confirm(slot: number): void {
    this.#move(() => this.#chain.confirm(slot));
    for (const [key, entry] of this.#entries) {
      const states = entry.states.filter((state) => state.slot > slot);
      for (const state of entry.states) if (state.slot <= slot) this.#bytes -= sizeOf(state);
      entry.states = states;
      if (states.length === 0) this.#entries.delete(key);
    }
  }

  /** The newest state of each account with states above the confirmed slot. */
  *current(): Generator<AccountUpdate> {
    for (const entry of this.#entries.values()) if (entry.emitted) yield entry.emitted;
  }

  #newestSlot(): number {
    let newest = this.#chain.tip;
    for (const { states } of this.#entries.values()) newest = Math.max(newest, states.at(-1)?.slot ?? -1);
    return newest;
  }

  /** Of two states of one slot the newer write stays. */
  #keep(entry: Entry, update: AccountUpdate): void {
    const at = entry.states.findIndex(({ slot }) => slot >= update.slot);
    const there = entry.states[at];
    if (there?.slot !== update.slot) entry.states.splice(at < 0 ? entry.states.length : at, 0, update);
    else if (isEarlierWrite(update, there)) return;
    else {
      this.#bytes -= sizeOf(there);
      entry.states[at] = update;
    }
    this.#bytes += sizeOf(update);
  }

  /** Runs a step that may change the fork, then emits the accounts that differ. */
  #move(step: () => void): void {
    const before = this.#chain.slots;
    step();
    const { slots, confirmed } = this.#chain;
    if (isSame(before, slots)) return;
    const differing = [...this.#entries].filter(([key, entry]) => this.#isDue(key, entry, this.#stateOf(key, entry)));
    const left = differing.flatMap(([key, { emitted }]) => (this.#isAbandoned(key, emitted) ? [emitted.slot] : []));
    const gone = [...before].filter((slot) => slot > confirmed && !slots.has(slot));
    if (left.length > 0) this.#ports.reverted(Math.min(...left, ...gone));
    for (const [key, entry] of differing) this.#settle(key, entry);
    if (left.length > 0) this.#ports.reverted(null);
  }

  /** Whether an emitted state is undone, and not only replaced by a newer one. */
  #isAbandoned(key: string, emitted: AccountUpdate | null): emitted is AccountUpdate {
    if (emitted === null || this.#chain.slots.has(emitted.slot)) return false;
    if (emitted.slot > this.#chain.confirmed) return true;
    const confirmed = this.#ports.confirmed(key);
    return confirmed === null || confirmed.slot < emitted.slot;
  }

  #stateOf(key: string, { states }: Entry): AccountUpdate | null {
    const state = states.findLast(({ slot }) => this.#chain.slots.has(slot)) ?? null;
    const confirmed = state && this.#ports.confirmed(key);
    return state && confirmed && confirmed.slot > state.slot ? null : state;
  }

  /** Whether the account has another state than the one that was emitted. A confirmed state may be there before its news. */
  #isDue(key: string, { states, emitted, confirmedSlot }: Entry, state: AccountUpdate | null): boolean {
    if (state !== null || emitted !== null) return state !== emitted;
    return (
      states.some(({ slot }) => this.#chain.slots.has(slot)) && (this.#ports.confirmed(key)?.slot ?? -1) > confirmedSlot
    );
  }

  #settle(key: string, entry: Entry): void {
    const state = this.#stateOf(key, entry);
    const { emitted } = entry;
    if (!this.#isDue(key, entry, state)) return;
    entry.emitted = state;
    if (state === null) entry.confirmedSlot = this.#ports.confirmed(key)?.slot ?? -1;
    const pubkey = (state ?? emitted ?? entry.states[0])?.pubkey;
    if (pubkey) this.#emit(key, state, pubkey);
  }

  /** A newer confirmed state of another fork undoes that of the followed one: its news may come before that of the fork. */
  #overtake(key: string, entry: Entry): void {
    const emitted = entry.emitted?.slot ?? null;
    const confirmed = this.#ports.confirmed(key)?.slot ?? -1;
    const isUndone = emitted !== null && confirmed > emitted && this.#chain.hasLeft(emitted, confirmed);
    if (isUndone) this.#ports.reverted(emitted);
    this.#settle(key, entry);
    if (isUndone) this.#ports.reverted(null);
  }

  #emit(key: string, state: AccountUpdate | null, pubkey: Uint8Array): void {
    const update = state ?? this.#ports.confirmed(key)?.update;
    this.#ports.emit(update ?? { kind: 'account', slot: 0, writeVersion: null, pubkey, owner: pubkey, data: CLOSED });
  }
}

function sizeOf({ data }: AccountUpdate): number {
  return data.length + STATE_BYTES;
}

function isEarlierWrite(one: AccountUpdate, other: AccountUpdate): boolean {
  return one.writeVersion !== null && other.writeVersion !== null && one.writeVersion < other.writeVersion;
}

function isSame(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  // Most news, the account states of the newest block, changes no slot.
  return one === other || (one.size === other.size && [...one].every((slot) => other.has(slot)));
}
