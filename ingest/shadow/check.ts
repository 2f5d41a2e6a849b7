// The shadow check: reads all accounts apart from the stream, compares them with what the differ holds, and the books with
// what a differ that starts from nothing makes of the same accounts. A difference is put right and begins a new epoch.

import bs58 from 'bs58';
import { type BookCheck, type BookRepair, type MarketRef, marketKey } from '../../schemas/index.ts';
import { keyText, type Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountsRead, AccountUpdate } from '../source.ts';
import { type FreshBook, type FreshMessage, freshBooks } from './digest.ts';

/** The stream gets this long to bring what a read at a slot has seen. */
export const SETTLE_SLOTS = 8;
/** Reads that wait for the stream at once. */
const READS_MAX = 2;
/** Accounts named in the evidence of one difference. */
const EVIDENCE_MAX = 20;
/** Reads for which confirmed accounts wait while each read finds new suspects. */
export const ROUNDS_MAX = 4;
/** A market whose book differs again and again is put right at most this often: every repair costs all its readers. */
export const REPAIR_AGAIN_SLOTS = 150;

export type ShadowMessage =
  | FreshMessage
  | { readonly name: 'BookRepair'; readonly value: BookRepair }
  | { readonly name: 'BookCheck'; readonly value: BookCheck };

/** An account that is not what the chain says it is. */
export interface Difference {
  readonly account: string;
  /** Slot of what was held, null when nothing was. */
  readonly heldSlot: number | null;
  readonly readSlot: number;
  /** What was missing: messages that the account's change gave, by name and market. */
  readonly changes: readonly string[];
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

interface Suspect {
  readonly update: AccountUpdate;
  readonly heldSlot: number | null;
  readonly held: Uint8Array | null;
}

export class ShadowCheck {
  readonly #differ: Differ;
  readonly #newDiffer: () => Differ;
  readonly #reads: AccountsRead[] = [];
  #suspects = new Map<string, Suspect>();
  /** Reads in a row that found new suspects. */
  #rounds = 0;
  /** Accounts that the differ cannot read, with their bytes: told once. */
  readonly #refused = new Map<string, Uint8Array>();
  readonly #wishes = new Map<string, number>();
  readonly #repairedAt = new Map<string, number>();
  /** As `repairedAt`, of repairs that a book asked for. */
  readonly #wishedAt = new Map<string, number>();

  /** `differ` is the live one; `newDiffer` makes one that knows nothing. */
  constructor(differ: Differ, newDiffer: () => Differ) {
    this.#differ = differ;
    this.#newDiffer = newDiffer;
  }

  /** A read of all accounts, to be compared once the stream has passed it. */
  take(read: AccountsRead): void {
    this.#reads.push(read);
  }

  /** True while a read waits for the stream. */
  get isBusy(): boolean {
    return this.#reads.length > 0;
  }

  /** Whether another read may be taken: what waits is held in memory. */
  get hasRoom(): boolean {
    return this.#reads.length < READS_MAX;
  }

