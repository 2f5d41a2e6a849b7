// One connection to a node: subscribes, reads all accounts, fetches missed transactions, and runs live until it ends.
// Accounts and transactions do not wait for each other: a fault of one leaves the other running.

import type { Logger } from '../../platform/index.ts';
import type { UpdateQueue } from '../queue.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import { type AccountFilter, MARKET_KINDS, ORACLE_KINDS } from './account-filters.ts';
import type { AccountReader, WholeRead } from './account-reader.ts';
import type { BlockClock } from './block-clock.ts';
import type { HistoryCommitment, NodeCommitment } from './commitment.ts';
import type { FinalityClock } from './finality-clock.ts';
import { pauseUnlessOver, readSince, readUntilBelieved, SILENCE_SETTLE_MS, waitFor } from './full-reading.ts';
import type { History } from './history.ts';
import { type Delivered, Intake } from './intake.ts';
import type { JsonRpc } from './json-rpc.ts';
import { type AnnouncedSlot, type KeyCache, logsUpdate, programAccountUpdate, slotUpdate } from './notifications.ts';
import { OtherOracles } from './other-oracles.ts';
import { PubSub, type PubSubHandlers } from './pubsub.ts';
import { SilenceWatch } from './silence.ts';
import { TransactionAudit } from './transaction-audit.ts';
import type { Transport } from './transport.ts';

/** Without account data for this long, the node is asked for its slot: longer than a slot with a block. */
const QUIET_MS = 500;
/** The first account data is awaited so long: two slots. A chain that stands still sends none. */
const FIRST_DATA_PATIENCE_MS = 1_000;
/** Transactions may be so many slots ahead of account data before the account subscriptions count as silent. */
const ACCOUNTS_BEHIND_SLOTS_MAX = 150;

export interface SessionParts {
  readonly transport: Transport;
  readonly wsUrl: string;
  readonly accountFilters: readonly AccountFilter[];
  readonly programs: readonly string[];
  readonly accountCommitment: NodeCommitment;
  readonly historyCommitment: HistoryCommitment;
  readonly rpc: JsonRpc;
  readonly reader: AccountReader;
  readonly history: History;
  readonly queue: UpdateQueue;
  readonly keys: KeyCache;
  readonly logger: Logger;
  /** Receives each slot and requests block times. */
  readonly clock: BlockClock | null;
  /** Receives the block times of a stream that has them itself. */
  readonly finality: FinalityClock;
  /** After this long without a slot, the session checks whether the chain or the subscription stopped. */
  readonly silenceMs: number;
  /** Interval of audits: they check all signatures and read oracles of other programs. */
  readonly auditMs: number;
  /** Oracle accounts that the markets name. Accounts of other programs get subscriptions of their own. */
  readonly oraclesOf: (markets: readonly AccountUpdate[]) => readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** A connection that delivers live updates. */
export interface LiveSession {
  readonly delivered: Delivered;
  /** Whether the session became live: the next attempt then starts without delay. */
  readonly wasLive: boolean;
  /** Runs until the connection is lost, silent, or stopped; resolves with the reason. Rejects when the start fails. */
  run(): Promise<string>;
}

/** Opens the sessions of one run of a source, one after the other. */
export type OpenSession = (parts: SessionParts, before: Delivered) => LiveSession;

export class Session implements LiveSession {
  readonly #parts: SessionParts;
  readonly #ended: Promise<string>;
  #end: (reason: string) => void = () => {};
  readonly #over = new AbortController();
  #pubsub: PubSub | null = null;
  /** Null until all accounts are read, because the markets name the oracles. */
  #otherOracles: OtherOracles | null = null;
  readonly #intake: Intake;
  #quiet: NodeJS.Timeout | null = null;
  readonly #silence: SilenceWatch;
  #accountsAtMs = performance.now();
  #live = false;
  #isSubscribed = false;
  /** Slot of the first account data since all subscriptions began; -1 before. */
  #firstDataSlot = -1;
  /** Lowest announced slot since then; -1 before. */
  #firstAnnouncedSlot = -1;
  /** Slot of a read of all accounts that ended before any news: changes after it may be missing. Null once none can be. */
  #unboundedReadSlot: number | null = null;

