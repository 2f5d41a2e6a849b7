// Finds every transaction of the programs. It lists their signatures back to the resume point and has the transactions fetched
// that did not arrive live. The resume point moves only past delivered or recorded ones.

import { RESUME_MARGIN_SLOTS, type ResumePoint, type SlotRange, type TransactionLogs } from '../source.ts';
import type { HistoryCommitment } from './commitment.ts';
import type { Endpoint } from './endpoint.ts';
import { BEHIND, RpcError } from './errors.ts';
import type { JsonRpc, ListedSignature } from './json-rpc.ts';
import { TransactionFetch } from './transaction-fetch.ts';

const PAGE = 1000;
/** Sweeps that ask for a transaction before it becomes a recorded hole: a minute of audits. */
export const MISSING_SWEEPS_MAX = 12;
/** Sweeps with an unproven end before the missing part becomes a recorded hole. */
const UNPROVEN_SWEEPS_MAX = 12;
/** Sweeps in a row that reject before the slots since the resume point are an open gap: a minute of audits. */
export const FAILED_SWEEPS_MAX = 12;
/** Refusals as behind before a list is taken from a node that may be behind. */
const BEHIND_SWEEPS_MAX = 3;
/** Sweeps that list the same newest signature before an older list counts as quiet instead of out of date. */
const QUIET_SWEEPS = 3;
/** Empty answers in a row behind the same signature before it counts as the oldest of a history that nothing else bounds. */
const END_ANSWERS = 12;
/** Bounds one list against a node that repeats its pages. */
const PAGES_MAX = 100_000;

export interface HistoryOptions {
  readonly programs: readonly string[];
  readonly commitment: HistoryCommitment;
  /** Limit of signatures per program when there is no resume point. 0: the history begins after the newest one. */
  readonly firstSignaturesMax: number;
  /** Name of the chain in resume points. */
  readonly chain: string;
}

/** Transactions that no node returned. They are recorded, and no later sweep asks for them. */
export interface TransactionHole {
  readonly fromSlot: number;
  readonly toSlot: number;
  readonly reason: string;
}

export interface Sweep {
  /** Number of fetched transactions. */
  readonly found: number;
  /** Listed signatures that a later sweep asks for again. The resume point waits before the oldest. */
  readonly missing: number;
  readonly holes: readonly TransactionHole[];
  /** Every list reached a known signature or slot. */
  readonly isProven: boolean;
  /** The history is longer than `firstSignaturesMax`: transactions up to this slot are not fetched. Null when it is not. */
  readonly cutSlot: number | null;
}

export interface SweepOptions {
  /** The newest slots, whose notifications may be on their way. */
  readonly lagSlots: number;
  /** Resume point of a chain without transactions. */
  readonly emptySlot: number | null;
  /** Nodes whose lists count; absent: all. */
  readonly mayList?: (endpoint: Endpoint) => boolean;
}

/** `done` of `total` listed transactions of a sweep are delivered. */
export type SweepProgress = (done: number, total: number) => void;

/** The oldest listed signature of a program; null: no list had any. */
interface Begin {
  readonly signature: string | null;
  /** Empty answers behind it. */
  answers: number;
}

interface ListOptions {
  readonly signal: AbortSignal;
  readonly mayAsk: (endpoint: Endpoint) => boolean;
}

interface List {
  /** Oldest first. */
  readonly entries: readonly ListedSignature[];
  /** Signatures of successful transactions not yet delivered when the page arrived. */
  readonly unseen: readonly ListedSignature[];
  /** Newest slot that data had named when the list was asked for: the list says nothing about later slots. */
  readonly askedSlot: number;
  readonly isProven: boolean;
}

