// The shadow check. It compares a separate read of all accounts with the stored accounts at the slot of the read, and each book
// with a rebuild from that read. A difference is repaired and begins a new epoch.

import bs58 from 'bs58';
import {
  type BookCheck,
  type BookEvidence,
  type BookRepair,
  EVIDENCE_MAX,
  encodeMessage,
  keyBytes,
  keyText,
  type MarketRef,
  marketKey,
} from '../../schemas/index.ts';
import { isBookChange, type Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountsRead } from '../source.ts';
import { Comparison, type Suspect } from './comparison.ts';
import { evidenceOf } from './evidence.ts';
import type { FreshBook, FreshMessage } from './rebuild.ts';
import { AccountVersions } from './versions.ts';

/** Slots that the stream may lag behind a read before the comparison. */
export const SETTLE_SLOTS = 8;
/** Limit of reads that wait for the stream. */
const READS_MAX = 2;
/** Reads for which confirmed accounts wait while each read finds new suspects. */
export const ROUNDS_MAX = 4;
/** Minimum distance of two repairs of one market: every repair costs all its readers. */
export const REPAIR_INTERVAL_SLOTS = 150;
/** Orders per batch of BookChecks, at least one book. The book role compares a batch in one go. */
const BATCH_ORDERS = 2_000;

export type ShadowMessage =
  | FreshMessage
  | { readonly name: 'BookRepair'; readonly value: BookRepair }
  | { readonly name: 'BookCheck'; readonly value: BookCheck };

/** An account whose state differs from the chain, or differed at the slot of the read. */
export interface Difference {
  readonly account: string;
  /** Slot of the stored state; null when nothing was stored. */
  readonly storedSlot: number | null;
  readonly readSlot: number;
  /** Messages of the repair, by name and market. */
  readonly changes: readonly string[];
  /** Orders that the wrong account put into its books, and the orders of the right one. */
  readonly books: readonly BookEvidence[];
}

export interface ShadowReport {
  readonly slot: number;
  /** Markets with a result: all, or only repaired ones while suspects wait for a second read. */
  readonly markets: readonly MarketRef[];
  /** Keys of repaired markets, and the comparison that found the difference. */
  readonly repaired: ReadonlyMap<string, 'accounts' | 'book'>;
  readonly differences: readonly Difference[];
}

export interface ShadowStep {
  /** The differ's output for repaired accounts, written like any change. */
  readonly outputs: readonly Output[];
  /** Follow the outputs, only in topic `book`. */
  readonly messages: readonly ShadowMessage[];
  readonly report: ShadowReport | null;
  /** Some accounts differ. A second read must confirm them. */
  readonly readAgain: boolean;
  /** The read whose comparison has ended. */
  readonly read: AccountsRead | null;
}

export class ShadowCheck {
  readonly #differ: Differ;
  readonly #newDiffer: () => Differ;
  readonly #batchOrders: number;
  readonly #versions = new AccountVersions();
  readonly #reads: AccountsRead[] = [];
  #comparison: Comparison | null = null;
  /** Keys of markets in the current comparison that have no BookCheck yet. */
  #remaining: string[] = [];
  #slot = 0;
  #suspects = new Map<string, Suspect>();
  /** Where the next turn of keys begins; null: at the first account. */
  #turn: Generator<string> | null = null;
  /** Consecutive reads that found new suspects. */
  #rounds = 0;
  /** Accounts that the differ cannot read, with their bytes. Each is reported once. */
  readonly #refused = new Map<string, Uint8Array>();
  readonly #requests = new Map<string, number>();
  readonly #repairedAt = new Map<string, number>();
  /** Like `repairedAt`, for repairs that a book requested. */
  readonly #requestRepairedAt = new Map<string, number>();

  /** `differ` is the live one; `newDiffer` makes an empty one. `batchOrders`: see BATCH_ORDERS. */
  constructor(differ: Differ, newDiffer: () => Differ, batchOrders = BATCH_ORDERS) {
    this.#batchOrders = batchOrders;
    this.#differ = differ;
    this.#newDiffer = newDiffer;
    differ.watch({
      changed: (key, before, slot) => {
        if (before) this.#versions.replaced(key, before.data, before.since, slot);
        this.#comparison?.changed(key);
      },
      reread: () => this.#versions.clear(),
    });
  }

  /** Adds a read. Its comparison starts once the stream has passed it. */
  take(read: AccountsRead): void {
    this.#reads.push(read);
  }

