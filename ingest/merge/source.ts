// Several live sources of one chain at once, behind the source port: merged, compared, and each one's faults named.

import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import { keyText, type LiveSource } from '../../schemas/index.ts';
import { UpdateQueue } from '../queue.ts';
import type {
  AccountsRead,
  AccountsWanted,
  AccountUpdate,
  BlockReader,
  FinalityReader,
  ResumePoint,
  Source,
  SourceUpdate,
  TransactionLogs,
} from '../source.ts';
import { Comparison, type Findings, type Question } from './comparison.ts';
import { Merge, type Merged } from './merge.ts';

/** Limit of merged updates that wait for the log: as of one source. */
const QUEUE_MAX = 100_000;
/** Pause before a source that ended runs again. */
const RESTART_PAUSE_MS = 1_000;
/** States of the arbiter that wait for a verdict; a question in a loop replaces its own. */
const ANSWERS_MAX = 64;
/** Remembered keys of changed accounts: as many as there are states to compare (observations.ts). */
const KEYS_MAX = 500_000;
const HASH = 'sha1';

export interface MergeMember {
  /** Host, and never a token. */
  readonly name: string;
  readonly kind: LiveSource['kind'];
  readonly source: Source;
}

/** An RPC node that decides between sources that differ. */
export interface Arbiter {
  /** State of an account (base58 key) at a slot or later; null when it is closed. Rejects when no node answers. */
  account(pubkey: Uint8Array, minSlot: number, signal: AbortSignal): Promise<AccountUpdate | null>;
  /** Hash (base58) of the block of a slot; null when no node has it. Rejects when no node answers. */
  blockhash(slot: number, signal: AbortSignal): Promise<string | null>;
}

export interface MergedSourceOptions {
  readonly members: readonly MergeMember[];
  readonly arbiter: Arbiter;
  /** Owners of the accounts that are compared. */
  readonly programs: readonly Uint8Array[];
  readonly logger: Logger;
}

export class MergedSource implements Source {
  readonly #options: MergedSourceOptions;
  readonly #first: Source;
  readonly #programs: ReadonlySet<string>;
  #merge: Merge;
  #comparison: Comparison;
  #runs: AbortController[] = [];
  #isReading: boolean[] = [];
  #readSlots: number[] = [];
  readonly #keys = new Map<string, Uint8Array>();
  readonly #answers = new Map<string, AccountUpdate>();
  #queue = new UpdateQueue(QUEUE_MAX);
  #signal: AbortSignal = AbortSignal.abort();

  constructor(options: MergedSourceOptions) {
    const [first] = options.members;
    if (!first) throw new RangeError('no source to merge');
    this.#options = options;
    this.#first = first.source;
    this.#programs = new Set(options.programs.map(keyText));
    this.#merge = new Merge(options.members.length);
    this.#comparison = new Comparison(options.members.length);
  }