export class History {
  readonly #rpc: Pick<JsonRpc, 'signatures'>;
  readonly #fetch: TransactionFetch;
  readonly #options: HistoryOptions;
  /** Slots of delivered signatures. Signatures below the floor are never listed again and leave this map. */
  readonly #seen = new Map<string, number>();
  /** Newest slot of a live transaction, per program: a list that ends before it is out of date. */
  readonly #live = new Map<string, number>();
  /** Newest listed slot per program, and the number of sweeps that listed it. */
  readonly #ends = new Map<string, { readonly slot: number; readonly sweeps: number }>();
  /** Sweeps that missed a listed signature. */
  readonly #missed = new Map<string, number>();
  /** Programs that a list or a notification named: an empty list of them is wrong. */
  readonly #active = new Set<string>();
  /** Where the history of each program begins that no resume point bounds. */
  readonly #begins = new Map<string, Begin>();
  /** Slots up to which the history of a program is longer than the limit, and not read. */
  readonly #cuts = new Map<string, number>();
  /** Newest listed slot of any program. */
  #newestListed = -1;
  /** Given up since the last sweep that resolved. One that rejects keeps its own here, as no later sweep asks for them. */
  #givenUp: TransactionHole[] = [];
  #unproven = 0;
  #behind = 0;
  #failed = 0;
  /** Oldest slot of a live transaction. */
  #firstLiveSlot = Number.POSITIVE_INFINITY;
  #resume: ResumePoint | null;
  /** All transactions below this slot are delivered or recorded, by this process or an earlier one. */
  #floor: number;

  constructor(rpc: Pick<JsonRpc, 'signatures' | 'transactions'>, options: HistoryOptions, resume: ResumePoint | null) {
    this.#rpc = rpc;
    this.#fetch = new TransactionFetch(rpc, options.commitment);
    this.#options = options;
    this.#resume = resume;
    this.#floor = resume === null ? -1 : Math.max(0, resume.slot - RESUME_MARGIN_SLOTS);
  }

  /** Null until the first complete sweep, or until sweeps have failed for long. */
  get resume(): ResumePoint | null {
    return this.#resume;
  }

