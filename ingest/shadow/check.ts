// The shadow check: reads all accounts apart from the stream, compares them with what was held at the slot of the read, and
// the books with what a differ that starts from nothing makes of that read. A difference is put right and begins a new epoch.

import bs58 from 'bs58';
import {
  type BookCheck,
  type BookEvidence,
  type BookRepair,
  EVIDENCE_MAX,
  encodeMessage,
  type MarketRef,
  marketKey,
} from '../../schemas/index.ts';
import { keyText, type Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountsRead } from '../source.ts';
import { Comparison, type Suspect } from './comparison.ts';
import { evidenceOf } from './evidence.ts';
import type { FreshBook, FreshMessage } from './rebuild.ts';
import { isTold } from './rebuild.ts';
import { AccountVersions } from './versions.ts';

/** The stream gets this long to bring what a read at a slot has seen. */
export const SETTLE_SLOTS = 8;
/** Reads that wait for the stream at once. */
const READS_MAX = 2;
/** Reads for which confirmed accounts wait while each read finds new suspects. */
export const ROUNDS_MAX = 4;
/** A market whose book differs again and again is put right at most this often: every repair costs all its readers. */
export const REPAIR_AGAIN_SLOTS = 150;
/** Orders of the books that one turn has compared, at least one book: the book role looks at them all in one go. */
const TURN_ORDERS = 2_000;

export type ShadowMessage =
  | FreshMessage
  | { readonly name: 'BookRepair'; readonly value: BookRepair }
  | { readonly name: 'BookCheck'; readonly value: BookCheck };

/** An account that is not what the chain says it is, or was not. */
export interface Difference {
  readonly account: string;
  /** Slot of what was held, null when nothing was. */
  readonly heldSlot: number | null;
  readonly readSlot: number;
  /** What was missing: messages that the account's change gave, by name and market. */
  readonly changes: readonly string[];
  /** What the account made of its books, and what it should have. */
  readonly books: readonly BookEvidence[];
}

export interface ShadowReport {
  readonly slot: number;
  /** Markets of which the comparison says something: all, or those put right while others wait for a second read. */
  readonly markets: readonly MarketRef[];
  /** Keys of markets that were put right, and why. */
  readonly repaired: ReadonlyMap<string, 'accounts' | 'book'>;
  readonly differences: readonly Difference[];
}

export interface ShadowTurn {
  /** What the differ says of accounts that were wrong: to be written like any change. */
  readonly outputs: readonly Output[];
  /** To be written after them, to topic `book` only. */
  readonly messages: readonly ShadowMessage[];
  readonly report: ShadowReport | null;
  /** Some accounts differ: they are wrong only if a second read says so too. */
  readonly readAgain: boolean;
}

export class ShadowCheck {
  readonly #differ: Differ;
  readonly #newDiffer: () => Differ;
  readonly #turnOrders: number;
  readonly #versions = new AccountVersions();
  readonly #reads: AccountsRead[] = [];
  #comparison: Comparison | null = null;
  /** Keys of markets whose books have still to be compared, from the comparison under way. */
  #untold: string[] = [];
  #slot = 0;
  #suspects = new Map<string, Suspect>();
  /** Reads in a row that found new suspects. */
  #rounds = 0;
  /** Accounts that the differ cannot read, with their bytes: told once. */
  readonly #refused = new Map<string, Uint8Array>();
  readonly #wishes = new Map<string, number>();
  readonly #repairedAt = new Map<string, number>();
  /** As `repairedAt`, of repairs that a book asked for. */
  readonly #wishedAt = new Map<string, number>();