  async *updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]> {
    const { members } = this.#options;
    const over = new AbortController();
    this.#signal = AbortSignal.any([signal, over.signal]);
    this.#queue = new UpdateQueue(QUEUE_MAX);
    this.#merge = new Merge(members.length);
    this.#comparison = new Comparison(members.length);
    const running = members.map((member, source) => this.#run(source, member, resume));
    this.#signal.addEventListener('abort', () => this.#queue.end(), { once: true });
    try {
      yield* this.#queue.batches();
    } finally {
      over.abort();
      await Promise.allSettled(running);
    }
  }

  transaction(signature: string): Promise<TransactionLogs | null> {
    return this.#first.transaction(signature);
  }

  blocks(signal: AbortSignal): BlockReader {
    if (!this.#first.blocks) throw new TypeError('the first source has no blocks');
    return this.#first.blocks(signal);
  }

  accounts(signal: AbortSignal, wanted?: AccountsWanted): Promise<AccountsRead> {
    if (!this.#first.accounts) throw new TypeError('the first source has no accounts');
    return this.#first.accounts(signal, wanted);
  }

  finality(signal: AbortSignal): FinalityReader {
    if (!this.#first.finality) throw new TypeError('the first source knows no finalized chain');
    return this.#first.finality(signal);
  }

  reports(): readonly LiveSource[] {
    const labels = this.#options.members.map((_, source) => this.#merge.labelOf(source));
    const newest = Math.max(...labels);
    return this.#options.members.map(({ name, kind }, source) => {
      const counts = this.#comparison.counts(source);
      const slot = Math.max(0, labels[source] ?? 0);
      const isLying = this.#comparison.isLying(source);
      const lagSlots = Math.max(0, newest - slot);
      return { name, kind, role: this.#merge.role(source), slot, lagSlots, ...counts, isLying };
    });
  }

  /** A source named the block of a slot. */
  block(source: number, slot: number, blockhash: string): void {
    this.#comparison.block(source, slot, blockhash);
  }

  /** Runs a source until the end, again after a restart or a failure. */
  async #run(source: number, { name, source: member }: MergeMember, resume: ResumePoint | null): Promise<void> {
    let from = resume;
    while (!this.#signal.aborted) {
      const run = new AbortController();
      this.#runs[source] = run;
      let reason = 'reads all accounts anew';
      try {
        for await (const batch of member.updates(from, AbortSignal.any([this.#signal, run.signal]))) {
          for (const update of batch) {
            if (update.kind === 'progress') from = update.resume;
            this.#take(source, update);
          }
          if (this.#queue.isFull) await this.#queue.drained();
        }
      } catch (error) {
        reason = String(error);
      }
      if (this.#signal.aborted) return;
      this.#options.logger.warn({ source: name, reason }, 'source runs again');
      this.#take(source, { kind: 'reconnect', reason });
      await delay(RESTART_PAUSE_MS, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  #take(source: number, update: SourceUpdate): void {
    this.#observe(source, update);
    const before = this.#merge.leader;
    this.#merged(this.#merge.take(source, update));
    // After the merge: a verdict may change the leader.
    if (update.kind === 'slot') this.#found(this.#comparison.completed(source, update.slot));
    if (this.#merge.leader !== before) this.#ledBy(this.#merge.leader);
  }

  #merged({ updates, restarts }: Merged): void {
    for (const update of updates) this.#queue.push(update);
    for (const source of restarts) this.#runs[source]?.abort();
  }

  #ledBy(leader: number | null): void {
    const name = leader === null ? null : this.#options.members[leader]?.name;
    this.#options.logger.info({ source: name, slot: this.#merge.label }, 'another source leads');
  }

  #observe(source: number, update: SourceUpdate): void {
    if (update.kind === 'account') this.#seen(source, update);
    else if (update.kind === 'transaction') this.#comparison.transaction(source, update.signature, update.slot);
    else if (update.kind === 'reconnect') this.#comparison.lost(source);
    else if (update.kind === 'continued') this.#comparison.covers(source, update.slot);
    else if (update.kind === 'snapshotBegin') {
      this.#isReading[source] = true;
      this.#readSlots[source] = update.slot;
    } else if (update.kind === 'snapshotEnd') {
      this.#isReading[source] = false;
      this.#comparison.covers(source, Math.max(update.slot, this.#readSlots[source] ?? 0));
    }
  }

  #seen(source: number, { pubkey, owner, slot, writeVersion, data }: AccountUpdate): void {
    if (this.#isReading[source]) this.#readSlots[source] = Math.max(this.#readSlots[source] ?? 0, slot);
    else if (this.#programs.has(keyText(owner))) {
      const key = keyText(pubkey);
      this.#remember(key, pubkey);
      this.#comparison.account(source, key, slot, writeVersion, hash(HASH, data, 'base64'));
    }
  }

  #remember(key: string, pubkey: Uint8Array): void {
    if (this.#keys.has(key)) return;
    if (this.#keys.size >= KEYS_MAX) this.#keys.clear();
    this.#keys.set(key, pubkey);
  }

  #found({ questions, lying, wrong }: Findings): void {
    for (const question of questions) void this.#ask(question);
    for (const key of wrong) this.#repair(key);
    for (const source of lying) {
      const { name } = this.#options.members[source] ?? {};
      this.#options.logger.error({ source: name, ...this.#comparison.counts(source) }, 'a source lies');
      this.#merged(this.#merge.exclude(source));
    }
  }

  /** The arbiter's state is that of a slot which every source has completed. */
  #repair(key: string): void {
    const state = this.#answers.get(key);
    this.#answers.delete(key);
    if (state) this.#queue.push(state);
  }

  async #ask(question: Question): Promise<void> {
    const answer = await this.#answer(question).catch((error: unknown) => {
      if (!this.#signal.aborted) this.#options.logger.warn({ err: error, question }, 'no arbiter for a contradiction');
      return null;
    });
    if (!this.#signal.aborted) this.#found(this.#comparison.answered(question, answer));
  }

  async #answer(question: Question) {
    if (question.kind === 'transaction') return (await this.#first.transaction(question.signature)) !== null;
    if (question.kind === 'block') return this.#options.arbiter.blockhash(question.slot, this.#signal);
    const { key, slot } = question;
    const pubkey = this.#keys.get(key);
    const state = pubkey ? await this.#options.arbiter.account(pubkey, slot, this.#signal) : null;
    if (state === null) return null;
    if (this.#answers.size >= ANSWERS_MAX) this.#answers.clear();
    this.#answers.set(key, state);
    return { key, slot: state.slot, hash: hash(HASH, state.data, 'base64') };
  }
}
