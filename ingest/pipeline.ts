// Takes batches of source updates: decodes and compares them in their order, and writes all of a batch before the next.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { type Logger, nextTurn } from '../platform/index.ts';
import { encodeMessage, parseMarketKey, TOPICS } from '../schemas/index.ts';
import { BlockIndexes } from './block-indexes.ts';
import { CounterBuffer } from './counters.ts';
import { deadLetter } from './dead-letter.ts';
import type { EventDecoder } from './decode/events.ts';
import { type DecodedTransaction, decodeTransaction, type EncodedEvent } from './decode/transaction.ts';
import type { Differ } from './differ.ts';
import type { FinalityCheck } from './finality/check.ts';
import type { GapList } from './gaps.ts';
import type { IngestMetrics } from './metrics.ts';
import { RecordBuffer } from './record-buffer.ts';
import type { OffsetHistory } from './resume-state.ts';
import type { IngestQuality } from './shadow/quality.ts';
import type { ShadowRunner } from './shadow/runner.ts';
import {
  type AccountUpdate,
  type GapNotice,
  RESUME_MARGIN_SLOTS,
  type ResumePoint,
  type SlotRange,
  type Source,
  type SourceUpdate,
  type TransactionLogs,
} from './source.ts';
import type { LogWriter } from './writer.ts';

export interface PipelineParts {
  readonly source: Source;
  readonly differ: Differ;
  readonly decoder: EventDecoder;
  readonly writer: LogWriter;
  readonly ends: OffsetHistory;
  readonly metrics: IngestMetrics;
  readonly logger: Logger;
  readonly quality: IngestQuality;
  readonly gaps: GapList;
  /** Minimum number of slots between two block times in the log. */
  readonly sampleSlots: number;
  /** Slot at which an earlier process ended; null without one. */
  readonly resumeSlot: number | null;
  /** Null when the source cannot read the finalized chain. */
  readonly finality: FinalityCheck | null;
  /** Null when the check is off or the source cannot read accounts apart from its stream. */
  readonly shadow: ShadowRunner | null;
  /** Gets the events of each confirmed transaction, repeated ones too. */
  readonly confirmed?: (events: readonly EncodedEvent[]) => void;
  /** An update is applied, and none after it. The next one follows when the returned steps are done. */
  readonly applied?: (update: SourceUpdate) => Generator<void> | null;
  /** The shadow check has corrected stored accounts. Returns steps too. */
  readonly corrected?: () => Generator<void> | null;
}

/** Steps of a long batch after which the event loop runs, and records: less than a millisecond of work each. */
const TURN_STEPS = 16;
const TURN_RECORDS = 50;
/** Records that wait at most: a long batch goes to the log in parts. One part holds the loop for a few milliseconds. */
const WAITING_RECORDS = 250;
/** The record that trades come from. */
const TRADE_EVENT = 'OrderActionRecord';