  /** `differ` is the live one; `newDiffer` makes one that knows nothing. `turnOrders`: see TURN_ORDERS. */
  constructor(differ: Differ, newDiffer: () => Differ, turnOrders = TURN_ORDERS) {
    this.#turnOrders = turnOrders;
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

  /** A read of all accounts, to be compared once the stream has passed it. */
  take(read: AccountsRead): void {
    this.#reads.push(read);
  }

  /** True while a read waits for the stream or is being compared. */
  get isBusy(): boolean {
    return this.#reads.length > 0 || this.#comparison !== null;
  }

  /** Whether another read may be taken: what waits is held in memory. */
  get hasRoom(): boolean {
    return this.#reads.length < READS_MAX;
  }

  /** A book waits to be put right, which takes a read. */
  get wantsRead(): boolean {
    return this.#wished().length > 0;
  }

  /** The book of a market did not stand the comparison of this slot. */
  wish(key: string, checkSlot: number): void {
    if (checkSlot > (this.#wishes.get(key) ?? this.#repairedAt.get(key) ?? -1)) this.#wishes.set(key, checkSlot);
  }

  /** The book of a market stood the comparison of this slot. */
  stood(key: string, checkSlot: number): void {
    if (checkSlot > (this.#wishes.get(key) ?? Number.POSITIVE_INFINITY)) this.#wishes.delete(key);
  }

  /** One slice of the work under way, to be called beside the stream; false when there is nothing to do. Throws what failed. */
  step(): boolean {
    if (!this.#comparison || this.#comparison.isDone) return false;
    try {
      this.#comparison.step();
    } catch (error) {
      // Half a comparison says nothing.
      this.#comparison = null;
      throw error;
    }
    return true;
  }

  /** To be called between updates of the stream, of which everything up to `slot` was taken; null when nothing is due. */
  turn(slot: number): ShadowTurn | null {
    this.#slot = slot;
    if (!this.#differ.isSettled) return null;
    this.#begin(slot);
    const comparison = this.#comparison;
    if (!comparison?.isDone) return null;
    const turn = this.#untold.length > 0 ? NOTHING : this.#judge(comparison, slot);
    comparison.catchUp();
    const messages = this.#tell(comparison, turn.report?.repaired ?? new Map(), slot);
    if (this.#untold.length === 0) this.#comparison = null;
    return { ...turn, messages };
  }

  #begin(slot: number): void {
    const [read] = this.#reads;
    if (this.#comparison || !read || slot < newestSlot(read) + SETTLE_SLOTS) return;
    this.#reads.shift();
    const parts = { differ: this.#differ, versions: this.#versions, refused: this.#refused };
    this.#comparison = new Comparison(read, this.#newDiffer(), parts);
  }

  /** What the comparison of accounts comes to; the books are told after it, some at a time. */
  #judge(comparison: Comparison, slot: number): ShadowTurn {
    const outputs: Output[] = [];
    const differences = this.#compare(comparison, outputs);
    const readAgain = this.#suspects.size > 0;
    const repaired = new Map<string, 'accounts' | 'book'>(this.#wished().map((key) => [key, 'book']));
    for (const key of marketsOf(outputs)) repaired.set(key, 'accounts');
    for (const { books } of differences) for (const { market } of books) repaired.set(market, 'accounts');
    comparison.catchUp();
    const { books } = comparison.rebuild;
    for (const key of this.#wishes.keys()) if (!books.has(key)) this.#wishes.delete(key);
    this.#untold = [...books.keys()].sort((a, b) => Number(repaired.has(b)) - Number(repaired.has(a)));
    // With suspects about, only what was put right is known to have been wrong; nothing is known to be right.
    const compared = [...books].filter(([key]) => !readAgain || repaired.has(key));
    const markets = compared.map(([, { ref }]) => ref);
    const hasNews = markets.length > 0 || repaired.size > 0 || differences.length > 0;
    const report = hasNews ? { slot, markets, repaired, differences } : null;
    return { outputs, messages: [], report, readAgain };
  }

  /** Books that were put right all at once, others while their orders stay below a bound. */
  #tell({ rebuild }: Comparison, repaired: ReadonlyMap<string, unknown>, slot: number): ShadowMessage[] {
    const messages: ShadowMessage[] = [];
    let left = this.#turnOrders;
    while (this.#untold.length > 0 && left > 0) {
      const key = this.#untold.shift() ?? '';
      const book = rebuild.books.get(key);
      if (!book) continue;
      const isRepaired = repaired.has(key);
      if (isRepaired) {
        if (this.#wishes.delete(key)) this.#wishedAt.set(key, slot);
        this.#repairedAt.set(key, slot);
        messages.push(...rebuild.messages(book, slot), { name: 'BookRepair', value: { ...book.ref, slot } });
      } else left -= book.digest.orders;
      messages.push({ name: 'BookCheck', value: checkOf(book, slot) });
    }
    return messages;
  }

  #wished(): string[] {
    return [...this.#wishes.keys()].filter((key) => {
      const last = this.#wishedAt.get(key);
      return last === undefined || this.#slot >= last + REPAIR_AGAIN_SLOTS;
    });
  }

  /**
   * Accounts that differ for the second time are put right; those that differ for the first time become suspects. One
   * fault shall begin one epoch: while new suspects turn up, those confirmed wait for them, for a few reads.
   */
  #compare(comparison: Comparison, outputs: Output[]): Difference[] {
    const before = this.#suspects;
    this.#suspects = new Map();
    const confirmed: Suspect[] = [];
    for (const suspect of comparison.suspects()) {
      const key = keyText(suspect.update.pubkey);
      this.#suspects.set(key, suspect);
      const earlier = before.get(key);
      if (earlier && (suspect.isPast || earlier.held === suspect.held)) confirmed.push(suspect);
    }
    const hasNew = this.#suspects.size > confirmed.length;
    this.#rounds = hasNew ? this.#rounds + 1 : 0;
    if (hasNew && this.#rounds < ROUNDS_MAX) return [];
    this.#rounds = 0;
    return this.#putAllRight(confirmed, outputs);
  }

  #putAllRight(confirmed: readonly Suspect[], outputs: Output[]): Difference[] {
    const differences: Difference[] = [];
    for (const suspect of confirmed) {
      const { update, held, heldSlot } = suspect;
      this.#suspects.delete(keyText(update.pubkey));
      // Many accounts at once are one fault: the first of them are evidence enough.
      const isNamed = differences.length < EVIDENCE_MAX;
      const around = this.#differ.accounts(['state', 'market', 'oracle']);
      const books = isNamed ? evidenceOf(this.#newDiffer(), around, update, held) : [];
      // What is past and found again soon is told once: the book is right by now, and an epoch costs all its readers.
      if (suspect.isPast && books.every(({ market }) => this.#wasJustRepaired(market))) continue;
      const changes = suspect.isPast ? [] : this.#putRight(suspect);
      outputs.push(...changes);
      const named = changes.flatMap(({ name, value }) =>
        name === 'DeadLetter' ? [] : ['marketIndex' in value ? `${name} ${marketKey(value)}` : name],
      );
      if (!isNamed || named.length + books.length === 0) continue;
      const account = bs58.encode(update.pubkey);
      differences.push({ account, heldSlot, readSlot: update.slot, changes: named.slice(0, EVIDENCE_MAX), books });
    }
    return differences;
  }

  #wasJustRepaired(key: string): boolean {
    const last = this.#repairedAt.get(key);
    return last !== undefined && this.#slot < last + REPAIR_AGAIN_SLOTS;
  }

  #putRight({ update }: Suspect): Output[] {
    const key = keyText(update.pubkey);
    const changes: Output[] = [];
    this.#differ.account(update, (output) => changes.push(output));
    // What was held until now was wrong: no read is to be compared with it.
    this.#versions.forget(key);
    if (changes.every(({ name }) => name === 'DeadLetter')) this.#refused.set(key, update.data);
    return changes;
  }
}

const NOTHING: ShadowTurn = { outputs: [], messages: [], report: null, readAgain: false };

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

function newestSlot({ slot, updates }: AccountsRead): number {
  return updates.reduce((newest, update) => Math.max(newest, update.slot), slot);
}

function marketsOf(outputs: readonly Output[]): Set<string> {
  return new Set(outputs.flatMap((output) => (isTold(output) ? [marketKey(output.value)] : [])));
}
