// Compares several sources at the same complete slots, and counts the omissions and contradictions of each. The arbiter decides
// who is right: until then nobody is. Pure.

import { OBSERVED_SLOTS, Observations } from './observations.ts';

/** Slots that must be complete at every source before a slot is compared: stragglers of two nodes and three streams. */
export const SETTLE_SLOTS = 8;
/** After a complete read transactions wait for older ones, at most 5 s: none of so many slots is compared. */
export const TRANSACTION_SETTLE_SLOTS = 64;
/**
 * Slots by which transactions are compared later than accounts, because audits find some. An audit lists a transaction that no
 * notification named 8 slots (transaction-audit.ts) and an interval of 5 s later. Here is time for two.
 */
export const AUDITED_SLOTS = 32;
/** A source so many slots behind the newest is not waited for. */
const BEHIND_SLOTS_MAX = 64;
/** A source with so many proven faults counts as lying. One may be a lost notification. */
export const FAULTS_MAX = 3;
/** Questions to the arbiter that wait at once, so that a lying source costs a bounded number of requests. */
const QUESTIONS_MAX = 16;

export type Question =
  | { readonly kind: 'account'; readonly key: string; readonly slot: number }
  | { readonly kind: 'transaction'; readonly signature: string; readonly slot: number }
  /** `named`: the blockhash that each source named; null: none. */
  | { readonly kind: 'block'; readonly slot: number; readonly named: readonly (string | null)[] };

/** An account as the arbiter read it. */
export interface AccountAnswer {
  readonly key: string;
  readonly slot: number;
  readonly hash: string;
}

export interface SourceCounts {
  missingAccounts: number;
  missingTransactions: number;
  contradictions: number;
  /** Faults that the arbiter proved. */
  faults: number;
  /** The newest proven fault in words; empty without one. */
  reason: string;
}

interface Side {
  readonly observations: Observations;
  readonly counts: SourceCounts;
  readonly blocks: Map<number, string>;
  label: number;
  /** Changes after this slot are all known; null while the source is not connected. */
  coversFrom: number | null;
}

/** Findings of one step's comparison. */
export interface Findings {
  readonly questions: readonly Question[];
  /** Sources that count as lying from this step on. */
  readonly lying: readonly number[];
  /** Accounts that the arbiter has and some source does not. */
  readonly wrong: readonly string[];
}

interface Pending {
  readonly answer: AccountAnswer;
  readonly asked: number;
}

export class Comparison {
  readonly #sides: readonly Side[];
  /** Sources that delivered each transaction, by slot. */
  readonly #transactions = new Map<number, Map<string, Set<number>>>();
  readonly #asked = new Map<string, Question>();
  #pending: Pending[] = [];
  #questions: Question[] = [];
  #lying: number[] = [];
  #wrong: string[] = [];
  /** Newest compared slot; -1 before the first. */
  #compared = -1;

