// Updates that a session hands on: live updates wait here until all accounts are read, and each slot's label follows its data.

import { keyText } from '../../schemas/index.ts';
import { packed } from '../packed-update.ts';
import type { UpdateQueue } from '../queue.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import type { FullRead } from './account-reader.ts';
import { pauseUnlessOver } from './full-reading.ts';
import type { History } from './history.ts';
import { type Label, SlotLabels } from './slot-labels.ts';

/** Limit of changed accounts buffered during a read. */
const BUFFERED_MAX = 500_000;
/** Limit of live transactions that wait for the first sweep. Later sweeps fetch transactions beyond it. */
const BUFFERED_TRANSACTIONS_MAX = 50_000;
/** Accounts of a read in the queue: some megabytes, and a millisecond to unpack them. The next follow when these are taken. */
const WAVE_ACCOUNTS = 512;
/** Longest lag of the stream behind a full read: 75 slots. Beyond it, books carry the slot too early. */
const PASS_PATIENCE_MS = 30_000;

export interface IntakeParts {
  readonly queue: UpdateQueue;
  readonly history: Pick<History, 'take'>;
  /** Receives each slot whose accounts are complete. */
  labelled(slot: number): void;
  /** Newest slot whose updates have all come, of a source that knows it. */
  completeSlot?(): number;
  /** Ends the session. */
  end(reason: string): void;
}

/** Deliveries of the earlier sessions. */
export interface Delivered {
  /** Newest slot of account data. */
  readonly dataSlot: number;
  /** Newest label. It is older where a session ended inside a slot. */
  readonly labelledSlot: number;
}

export const NOTHING_DELIVERED: Delivered = { dataSlot: 0, labelledSlot: 0 };

/** A delivered read of all accounts that the stream has not passed. */
interface UnpassedRead {
  /** Slots of its parts. */
  readonly slots: readonly number[];
  /** Newest slot of its accounts. */
  readonly newest: number;
  /** The stream has passed it. */
  passed(): void;
}

export class Intake {
  readonly labels: SlotLabels;
  readonly #parts: IntakeParts;
  /** Newest live update of each account during a read, with the index of its subscription; null afterwards. */
  #bufferedAccounts: Map<string, { readonly kind: number; readonly update: AccountUpdate }> | null = new Map();
  /** Live transactions until the first sweep; null afterwards. */
  #bufferedTransactions: TransactionLogs[] | null = [];
  /** States that were read ahead of the stream. They wait for it, so that no label is older than its data. */
  #ahead: AccountUpdate[] = [];
  #unpassed: UnpassedRead | null = null;

  constructor(parts: IntakeParts, from: Delivered) {
    this.#parts = parts;
    this.labels = new SlotLabels(from.labelledSlot, from.dataSlot);
  }

  /** Whether a label would count: not before all accounts are delivered. */
  get mayLabel(): boolean {
    return !this.isReading || this.#unpassed !== null;
  }

  /** Whether updates wait for a read of all accounts. */
  get isReading(): boolean {
    return this.#bufferedAccounts !== null;
  }

  /** A live update. `kind` is the index of its subscription; -1 for an oracle of another program. */
  account(update: AccountUpdate, kind: number): void {
    const passed = this.labels.data(update.slot);
    const { completeSlot } = this.#parts;
    const label = passed !== null && passed <= (completeSlot?.() ?? passed) ? passed : null;
    this.label(label);
    if (this.#bufferedAccounts) {
      const key = keyText(update.pubkey);
      const before = this.#bufferedAccounts.get(key);
      if (before && isNewer(before.update, update)) return;
      // The newest update of an account stands where it arrived.
      this.#bufferedAccounts.delete(key);
      this.#bufferedAccounts.set(key, { kind, update: packed(update) });
      if (this.#bufferedAccounts.size > BUFFERED_MAX) {
        this.#parts.end('too many accounts changed during the first read');
      }
      return;
    }
    this.#parts.queue.push(update);
    if (label !== null) this.releaseAhead();
  }

  /** A state that was read beside the stream waits until the stream has reached its slot. */
  read(update: AccountUpdate): void {
    if (!this.isReading && update.slot <= this.labels.dataSlot) this.#parts.queue.push(update);
    else this.#ahead.push(update);
  }