  constructor(parts: SessionParts, before: Delivered) {
    this.#parts = parts;
    const { queue, history, clock } = parts;
    const labelled = (slot: number) => clock?.slot(slot);
    this.#intake = new Intake({ queue, history, labelled, end: (reason) => this.#end(reason) }, before);
    this.#silence = new SilenceWatch(this.#over.signal, parts.silenceMs, () => this.#onSilence());
    this.#ended = new Promise((resolve) => {
      this.#end = (reason) => {
        this.#over.abort();
        this.#pubsub?.close();
        resolve(reason);
      };
    });
  }

  get delivered(): Delivered {
    const { dataSlot, labelledSlot } = this.#intake.labels;
    return { dataSlot, labelledSlot };
  }

  /** Whether the session became live: the next attempt then starts without delay. */
  get wasLive(): boolean {
    return this.#live;
  }

  /** Runs until the connection is lost, silent, or stopped; resolves with the reason. Rejects when the start fails. */
  async run(): Promise<string> {
    const { queue, signal } = this.#parts;
    const stop = () => this.#end('stopped');
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const handlers: PubSubHandlers = {
        garbage: (reason, detail, bytes) =>
          queue.push({ kind: 'garbage', reason, detail, origin: 'pubsub', bytes: Uint8Array.from(bytes) }),
        closed: (closedReason) => this.#end(closedReason),
      };
      this.#pubsub = await PubSub.open(this.#parts.wsUrl, handlers, this.#parts.transport);
      const otherOracles = new OtherOracles(this.#parts, this.#pubsub, {
        notified: (update) => this.#account(update, -1),
        read: (update) => this.#intake.read(update),
      });
      await this.#subscribe(this.#pubsub);
      this.#silence.news();
      const reading = this.#readAccounts(otherOracles);
      const auditing = this.#transactions(otherOracles);
      const reason = await this.#ended;
      await Promise.allSettled([reading, auditing]);
      return reason;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#end('over');
      if (this.#quiet) clearTimeout(this.#quiet);
      this.#silence.stop();
    }
  }

  async #subscribe(pubsub: PubSub): Promise<void> {
    const { accountFilters, programs, accountCommitment, historyCommitment, keys } = this.#parts;
    const accounts = accountFilters.map(({ program, liveFilters }, kind) =>
      pubsub.subscribe(
        'programSubscribe',
        [program, { commitment: accountCommitment, encoding: 'base64', filters: liveFilters }],
        (result) => this.#account(programAccountUpdate(result, keys), kind),
      ),
    );
    const logs = programs.map((program) =>
      pubsub.subscribe('logsSubscribe', [{ mentions: [program] }, { commitment: historyCommitment }], (result) => {
        const transaction = logsUpdate(result);
        if (transaction !== null) this.#transaction(transaction, program);
      }),
    );
    const slots = pubsub.subscribe('slotSubscribe', [], (result) => this.#slot(slotUpdate(result)));
    await Promise.all([...accounts, ...logs, slots]);
    this.#isSubscribed = true;
  }

  #account(update: AccountUpdate, kind: number): void {
    this.#overflow();
    this.#accountsAtMs = performance.now();
    if (this.#isSubscribed && this.#firstDataSlot < 0) this.#firstDataSlot = update.slot;
    if (this.#isReadTooOld(update.slot - 1)) return;
    this.#unboundedReadSlot = null;
    if (MARKET_KINDS.has(this.#parts.accountFilters[kind]?.name ?? '')) this.#otherOracles?.market(update);
    this.#intake.account(update, kind);
    if (this.#intake.mayLabel) this.#watchQuiet();
  }

  #transaction(transaction: TransactionLogs, program: string): void {
    const { history, queue } = this.#parts;
    history.notified(program, transaction.slot);
    if (transaction.failed) return;
    this.#overflow();
    // Before the first read is complete a slow log ends nothing: the next sweep fetches the transaction.
    if (!this.#live && queue.isFull) return;
    this.#intake.transaction(transaction);
  }

  /** Ends the session when the reader cannot keep up, so that memory stays bounded. The next session reads everything. */
  #overflow(): void {
    if (this.#live && this.#parts.queue.isFull) this.#end('the log takes updates too slowly');
  }

  #slot({ slot, parent }: AnnouncedSlot): void {
    if (this.#isSubscribed && (this.#firstAnnouncedSlot < 0 || slot < this.#firstAnnouncedSlot)) {
      this.#firstAnnouncedSlot = slot;
    }
    // The announced block stands on the read, or on a block before it: no change lies between them.
    if (parent !== null && parent <= (this.#unboundedReadSlot ?? -1)) this.#unboundedReadSlot = null;
    this.#intake.labels.announced(slot);
    this.#silence.news();
    if (this.#quiet === null) this.#watchQuiet();
  }

  #watchQuiet(): void {
    if (this.#quiet) clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => void this.#onQuiet(), QUIET_MS);
  }

  /** Labels slots without account data. Asks one question at a time: the time between two answers proves that the chain stands still. */
  async #onQuiet(): Promise<void> {
    this.#quiet = null;
    if (this.#isAsking) {
      this.#watchQuiet();
      return;
    }
    this.#isAsking = true;
    await this.#askSlot();
    this.#isAsking = false;
    // Anew also after slow answers: the time between two of them is part of the proof.
    if (this.#intake.labels.mayLag && !this.#over.signal.aborted) this.#watchQuiet();
  }
  #isAsking = false;

  async #askSlot(): Promise<void> {
    const intake = this.#intake;
    const { labels } = intake;
    if (!intake.mayLabel || !labels.mayLag || this.#over.signal.aborted) return;
    const { rpc, accountCommitment } = this.#parts;
    // The second answer must be the newer one.
    const slot = await rpc.slot(accountCommitment).catch(() => null);
    const processedSlot = slot === null ? null : await rpc.slot('processed').catch(() => null);
    if (this.#over.signal.aborted || !intake.mayLabel) return;
    if (slot !== null && processedSlot !== null) {
      if (this.#isReadTooOld(slot)) return;
      intake.label(labels.quiet(slot, processedSlot));
      intake.releaseAhead();
    }
  }

  /** Keeps the session when the chain itself has stopped: a first answer sets the mark, a later one shows progress. */
  async #onSilence(): Promise<void> {
    const { rpc, silenceMs } = this.#parts;
    const known = Math.max(this.#intake.labels.announcedSlot, this.#silentAt);
    const slot = await rpc.slot('processed').catch(() => null);
    if (await pauseUnlessOver(this.#over.signal, SILENCE_SETTLE_MS)) return;
    const isFirst = this.#intake.labels.announcedSlot < 0 && this.#silentAt < 0;
    if (slot !== null) this.#silentAt = slot;
    if (slot === null || (!isFirst && slot > Math.max(known, this.#intake.labels.announcedSlot))) {
      this.#end(`no slot for ${silenceMs} ms`);
    } else this.#silence.news();
  }
  /** Answer of the node at the last silence; -1 without one. */
  #silentAt = -1;

  async #readAccounts(otherOracles: OtherOracles): Promise<void> {
    const { rpc, reader, logger } = this.#parts;
    const { signal } = this.#over;
    // Before the first data nobody knows from which slot on the subscriptions deliver changes, and an older read would be repeated.
    await waitFor(() => this.#firstDataSlot >= 0, FIRST_DATA_PATIENCE_MS, signal);
    const read = readSince(
      () => this.#subscribedSlot,
      (minSlot) => reader.read(rpc, Math.max(minSlot, this.#intake.labels.dataSlot), { signal }),
    );
    const deliver = (answer: WholeRead, isWhole: boolean) => this.#snapshot(answer, otherOracles, isWhole);
    await readUntilBelieved({ read, deliver, logger, signal });
  }

  /**
   * The subscriptions deliver every change of later slots, so a read must have the changes up to here. A node that is behind may
   * answer with older accounts, and nobody delivers the changes in between.
   */
  get #subscribedSlot(): number {
    return this.#firstDataSlot < 0 ? this.#firstAnnouncedSlot : this.#firstDataSlot - 1;
  }

  /** Ends the session when the chain is at `slot` and nobody delivers the changes between the read and the subscriptions. */
  #isReadTooOld(slot: number): boolean {
    if (this.#unboundedReadSlot === null || slot <= this.#unboundedReadSlot) return false;
    this.#end('the accounts were read before the first news of the subscriptions');
    return true;
  }

  async #snapshot(read: WholeRead, otherOracles: OtherOracles, isWhole: boolean): Promise<void> {
    if (this.#subscribedSlot < 0) this.#unboundedReadSlot = Math.min(...read.slots);
    const oracles = await otherOracles.begin(read.of(ORACLE_KINDS));
    this.#otherOracles = otherOracles;
    await this.#intake.snapshot(read, oracles, isWhole, this.#over.signal);
    if (this.#over.signal.aborted) return;
    this.#live = true;
    this.#watchQuiet();
  }

  /** Fetches missed transactions now and at every audit. Live ones wait for the first sweep, but not for long. */
  async #transactions(otherOracles: OtherOracles): Promise<void> {
    const { rpc, logger } = this.#parts;
    const audit = new TransactionAudit({ ...this.#parts, signal: this.#over.signal });
    await audit.begin(() => this.#intake.releaseTransactions());
    while (!(await pauseUnlessOver(this.#over.signal, this.#parts.auditMs))) {
      const problem = await audit.turn();
      if (problem !== null) this.#end(problem);
      this.#checkAccounts();
      await rpc.nodes.probe();
      if (this.#otherOracles) {
        await otherOracles.refresh().catch((error) => logger.warn({ err: error }, 'oracles not refreshed'));
      }
    }
  }

  /** Ends the session when transactions arrive and account data does not. */
  #checkAccounts(): void {
    const isBehind = this.#parts.history.liveSlot > this.#intake.labels.dataSlot + ACCOUNTS_BEHIND_SLOTS_MAX;
    const silentMs = performance.now() - this.#accountsAtMs;
    if (this.#live && isBehind && silentMs > this.#parts.silenceMs)
      this.#end('no account data while transactions arrive');
  }
}
