// Compares the books of clients with the cluster's accounts at each slot. The cluster writes every account to a file after each
// slot. From that file books are rebuilt slot by slot, the naive way.

import { AccountLogReader, type LoggedSlot } from '../../../../localnet/index.ts';
import type { BookVersion } from '../../../../schemas/index.ts';
import { booksOf } from './book.ts';
import { NaiveChain } from './chain.ts';
import { type BookLines, differenceOf, type Shape } from './difference.ts';

export interface HeldState extends Shape, BookVersion {
  readonly slot: number;
  /** `<marketType>-<marketIndex>` */
  readonly marketKey: string;
  /** Client and stream. */
  readonly name: string;
  readonly lines: BookLines;
}

/** Why nothing was compared at a slot. */
export type Uncompared =
  /** The log has no book of it, so clients keep their earlier book. */
  | 'nothing published'
  /** Every client received of it together with a later one, or was away. */
  | 'no client stood there'
  /** Clients stood there, but none when it was over. */
  | 'no client had its last change';

export interface SlotComparison {
  /** Slots of which at least one book was compared. */
  slots: number;
  /** Slots in which a book with anything in it was compared, by market. */
  readonly books: Record<string, number>;
  /** Books of each stream of each client, empty ones too. */
  states: number;
  /** Slots since the first one of which anything was compared. */
  slotsPassed: number;
  /** Slots at which nothing was compared. */
  readonly uncompared: { readonly slot: number; readonly why: Uncompared; readonly isGatewayAway: boolean }[];
  readonly differences: string[];
}

export class SlotTruth {
  readonly comparison: SlotComparison = {
    slots: 0,
    books: {},
    states: 0,
    slotsPassed: 0,
    uncompared: [],
    differences: [],
  };
  readonly #chain = new NaiveChain();
  readonly #log: AccountLogReader;
  readonly #isLastOfSlot: (state: HeldState) => boolean;
  readonly #isPublished: (slot: number) => boolean;
  readonly #away: { readonly from: number; readonly to: number }[] = [];
  readonly #newest = new Map<string, HeldState>();
  readonly #held = new Map<number, HeldState[]>();
  #next: LoggedSlot | null = null;

  /**
   * `isLastOfSlot`: whether nothing of the slot came after a state; `isPublished`: whether there is any book of a slot. Both are
   * asked only of slots that are over.
   */
  constructor(accountLog: string, isLastOfSlot: (state: HeldState) => boolean, isPublished: (slot: number) => boolean) {
    this.#log = new AccountLogReader(accountLog);
    this.#isLastOfSlot = isLastOfSlot;
    this.#isPublished = isPublished;
  }

  /** Between these slots clients had no gateway. */
  gatewayAway(from: number, to: number): void {
    this.#away.push({ from, to });
  }

  /** Takes each message that a client applied. Compares its book when the slot moves on. */
  saw(state: HeldState): void {
    const before = this.#newest.get(state.name);
    this.#newest.set(state.name, state);
    if (!before || before.slot >= state.slot) return;
    const held = this.#held.get(before.slot) ?? [];
    this.#held.set(before.slot, held);
    held.push(before);
  }

  /** Compares the slots up to and with `slot` for at most `budgetMs`. Clients must be done with these slots. */
  advance(slot: number, budgetMs = Number.POSITIVE_INFINITY): void {
    const endMs = performance.now() + budgetMs;
    while (performance.now() < endMs) {
      this.#next ??= this.#log.next();
      if (!this.#next || this.#next.slot > slot) return;
      for (const account of this.#next.accounts) this.#chain.put(account);
      this.#compare(this.#next.slot);
      this.#next = null;
    }
  }

  close(): void {
    this.#log.close();
  }

  #compare(slot: number): void {
    const held = this.#held.get(slot) ?? [];
    const states = held.filter((state) => this.#isLastOfSlot(state));
    this.#held.delete(slot);
    const { comparison } = this;
    if (comparison.slots > 0 || states.length > 0) comparison.slotsPassed += 1;
    if (states.length === 0) {
      if (comparison.slots > 0) this.#passOver(slot, held.length > 0);
      return;
    }
    const books = new Map(booksOf(this.#chain, slot).map((book) => [`${book.marketType}-${book.marketIndex}`, book]));
    const compared = new Set<string>();
    for (const state of states) {
      const { name, marketKey, lines, epoch, seq } = state;
      const naive = books.get(marketKey);
      const difference = naive ? differenceOf(naive, lines, state) : 'a market that the chain does not have';
      if (difference) comparison.differences.push(`${name} at slot ${slot} (${epoch}/${seq}): ${difference}`);
      if (naive && naive.l2.bids.length + naive.l2.asks.length > 0) compared.add(marketKey);
    }
    comparison.slots += 1;
    comparison.states += states.length;
    for (const key of compared) comparison.books[key] = (comparison.books[key] ?? 0) + 1;
  }

  #passOver(slot: number, wasHeld: boolean): void {
    const unheld = this.#isPublished(slot) ? 'no client stood there' : 'nothing published';
    const why = wasHeld ? 'no client had its last change' : unheld;
    const isGatewayAway = this.#away.some(({ from, to }) => slot >= from && slot <= to);
    this.comparison.uncompared.push({ slot, why, isGatewayAway });
  }
}