  constructor(sources: number) {
    this.#sides = Array.from({ length: sources }, () => ({
      observations: new Observations(),
      counts: { missingAccounts: 0, missingTransactions: 0, contradictions: 0, faults: 0, reason: '' },
      blocks: new Map(),
      label: -1,
      coversFrom: null,
    }));
  }

  counts(source: number): SourceCounts {
    return { ...this.#side(source).counts };
  }

  isLying(source: number): boolean {
    return this.#side(source).counts.faults >= FAULTS_MAX;
  }

  #side(source: number): Side {
    const side = this.#sides[source];
    if (!side) throw new RangeError(`no source ${source}`);
    return side;
  }

  lost(source: number): void {
    const side = this.#side(source);
    side.coversFrom = null;
    side.observations.clear();
    side.blocks.clear();
  }

  covers(source: number, fromSlot: number): void {
    this.#side(source).coversFrom = fromSlot;
  }

  account(source: number, key: string, slot: number, version: bigint | null, hash: string): void {
    const side = this.#side(source);
    if (side.coversFrom !== null) side.observations.add(key, slot, version, hash);
  }

  transaction(source: number, signature: string, slot: number): void {
    const ofSlot = this.#transactions.get(slot) ?? new Map<string, Set<number>>();
    const sources = ofSlot.get(signature);
    // Its own audit may bring a transaction that a source lost. A transaction that nobody had in time is not compared.
    if (sources) sources.add(source);
    else if (slot > this.#compared) this.#transactions.set(slot, ofSlot.set(signature, new Set([source])));
  }

  block(source: number, slot: number, blockhash: string): void {
    if (slot > this.#compared) this.#side(source).blocks.set(slot, blockhash);
    this.#side(source).blocks.delete(slot - OBSERVED_SLOTS);
  }

  /** A source completed a slot: compares the settled slots. */
  completed(source: number, slot: number): Findings {
    const side = this.#side(source);
    side.label = Math.max(side.label, slot);
    const settled = this.#settled();
    // Nothing settles before the second source, so nothing is compared with nobody.
    for (let next = Math.max(this.#compared, settled - BEHIND_SLOTS_MAX) + 1; next <= settled; next++)
      this.#compare(next);
    if (settled > this.#compared) this.#forget(settled);
    this.#judgePending();
    return this.#findings();
  }

  /** The arbiter answered; null: it could not. The verdict follows when every source has reached its slot. */
  answered(question: Question, answer: AccountAnswer | string | boolean | null): Findings {
    this.#asked.delete(idOf(question));
    if (question.kind === 'transaction') {
      if (answer === true) this.#transactionExists(question);
    } else if (question.kind === 'block') {
      if (typeof answer === 'string') this.#judgeBlock(question.named, answer);
    } else if (answer !== null && typeof answer === 'object') {
      this.#pending.push({ answer, asked: question.slot });
      this.#judgePending();
    }
    return this.#findings();
  }

  #findings(): Findings {
    return { questions: this.#questions.splice(0), lying: this.#lying.splice(0), wrong: this.#wrong.splice(0) };
  }

  /** Sources whose changes since before the slot are known, each with its number. */
  #covering(slot: number): { readonly source: number; readonly side: Side }[] {
    return this.#sides.flatMap((side, source) =>
      side.coversFrom !== null && side.coversFrom < slot && side.label >= slot ? [{ source, side }] : [],
    );
  }

  #settled(): number {
    const newest = Math.max(...this.#sides.map(({ label }) => label));
    const live = this.#sides.filter(
      ({ coversFrom, label }) => coversFrom !== null && label >= newest - BEHIND_SLOTS_MAX,
    );
    return Math.min(newest, ...live.map(({ label }) => label)) - SETTLE_SLOTS;
  }

  #compare(slot: number): void {
    const covering = this.#covering(slot);
    if (covering.length >= 2) {
      this.#compareAccounts(slot, covering);
      this.#compareBlocks(slot, covering);
    }
    this.#compareTransactions(slot - AUDITED_SLOTS);
  }

  #compareAccounts(slot: number, covering: readonly { readonly source: number; readonly side: Side }[]): void {
    const keys = new Set(covering.flatMap(({ side }) => [...side.observations.changedIn(slot)]));
    for (const key of keys) {
      const states = covering.map(({ side }) => ({ side, state: side.observations.at(key, slot) }));
      const named = states.filter(({ state }) => state?.slot === slot);
      const silent = states.filter(({ state }) => state?.slot !== slot);
      const isChange = named.some(({ state }) => state?.isChange);
      if (isChange) for (const { side } of silent) side.counts.missingAccounts += 1;
      const differs = new Set(named.map(({ state }) => state?.hash)).size > 1;
      if (differs) for (const { side } of named) side.counts.contradictions += 1;
      if (differs || (isChange && silent.length > 0)) this.#ask({ kind: 'account', key, slot });
    }
  }

  #compareBlocks(slot: number, covering: readonly { readonly side: Side }[]): void {
    // A lying source that names other blocks would cost a request each slot.
    const known = covering.filter(({ side }) => side.blocks.has(slot) && side.counts.faults < FAULTS_MAX);
    if (new Set(known.map(({ side }) => side.blocks.get(slot))).size <= 1) return;
    for (const { side } of known) side.counts.contradictions += 1;
    const sides = known.map(({ side }) => side);
    const named = this.#sides.map((side) => (sides.includes(side) ? (side.blocks.get(slot) ?? null) : null));
    this.#ask({ kind: 'block', slot, named });
  }

  #compareTransactions(slot: number): void {
    const covering = this.#covering(slot - TRANSACTION_SETTLE_SLOTS);
    for (const [signature, sources] of this.#transactions.get(slot) ?? []) {
      const silent = covering.filter(({ source }) => !sources.has(source));
      for (const { side } of silent) side.counts.missingTransactions += 1;
      if (silent.length > 0) this.#ask({ kind: 'transaction', signature, slot });
    }
  }

  #ask(question: Question): void {
    if (this.#asked.size + this.#pending.length >= QUESTIONS_MAX || this.#asked.has(idOf(question))) return;
    this.#asked.set(idOf(question), question);
    this.#questions.push(question);
  }

  #forget(settled: number): void {
    this.#compared = settled;
    for (const { observations, blocks } of this.#sides) {
      observations.compared(settled);
      for (const slot of blocks.keys()) if (slot <= settled) blocks.delete(slot);
    }
    const kept = settled - OBSERVED_SLOTS;
    for (const slot of this.#transactions.keys()) if (slot <= kept) this.#transactions.delete(slot);
  }

  #judgePending(): void {
    const settled = this.#settled();
    const due = this.#pending.filter(({ answer }) => answer.slot <= settled);
    this.#pending = this.#pending.filter(({ answer }) => answer.slot > settled);
    for (const one of due) this.#judge(one);
  }

  /** A source is wrong only when another one agrees with the arbiter. */
  #judge({ answer: { key, slot, hash }, asked }: Pending): void {
    const states = this.#covering(asked).map((one) => ({ ...one, state: one.side.observations.at(key, slot) }));
    const right = states.filter(({ state }) => state?.hash === hash);
    if (right.length === 0) return;
    if (right.length < states.length) this.#wrong.push(key);
    for (const { source, side, state } of states) {
      if (state?.hash === hash) continue;
      const other = state && right.find((one) => one.state?.slot === state.slot)?.state;
      // An earlier state of the slot: the source left out later ones.
      if (other && !other.earlier.includes(state.hash)) this.#fault(source, 'other account data than the chain');
      else if (state || right.some((one) => one.side.observations.hasChange(key, side.coversFrom ?? slot, slot)))
        this.#fault(source, 'left out account updates');
    }
  }

  #transactionExists({ signature, slot }: Question & { kind: 'transaction' }): void {
    const sources = this.#transactions.get(slot)?.get(signature);
    for (const { source } of this.#covering(slot - TRANSACTION_SETTLE_SLOTS)) {
      if (sources && !sources.has(source)) this.#fault(source, 'left out transactions');
    }
  }

  /** A source is wrong only when another one agrees with the arbiter. */
  #judgeBlock(named: readonly (string | null)[], blockhash: string): void {
    if (!named.includes(blockhash)) return;
    for (const [source, one] of named.entries()) {
      if (one !== null && one !== blockhash) this.#fault(source, 'other blocks than the chain');
    }
  }

  #fault(source: number, reason: string): void {
    const { counts } = this.#side(source);
    counts.faults += 1;
    counts.reason = reason;
    if (counts.faults === FAULTS_MAX) this.#lying.push(source);
  }
}

function idOf(question: Question): string {
  if (question.kind === 'block') return `block ${question.slot}`;
  return question.kind === 'account' ? question.key : question.signature;
}