  /** Keys of the accounts that a read must confirm, then of the next accounts in turn. */
  nextKeys(count: number): Uint8Array[] {
    const keys = Array.from(this.#suspects.values(), ({ update }) => update.pubkey);
    while (keys.length < count) {
      this.#turn ??= this.#differ.keys();
      const next = this.#turn.next();
      if (next.done) {
        this.#turn = null;
        break;
      }
      keys.push(keyBytes(next.value));
    }
    return keys;
  }

  /** True while a read waits for the stream or is being compared. */
  get isBusy(): boolean {
    return this.#reads.length > 0 || this.#comparison !== null;
  }

  /** Whether another read fits: waiting reads stay in memory. */
  get hasRoom(): boolean {
    return this.#reads.length < READS_MAX;
  }

  /** Whether a book waits for a repair, which needs a read. */
  get needsRead(): boolean {
    return this.#dueRequests().length > 0;
  }

  /** The book of a market differed in the comparison at this slot. */
  requestRepair(key: string, checkSlot: number): void {
    if (checkSlot > (this.#requests.get(key) ?? this.#repairedAt.get(key) ?? -1)) this.#requests.set(key, checkSlot);
  }

  /** The book of a market matched in the comparison at this slot. */
  confirmMatch(key: string, checkSlot: number): void {
    if (checkSlot > (this.#requests.get(key) ?? Number.POSITIVE_INFINITY)) this.#requests.delete(key);
  }

  /** Runs one slice of the current comparison. False when there is nothing to do. Throws when the comparison fails. */
  step(): boolean {
    if (!this.#comparison || this.#comparison.isDone) return false;
    try {
      this.#comparison.step();
    } catch (error) {
      // Half a comparison has no result.
      this.#comparison = null;
      throw error;
    }
    return true;
  }

  /** Call between updates, once all up to `slot` are applied. Returns the next messages, or null when nothing is due. */
  advance(slot: number): ShadowStep | null {
    this.#slot = slot;
    if (!this.#differ.isSettled) return null;
    this.#begin(slot);
    const comparison = this.#comparison;
    if (!comparison?.isDone) return null;
    const step = this.#remaining.length > 0 ? NOTHING : this.#conclude(comparison, slot);
    comparison.catchUp();
    const messages = this.#nextChecks(comparison, step.report?.repaired ?? new Map(), slot);
    if (this.#remaining.length === 0) this.#comparison = null;
    return { ...step, messages };
  }

  #begin(slot: number): void {
    const [read] = this.#reads;
    if (this.#comparison || !read || slot < read.newestSlot + SETTLE_SLOTS) return;
    this.#reads.shift();
    const parts = { differ: this.#differ, versions: this.#versions, refused: this.#refused };
    this.#comparison = new Comparison(read, this.#newDiffer(), parts);
  }

  /** Result of comparing the accounts. The BookChecks follow in batches. */
  #conclude(comparison: Comparison, slot: number): ShadowStep {
    const outputs: Output[] = [];
    const differences = this.#compare(comparison, outputs);
    const readAgain = this.#suspects.size > 0;
    const repaired = new Map<string, 'accounts' | 'book'>(this.#dueRequests().map((key) => [key, 'book']));
    for (const key of marketsOf(outputs)) repaired.set(key, 'accounts');
    for (const { books } of differences) for (const { market } of books) repaired.set(market, 'accounts');
    comparison.catchUp();
    const { books } = comparison.rebuild;
    for (const key of this.#requests.keys()) if (!books.has(key)) this.#requests.delete(key);
    this.#remaining = [...books.keys()].sort((a, b) => Number(repaired.has(b)) - Number(repaired.has(a)));
    // While suspects wait, only repaired markets have a certain result.
    const compared = [...books].filter(([key]) => !readAgain || repaired.has(key));
    const markets = compared.map(([, { ref }]) => ref);
    const hasNews = markets.length > 0 || repaired.size > 0 || differences.length > 0;
    const report = hasNews ? { slot, markets, repaired, differences } : null;
    return { outputs, messages: [], report, readAgain, read: comparison.read };
  }

  /** The next BookChecks: all repaired books, then others up to a bound of orders. */
  #nextChecks({ rebuild }: Comparison, repaired: ReadonlyMap<string, unknown>, slot: number): ShadowMessage[] {
    const messages: ShadowMessage[] = [];
    let left = this.#batchOrders;
    while (this.#remaining.length > 0 && left > 0) {
      const key = this.#remaining.shift() ?? '';
      const book = rebuild.books.get(key);
      if (!book) continue;
      const isRepaired = repaired.has(key);
      if (isRepaired) {
        if (this.#requests.delete(key)) this.#requestRepairedAt.set(key, slot);
        this.#repairedAt.set(key, slot);
        messages.push(...rebuild.messages(book, slot), { name: 'BookRepair', value: { ...book.ref, slot } });
      } else left -= book.digest.orders;
      messages.push({ name: 'BookCheck', value: checkOf(book, slot) });
    }
    return messages;
  }

  #dueRequests(): string[] {
    return [...this.#requests.keys()].filter((key) => {
      const last = this.#requestRepairedAt.get(key);
      return last === undefined || this.#slot >= last + REPAIR_INTERVAL_SLOTS;
    });
  }

  /**
   * Repairs accounts that differ for the second time; accounts that differ for the first time become suspects. One fault
   * should begin one epoch, so confirmed accounts wait for a few reads while each read finds new suspects.
   */
  #compare(comparison: Comparison, outputs: Output[]): Difference[] {
    const before = this.#suspects;
    this.#suspects = new Map();
    const confirmed: Suspect[] = [];
    for (const suspect of comparison.suspects()) {
      const key = keyText(suspect.update.pubkey);
      this.#suspects.set(key, suspect);
      const earlier = before.get(key);
      if (earlier && (suspect.isPast || earlier.stored === suspect.stored)) confirmed.push(suspect);
    }
    const hasNew = this.#suspects.size > confirmed.length;
    this.#rounds = hasNew ? this.#rounds + 1 : 0;
    if (hasNew && this.#rounds < ROUNDS_MAX) return [];
    this.#rounds = 0;
    return this.#repairAll(confirmed, outputs);
  }

  #repairAll(confirmed: readonly Suspect[], outputs: Output[]): Difference[] {
    const differences: Difference[] = [];
    for (const suspect of confirmed) {
      const { update, stored, storedSlot } = suspect;
      this.#suspects.delete(keyText(update.pubkey));
      // Many accounts at once are one fault, and the first of them are evidence enough.
      const isNamed = differences.length < EVIDENCE_MAX;
      const around = this.#differ.accounts(['state', 'market', 'oracle']);
      const books = isNamed ? evidenceOf(this.#newDiffer(), around, update, stored?.data ?? null) : [];
      // The stream has corrected this account, and its book was repaired recently: another epoch would gain nothing.
      if (suspect.isPast && books.every(({ market }) => this.#wasJustRepaired(market))) continue;
      const changes = suspect.isPast ? [] : this.#repair(suspect);
      outputs.push(...changes);
      const named = changes.flatMap(({ name, value }) =>
        name === 'DeadLetter' ? [] : ['marketType' in value ? `${name} ${marketKey(value)}` : name],
      );
      if (!isNamed || named.length + books.length === 0) continue;
      const account = bs58.encode(update.pubkey);
      differences.push({ account, storedSlot, readSlot: update.slot, changes: named.slice(0, EVIDENCE_MAX), books });
    }
    return differences;
  }

  #wasJustRepaired(key: string): boolean {
    const last = this.#repairedAt.get(key);
    return last !== undefined && this.#slot < last + REPAIR_INTERVAL_SLOTS;
  }

  #repair({ update }: Suspect): Output[] {
    const key = keyText(update.pubkey);
    const changes: Output[] = [];
    this.#differ.account(update, (output) => changes.push(output));
    // The stored states were wrong, so no read may be compared with them.
    this.#versions.forget(key);
    if (changes.every(({ name }) => name === 'DeadLetter')) this.#refused.set(key, update.data);
    return changes;
  }
}

const NOTHING: ShadowStep = { outputs: [], messages: [], report: null, readAgain: false, read: null };

function checkOf({ ref, digest, market, oracle }: FreshBook, slot: number): BookCheck {
  return {
    ...ref,
    slot,
    orders: digest.orders,
    digest: digest.text,
    market: market && encodeMessage('BookMarket', market),
    oracle: oracle && encodeMessage('BookOracle', oracle),
  };
}

function marketsOf(outputs: readonly Output[]): Set<string> {
  return new Set(outputs.flatMap((output) => (isBookChange(output) ? [marketKey(output.value)] : [])));
}