export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #indexes = new BlockIndexes();
  readonly #counters: CounterBuffer;
  readonly #records: RecordBuffer;
  #newestSlot = -1;
  /** Slot of the newest written block time. */
  #timeSlot = Number.NEGATIVE_INFINITY;
  #resume: ResumePoint | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  /** Steps since the event loop ran, and the records that waited then. */
  #steps = 0;
  #restedRecords = 0;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#counters = new CounterBuffer(
      parts.resumeSlot === null ? null : Math.max(0, parts.resumeSlot - RESUME_MARGIN_SLOTS),
    );
    this.#records = new RecordBuffer({ ...parts, counters: this.#counters });
    this.#reportGaps();
  }

  /** Resume point of the newest progress notice whose updates are all in the log. */
  get resume(): ResumePoint | null {
    return this.#resume;
  }

  /** Processes a batch and resolves when all of it is in the log. Rejects only when stopped. */
  take(batch: readonly SourceUpdate[]): Promise<void> {
    return this.#inTurn(() => this.#take(batch));
  }

  /**
   * Writes the events of old transactions that are not in `known`, and adds them to it. `isCut`: logs were truncated, so
   * events may be missing. Rejects only when stopped.
   */
  backfill(
    transactions: readonly TransactionLogs[],
    known: Set<string>,
    isFresh: (event: EncodedEvent) => void = () => {},
  ): Promise<{ found: number; isCut: boolean }> {
    return this.#inTurn(async () => {
      let isCut = false;
      for (const transaction of transactions.filter(({ failed }) => !failed)) {
        const decoded = decodeTransaction(transaction, this.#parts.decoder);
        isCut ||= decoded.incomplete;
        this.#parts.confirmed?.(decoded.events);
        const fresh = decoded.events.filter(({ id }) => !known.has(id));
        if (fresh.length > 0) for (const letter of decoded.parked) this.#records.park(letter);
        for (const event of fresh) {
          known.add(event.id);
          isFresh(event);
          this.#records.event(event);
        }
      }
      const found = this.#records.eventCount;
      await this.#flush();
      return { found, isCut };
    });
  }

  /**
   * Writes the events of transactions that landed again, unless `known` has them: earlier ones are of a dropped slot. Missing
   * parts of their logs are a lasting gap.
   */
  async landed(transactions: readonly TransactionLogs[], known: Set<string>): Promise<void> {
    await this.backfill(transactions, known, (event) => this.#parts.writer.forget(event.id));
    const cut = transactions.filter((one) => !one.failed && decodeTransaction(one, this.#parts.decoder).incomplete);
    if (cut.length === 0) return;
    await this.#inTurn(async () => {
      for (const { slot, signature } of cut) this.#gap({ ...cutGap(slot, signature), filled: false, isLasting: true });
      this.#reportGaps();
      await this.#saveGaps();
    });
  }

  /** All blocks of a range were read again, except those in `cut`: gaps inside are closed. */
  backfilled(range: SlotRange, cut: readonly SlotRange[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#parts.gaps.backfilled(range, cut);
      this.#reportGaps();
      await this.#saveGaps();
    });
  }

  /** The chain dropped a confirmed slot, or some of its transactions: says so in the log, and as a lasting gap. */
  retract(slot: number, signatures: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const value = encodeMessage('SlotRetraction', { slot, signatures: signatures.map((one) => bs58.decode(one)) });
      // Compaction keeps every retraction of a slot: a later one may name other transactions.
      const key = `${slot}/${createHash('sha256').update(value).digest('hex')}`;
      await this.#parts.writer.append(TOPICS.retractions, [{ key, value }]);
      this.#parts.metrics.retracted.inc(signatures.length);
      const reason = `the chain dropped ${signatures.length} confirmed transactions of the slot`;
      this.#gap({ kind: 'gap', fromSlot: slot, toSlot: slot, filled: false, isLasting: true, reason });
      this.#reportGaps();
      await this.#saveGaps();
    });
  }

  /** Steps run one after the other, because they share the records that wait. */
  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(step);
    this.#turn = run.catch(() => {});
    return run;
  }

  async #take(batch: readonly SourceUpdate[]): Promise<void> {
    let progress: ResumePoint | null = null;
    this.#indexes.take(batch);
    for (const update of batch) {
      if (update.kind === 'progress') progress = update.resume;
      else if (update.kind === 'account') this.#account(update);
      else await this.#apply(update);
      const steps = this.#parts.applied?.(update);
      if (steps) await this.#inSteps(steps);
      if (this.#isRestDue()) await this.#rest();
    }
    await this.#applyShadowCheck();
    await this.#flush();
    while (this.#counters.isBehind) {
      await nextTurn();
      await this.#flush();
    }
    if (progress) this.#parts.gaps.reached(progress.slot);
    this.#reportGaps();
    // The resume point must not pass an unsaved gap: a crash would lose it.
    if (!(await this.#saveGaps())) return;
    this.#parts.quality.transactions(this.#parts.gaps.counts);
    if (progress) this.#resume = progress;
  }

  /** Runs between batches, when the differ's state equals the log. */
  async #applyShadowCheck(): Promise<void> {
    const step = this.#parts.shadow?.advance(this.#newestSlot);
    if (!step) return;
    for (const output of step.outputs) this.#records.output(output);
    for (const message of step.messages) this.#records.checked(message);
    const steps = step.outputs.length > 0 ? this.#parts.corrected?.() : null;
    if (steps) await this.#inSteps(steps);
  }

  #account(update: AccountUpdate): void {
    this.#parts.metrics.accountUpdates.inc();
    this.#parts.differ.account(this.#indexes.joined(update), this.#records.output);
  }

  async #apply(update: Exclude<SourceUpdate, { kind: 'progress' | 'account' }>): Promise<void> {
    const { differ, metrics, logger } = this.#parts;
    switch (update.kind) {
      case 'transaction':
        if (!update.failed) await this.#transaction(update);
        // A recording may have no other times. The time of an older transaction does not apply to the current books.
        if (update.blockTime !== null && update.slot >= this.#newestSlot)
          await this.#time(update.slot, update.blockTime);
        break;
      case 'slot':
        this.#slot(update.slot);
        break;
      case 'time':
        await this.#time(update.slot, update.ts);
        break;
      case 'final':
        this.#parts.finality?.final(update.slot);
        this.#records.final(update.slot, update.ts);
        break;
      case 'snapshotBegin':
        differ.snapshotBegin();
        break;
      case 'snapshotEnd':
        await this.#inSteps(differ.snapshotEnding(update.slot, this.#records.output));
        this.#counters.resumed();
        this.#parts.quality.caughtUp();
        logger.info({ slot: update.slot, accounts: differ.size }, 'all accounts read');
        break;
      case 'reconnect':
        metrics.reconnects.inc();
        this.#counters.interrupted();
        this.#parts.quality.disconnected();
        break;
      case 'continued':
        this.#counters.resumed();
        this.#parts.quality.caughtUp();
        logger.info({ slot: update.slot }, 'the stream continues where it ended');
        break;
      case 'gap':
        this.#gap(update);
        break;
      case 'garbage':
        this.#records.park(
          deadLetter(update.reason, update.detail, Math.max(0, this.#newestSlot), update.origin, update.bytes),
        );
        break;
    }
  }

  #slot(slot: number): void {
    if (slot <= this.#newestSlot) return;
    this.#newestSlot = slot;
    this.#counters.slot(slot);
    this.#records.slot(slot);
  }

  async #time(slot: number, ts: number): Promise<void> {
    if (slot < this.#timeSlot + this.#parts.sampleSlots) return;
    this.#timeSlot = slot;
    this.#records.bookTime(slot, ts);
    const isWhole = await this.#inSteps(this.#parts.differ.marginSteps(slot, this.#records.output));
    this.#records.marginTime(slot, ts, isWhole);
  }

  #gap(gap: GapNotice): void {
    this.#parts.gaps.note(gap);
    this.#parts.metrics.gaps.inc({ filled: String(gap.filled) });
    this.#parts.logger.warn({ gap }, 'gap in the chain data');
  }

  #reportGaps(): void {
    const { gaps, metrics } = this.#parts;
    for (const isLasting of [false, true]) metrics.openGaps.set({ lasting: String(isLasting) }, gaps.open(isLasting));
  }

  /** False when the log is unavailable: a later batch saves the list. */
  async #saveGaps(): Promise<boolean> {
    try {
      await this.#parts.gaps.save();
      return true;
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'gaps not saved');
      return false;
    }
  }

  async #transaction(transaction: TransactionLogs): Promise<void> {
    let decoded = decodeTransaction(transaction, this.#parts.decoder);
    if (decoded.incomplete) decoded = await this.#refetch(transaction, decoded);
    for (const letter of decoded.parked) this.#records.park(letter);
    for (const event of decoded.events) this.#records.event(event);
    this.#parts.confirmed?.(decoded.events);
    // A cut log may have no event here, and all of them where the transaction lands again.
    if (decoded.events.length > 0 || decoded.incomplete) this.#parts.finality?.stored(transaction);
  }

  /** Fetches truncated logs once more. Logs that stay truncated become a gap, and their readable part is kept. */
  async #refetch(transaction: TransactionLogs, decoded: DecodedTransaction): Promise<DecodedTransaction> {
    const { source, decoder } = this.#parts;
    const whole = await source.transaction(transaction.signature);
    const { slot, signature } = transaction;
    const gap = cutGap(slot, signature);
    const blockIndex = transaction.blockIndex ?? whole?.blockIndex ?? null;
    const again = whole && !whole.failed ? decodeTransaction({ ...whole, slot, blockIndex }, decoder) : decoded;
    this.#gap({ ...gap, filled: !again.incomplete, isLasting: again.incomplete });
    if (again.incomplete) {
      this.#records.park(deadLetter('incomplete_logs', gap.reason, slot, signature, bs58.decode(signature)));
    }
    return again.events.length >= decoded.events.length ? again : decoded;
  }

  /** Runs all steps, with a rest after some of them. */
  async #inSteps<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (this.#isRestDue()) await this.#rest();
    }
  }

  #isRestDue(): boolean {
    return ++this.#steps >= TURN_STEPS || this.#records.size - this.#restedRecords >= TURN_RECORDS;
  }

  /** Lets the event loop run. If many records wait, the log takes them first. */
  async #rest(): Promise<void> {
    if (this.#records.size >= WAITING_RECORDS) await this.#flush();
    this.#steps = 0;
    this.#restedRecords = this.#records.size;
    await nextTurn();
  }

  async #flush(): Promise<void> {
    const { metrics } = this.#parts;
    const fresh = await this.#records.append(this.#newestSlot);
    for (const { name, key, slot } of fresh) {
      metrics.events.inc({ name });
      if (name === TRADE_EVENT && isMarketKey(key)) this.#parts.quality.seen(parseMarketKey(key), 'trades', slot);
    }
    if (this.#newestSlot >= 0) metrics.slot.set(this.#newestSlot);
  }
}

/** An event's key is either a market key or an account. */
function isMarketKey(key: string): boolean {
  return key.startsWith('perp-') || key.startsWith('spot-');
}

function cutGap(slot: number, signature: string) {
  return { kind: 'gap', fromSlot: slot, toSlot: slot, reason: `logs of ${signature} were truncated` } as const;
}