  /** The book of a market did not stand the comparison of this slot. */
  wish(key: string, checkSlot: number): void {
    if (checkSlot > (this.#wishes.get(key) ?? this.#repairedAt.get(key) ?? -1)) this.#wishes.set(key, checkSlot);
  }

  /** The book of a market stood the comparison of this slot. */
  stood(key: string, checkSlot: number): void {
    if (checkSlot > (this.#wishes.get(key) ?? Number.POSITIVE_INFINITY)) this.#wishes.delete(key);
  }

  /** To be called between updates of the stream, of which everything up to `slot` was taken; null when nothing is due. */
  turn(slot: number): ShadowTurn | null {
    if (!this.#differ.isSettled) return null;
    const [read] = this.#reads;
    const isDue = read !== undefined && slot >= newestSlot(read) + SETTLE_SLOTS;
    const wished = [...this.#wishes.keys()].filter((key) => this.#mayRepair(key, slot));
    if (!isDue && wished.length === 0) return null;
    const outputs: Output[] = [];
    const differences = isDue ? this.#compare(read, outputs) : [];
    if (isDue) this.#reads.shift();
    const readAgain = this.#suspects.size > 0;
    const repaired = new Map<string, 'accounts' | 'book'>(wished.map((key) => [key, 'book']));
    for (const key of marketsOf(outputs)) repaired.set(key, 'accounts');
    const books = freshBooks(this.#differ.accounts(), this.#newDiffer(), slot);
    const messages = [...books.entries()].flatMap(([key, book]) => this.#messages(key, book, slot, repaired.has(key)));
    // With suspects about, only what was put right is known to have been wrong; nothing is known to be right.
    const compared = [...books].filter(([key]) => isDue && (!readAgain || repaired.has(key)));
    const markets = compared.map(([, { market }]) => market);
    const hasNews = markets.length > 0 || repaired.size > 0 || differences.length > 0;
    return { outputs, messages, report: hasNews ? { slot, markets, repaired, differences } : null, readAgain };
  }

  #mayRepair(key: string, slot: number): boolean {
    const last = this.#wishedAt.get(key);
    return last === undefined || slot >= last + REPAIR_AGAIN_SLOTS;
  }

  #messages(key: string, book: FreshBook, slot: number, isRepaired: boolean): ShadowMessage[] {
    const { market, digest } = book;
    const { orders, text } = digest;
    const check: ShadowMessage = { name: 'BookCheck', value: { ...market, slot, orders, digest: text } };
    if (!isRepaired) return [check];
    if (this.#wishes.delete(key)) this.#wishedAt.set(key, slot);
    this.#repairedAt.set(key, slot);
    return [...book.messages, { name: 'BookRepair', value: { ...market, slot } }, check];
  }

  /**
   * Accounts that differ for the second time are put right; those that differ for the first time become suspects. One
   * fault shall begin one epoch: while new suspects turn up, those confirmed wait for them, for a few reads.
   */
  #compare(read: AccountsRead, outputs: Output[]): Difference[] {
    const before = this.#suspects;
    this.#suspects = new Map();
    const confirmed: Suspect[] = [];
    for (const suspect of this.#differing(read)) {
      const key = keyText(suspect.update.pubkey);
      this.#suspects.set(key, suspect);
      if (before.get(key)?.held === suspect.held && before.has(key)) confirmed.push(suspect);
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
      const { update, heldSlot } = suspect;
      this.#suspects.delete(keyText(update.pubkey));
      const changes = this.#putRight(suspect);
      outputs.push(...changes);
      const named = changes.flatMap(({ name, value }) =>
        name === 'DeadLetter' ? [] : ['marketIndex' in value ? `${name} ${marketKey(value)}` : name],
      );
      if (named.length > 0 && differences.length < EVIDENCE_MAX) {
        const account = bs58.encode(update.pubkey);
        differences.push({ account, heldSlot, readSlot: update.slot, changes: named.slice(0, EVIDENCE_MAX) });
      }
    }
    return differences;
  }

  #putRight({ update }: Suspect): Output[] {
    const changes: Output[] = [];
    this.#differ.account(update, (output) => changes.push(output));
    if (changes.every(({ name }) => name === 'DeadLetter')) this.#refused.set(keyText(update.pubkey), update.data);
    return changes;
  }

  /** Only accounts of which nothing newer than the read is held can be compared. */
  *#differing(read: AccountsRead): Generator<Suspect> {
    const seen = new Set<string>();
    for (const update of read.updates) {
      const key = keyText(update.pubkey);
      seen.add(key);
      const held = this.#differ.held(key);
      if (held && (held.slot > update.slot || Buffer.compare(held.data, update.data) === 0)) continue;
      const refused = this.#refused.get(key);
      if (refused && Buffer.compare(refused, update.data) === 0) continue;
      yield { update, heldSlot: held?.slot ?? null, held: held?.data ?? null };
    }
    for (const account of this.#differ.accounts()) {
      if (account.slot > read.slot || seen.has(keyText(account.pubkey))) continue;
      if (!this.#differ.mayClose(account.pubkey)) continue;
      const update: AccountUpdate = { ...account, slot: read.slot, writeVersion: null, data: new Uint8Array(0) };
      yield { update, heldSlot: account.slot, held: account.data };
    }
  }
}

function newestSlot({ slot, updates }: AccountsRead): number {
  return updates.reduce((newest, update) => Math.max(newest, update.slot), slot);
}

function marketsOf(outputs: readonly Output[]): Set<string> {
  return new Set(
    outputs.flatMap(({ name, value }) =>
      name === 'BookOrders' || name === 'BookMarket' || name === 'BookOracle' ? [marketKey(value)] : [],
    ),
  );
}