  /** Newest slot of a live transaction; -1 before the first. */
  get liveSlot(): number {
    return Math.max(-1, ...this.#live.values());
  }

  /** Notes a live notification of a program, also of a transaction that is known already. */
  notified(program: string, slot: number): void {
    this.#active.add(program);
    this.#firstLiveSlot = Math.min(this.#firstLiveSlot, slot);
    if (slot > (this.#live.get(program) ?? -1)) this.#live.set(program, slot);
  }

  /** Marks a transaction as delivered. False when it already was, or when its slot is below the floor. */
  take(signature: string, slot: number): boolean {
    if (slot < this.#floor || this.#seen.has(signature)) return false;
    this.#seen.set(signature, slot);
    this.#missed.delete(signature);
    this.#fetch.had(signature);
    return true;
  }

  /**
   * Delivers every successful transaction that did not arrive live, oldest first, except those of the newest `lagSlots`
   * slots. Then moves the resume point, at most to the newest slot that lists or notifications named. Rejects when the nodes
   * fail; transactions delivered until then count.
   */
  async sweep(
    { lagSlots, emptySlot, mayList = () => true }: SweepOptions,
    hand: (transaction: TransactionLogs) => Promise<void>,
    signal: AbortSignal,
    progress: SweepProgress = () => {},
  ): Promise<Sweep> {
    const lists = await this.#lists({ signal, mayAsk: mayList });
    const newest = Math.max(this.liveSlot, ...lists.map(({ entries }) => entries.at(-1)?.slot ?? -1));
    const toSlot = newest - lagSlots;
    const unseen = this.#unseen(lists, toSlot);
    let found = 0;
    let done = 0;
    let oldestMissing = Number.POSITIVE_INFINITY;
    let missing = 0;
    for await (const [entry, outcome] of this.#fetch.all(unseen, signal)) {
      progress(++done, unseen.length);
      if (outcome.found !== null) {
        if (!this.take(entry.signature, entry.slot)) continue;
        found += 1;
        await hand(outcome.found);
      } else if (outcome.miss === 'lacking' && this.#isGivenUp(entry)) {
        const reason = `${entry.signature}: ${outcome.reason}`;
        this.#givenUp.push({ fromSlot: entry.slot, toSlot: entry.slot, reason });
      } else {
        missing += 1;
        oldestMissing = Math.min(oldestMissing, entry.slot);
      }
    }
    const isProven = lists.every((list) => list.isProven);
    const cutSlot = this.#resume === null && this.#cuts.size > 0 ? Math.max(...this.#cuts.values()) : null;
    const holes = this.#givenUp;
    this.#givenUp = [];
    const hole = this.#unprovenHole(lists, isProven, toSlot);
    if (hole !== null) holes.push(hole);
    if (isProven || hole !== null) {
      const covered = this.#options.programs.map((program, index) => this.#covered(program, lists[index], toSlot));
      this.#advance(lists, Math.min(toSlot, oldestMissing - 1, ...covered), emptySlot);
    }
    this.#failed = 0;
    return { found, missing, holes, isProven, cutSlot };
  }

  /**
   * Notes a sweep that did not come to its end. After many in a row returns the slots that nothing checks, up to the newest live
   * one. A first start then reads nothing back any more: its resume point stands before its first live transaction.
   */
  failed(): SlotRange | null {
    this.#failed += 1;
    if (this.#failed < FAILED_SWEEPS_MAX || this.liveSlot < 0) return null;
    this.#resume ??= this.#beginLive();
    return this.liveSlot > this.#resume.slot ? { fromSlot: this.#resume.slot, toSlot: this.liveSlot } : null;
  }

  #beginLive(): ResumePoint {
    const slot = Math.max(0, this.#firstLiveSlot - 1);
    this.#floor = Math.max(this.#floor, slot - RESUME_MARGIN_SLOTS);
    this.#cuts.clear();
    return { slot, signatures: {}, chain: this.#options.chain };
  }

  async #lists(options: ListOptions): Promise<readonly List[]> {
    const lists: List[] = [];
    try {
      for (const program of this.#options.programs) lists.push(await this.#list(program, options));
      this.#behind = 0;
    } catch (error) {
      if (error instanceof RpcError && error.code === BEHIND) this.#behind += 1;
      throw error;
    }
    return lists;
  }

  /**
   * Signatures of a program since the floor. The end is proven by a slot below the floor or by the signature of the resume
   * point; a short or empty page proves nothing. Without such a signature the list ends where the node's history ends, which
   * only many empty answers prove.
   */
  async #list(program: string, options: ListOptions): Promise<List> {
    const { commitment, firstSignaturesMax } = this.#options;
    const known = this.#resume?.signatures[program];
    const askedSlot = Math.max(this.liveSlot, this.#newestListed);
    // A node that is behind lists less. The bound comes from data, so a node that fails it for long is not at fault.
    const minSlot = this.#behind < BEHIND_SWEEPS_MAX ? Math.max(this.#resume?.slot ?? 0, askedSlot) : 0;
    const entries: ListedSignature[] = [];
    const unseen: ListedSignature[] = [];
    const list = (isProven: boolean): List => {
      return { entries: entries.reverse(), unseen: unseen.reverse(), askedSlot, isProven };
    };
    const cutSlot = this.#cuts.get(program) ?? -1;
    let isKnown = false;
    let before: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      options.signal.throwIfAborted();
      const page = await this.#rpc.signatures(program, { limit: PAGE, before }, { ...options, commitment, minSlot });
      if (page.length > 0) this.#active.add(program);
      this.#newestListed = Math.max(this.#newestListed, page[0]?.slot ?? -1);
      for (const entry of page) {
        if (entry.slot < Math.max(this.#floor, cutSlot)) return list(true);
        isKnown ||= entry.signature === known;
        entries.push(entry);
        if (!entry.failed && entry.slot > cutSlot && !this.#seen.has(entry.signature)) unseen.push(entry);
      }
      const last = page.at(-1)?.signature ?? null;
      if (last === null && known === undefined && this.#isAskedAgain(program, entries)) continue;
      if (last === null || last === before) break;
      if (this.#resume === null && cutSlot < 0 && entries.length >= firstSignaturesMax) {
        const read = new Set(entries.slice(0, firstSignaturesMax));
        // The resume point needs a signature also where none is read.
        entries.length = Math.max(1, firstSignaturesMax);
        this.#cuts.set(program, entries.at(-1)?.slot ?? -1);
        return { ...list(true), unseen: unseen.filter((entry) => read.has(entry)) };
      }
      before = last;
    }
    const isEnd = known === undefined ? this.#isBegin(program, entries) : isKnown;
    return list(isEnd && !(entries.length === 0 && this.#active.has(program)));
  }

  /** Notes an empty page behind these signatures, newest first. True while it needs another one to be believed. */
  #isAskedAgain(program: string, entries: readonly ListedSignature[]): boolean {
    const oldest = entries.at(-1)?.signature ?? null;
    const known = this.#begins.get(program);
    const reaches = (signature: string | null) =>
      signature === null || entries.some((one) => one.signature === signature);
    if (known?.signature === oldest) known.answers += 1;
    else if (known === undefined || reaches(known.signature))
      this.#begins.set(program, { signature: oldest, answers: 1 });
    else return false;
    return !this.#isBegin(program, entries);
  }

  /** Whether a list has the whole history of a program. */
  #isBegin(program: string, entries: readonly ListedSignature[]): boolean {
    const known = this.#begins.get(program);
    return known?.signature === (entries.at(-1)?.signature ?? null) && known.answers >= END_ANSWERS;
  }

  /** Signatures that are not delivered yet, by slot; inside a slot in the order of the lists. */
  #unseen(lists: readonly List[], toSlot: number): ListedSignature[] {
    const unique = new Map<string, ListedSignature>();
    for (const entry of lists.flatMap(({ unseen }) => unseen)) {
      if (entry.slot <= toSlot && !this.#seen.has(entry.signature)) unique.set(entry.signature, entry);
    }
    return [...unique.values()].sort((a, b) => a.slot - b.slot);
  }

  /** Whether this transaction was missed too often. It then counts as seen. */
  #isGivenUp({ signature, slot }: ListedSignature): boolean {
    const times = (this.#missed.get(signature) ?? 0) + 1;
    if (times < MISSING_SWEEPS_MAX) {
      this.#missed.set(signature, times);
      return false;
    }
    this.#missed.delete(signature);
    this.#seen.set(signature, slot);
    return true;
  }

  /** After many sweeps without a proven end, the part between the resume point and the oldest listed slot is a hole. */
  #unprovenHole(lists: readonly List[], isProven: boolean, toSlot: number): TransactionHole | null {
    this.#unproven = isProven ? 0 : this.#unproven + 1;
    if (this.#unproven < UNPROVEN_SWEEPS_MAX) return null;
    this.#unproven = 0;
    // No node has the oldest signatures any more.
    this.#begins.clear();
    if (this.#resume === null) return null;
    const fromSlot = this.#resume.slot;
    const ends = lists.filter((list) => !list.isProven).map(({ entries }) => entries[0]?.slot ?? toSlot);
    return { fromSlot, toSlot: Math.max(fromSlot, ...ends), reason: 'the node lists no signatures of these slots' };
  }

  /**
   * Slot up to which a list is complete: at most its newest one, or the newest one known when it was asked for. A list that
   * ends before a live transaction is out of date. One that ends long before the others may come from a node that is behind,
   * until several sweeps list the same end.
   */
  #covered(program: string, list: List | undefined, toSlot: number): number {
    const listed = list?.entries.at(-1)?.slot ?? -1;
    const newest = Math.max(listed, this.#resume?.slot ?? -1);
    const before = this.#ends.get(program);
    const sweeps = before?.slot === listed ? before.sweeps + 1 : 1;
    this.#ends.set(program, { slot: listed, sweeps });
    const live = this.#live.get(program) ?? -1;
    // A list ends at the floor: it does not name a live transaction below it.
    if (live > listed && live >= this.#floor) return newest;
    const isCurrent = sweeps >= QUIET_SWEEPS || listed >= toSlot - RESUME_MARGIN_SLOTS / 2;
    return isCurrent ? Math.min(toSlot, Math.max(newest, list?.askedSlot ?? -1)) : newest;
  }

  #advance(lists: readonly List[], slot: number, emptySlot: number | null): void {
    const { programs, chain } = this.#options;
    const isEmpty = lists.every(({ entries }) => entries.length === 0);
    if (this.#resume === null && slot < 0 && isEmpty && this.liveSlot < 0) {
      if (emptySlot !== null) this.#resume = { slot: emptySlot, signatures: {}, chain };
      return;
    }
    if (slot < 0 || (this.#resume !== null && slot <= this.#resume.slot)) return;
    const signatures: Record<string, string> = { ...this.#resume?.signatures };
    for (const [index, program] of programs.entries()) {
      const newest = lists[index]?.entries.findLast((entry) => entry.slot <= slot);
      if (newest) signatures[program] = newest.signature;
    }
    this.#resume = { slot, signatures, chain };
    this.#floor = Math.max(this.#floor, slot - RESUME_MARGIN_SLOTS);
    for (const [signature, seenSlot] of this.#seen) if (seenSlot < this.#floor) this.#seen.delete(signature);
  }
}