  releaseAhead(reached = this.labels.dataSlot): void {
    if (this.#ahead.length === 0) return;
    const waiting = this.#ahead;
    this.#ahead = waiting.filter(({ slot }) => slot > reached);
    for (const update of waiting) if (update.slot <= reached) this.#parts.queue.push(update);
  }

  label(slot: Label): void {
    if (slot === null) return;
    if (this.#unpassed !== null && slot >= this.#unpassed.newest) this.#endAt(slot, this.#unpassed);
    if (this.isReading) return;
    this.#parts.queue.push({ kind: 'slot', slot });
    this.#parts.labelled(slot);
  }

  transaction(transaction: TransactionLogs): void {
    const { history, queue } = this.#parts;
    if (this.#bufferedTransactions) {
      if (this.#bufferedTransactions.length < BUFFERED_TRANSACTIONS_MAX) this.#bufferedTransactions.push(transaction);
    } else if (history.take(transaction.signature, transaction.slot)) queue.push(transaction);
  }

  /** Live transactions no longer wait for older ones. */
  releaseTransactions(): void {
    const held = this.#bufferedTransactions ?? [];
    this.#bufferedTransactions = null;
    for (const transaction of held.sort((a, b) => a.slot - b.slot)) this.transaction(transaction);
  }

  /** Delivers a read of all accounts and the updates that came meanwhile. A read that is not `isWhole` closes no account. */
  async snapshot(
    { slots, updates }: Pick<FullRead, 'slots' | 'updates'>,
    oracles: readonly AccountUpdate[],
    isWhole: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { queue } = this.#parts;
    const slot = Math.min(...slots);
    await queue.drained();
    if (signal.aborted) return;
    // After a read that was not believed, live updates wait again.
    this.#bufferedAccounts ??= new Map();
    if (isWhole) queue.push({ kind: 'snapshotBegin', slot });
    let pushed = 0;
    for (const update of inTurn(updates, oracles)) {
      queue.push(update);
      if (++pushed % WAVE_ACCOUNTS === 0) await queue.drained();
      if (queue.hasEnded) return;
    }
    const newest = Math.max(...slots, ...oracles.map((one) => one.slot));
    // Only the newest update of each account waits. So the read is the state of one slot when no update is newer, or once the stream has
    // passed the newest one.
    const isOfOneSlot = slot === newest && this.labels.dataSlot <= slot;
    if (isWhole && !isOfOneSlot) await this.#streamPasses({ slots, newest }, signal);
    // The stream ended before it passed the read, which so is the state of no slot: the next session reads again.
    if (!this.isReading || signal.aborted) return;
    if (isWhole) queue.push({ kind: 'snapshotEnd', slot });
    for (const update of this.#takeHeld(slots)) queue.push(update);
    this.labels.snapshot(newest);
    // On a chain that stands still no notification ever labels it.
    if (isWhole) this.label(this.labels.complete(slot));
    this.releaseAhead();
  }

  async #streamPasses(read: Pick<UnpassedRead, 'slots' | 'newest'>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#unpassed = { ...read, passed: () => over.abort() };
    await pauseUnlessOver(AbortSignal.any([signal, over.signal]), PASS_PATIENCE_MS);
    this.#unpassed = null;
  }

  /**
   * The stream has passed a slot, and no update of later ones was taken. With the waiting updates the read is the state at that
   * slot.
   */
  #endAt(slot: number, { slots, passed }: UnpassedRead): void {
    const { queue } = this.#parts;
    for (const update of this.#takeHeld(slots)) queue.push(update);
    this.releaseAhead(slot);
    queue.push({ kind: 'snapshotEnd', slot });
    this.#unpassed = null;
    passed();
  }

  /** Live updates no longer wait. Returns those that a read lacks, by slot: its part at slot S contains every write up to S. */
  #takeHeld(slots: readonly number[]): AccountUpdate[] {
    const before = Math.min(...slots) - 1;
    const held = [...(this.#bufferedAccounts?.values() ?? [])].sort((a, b) => a.update.slot - b.update.slot);
    this.#bufferedAccounts = null;
    return held.filter(({ kind, update }) => update.slot > (slots[kind] ?? before)).map(({ update }) => update);
  }

  /** The stream goes on where an earlier one ended: nothing has to be read. */
  resume(): void {
    this.#bufferedAccounts = null;
    this.releaseTransactions();
  }
}

function* inTurn(...parts: readonly Iterable<AccountUpdate>[]): Generator<AccountUpdate> {
  for (const part of parts) yield* part;
}

/** Whether the first of two updates of an account is the newer one, as far as the source says. */
export function isNewer(one: AccountUpdate, other: AccountUpdate): boolean {
  if (one.slot !== other.slot || one.writeVersion === null || other.writeVersion === null) return one.slot > other.slot;
  return one.writeVersion > other.writeVersion;
}
