// Turns a batch of source updates into log records: decodes, diffs and appends, in the order of the updates.

import bs58 from 'bs58';
import { type Logger, type NewRecord, nextTurn } from '../platform/index.ts';
import {
  type DeadLetter,
  encodeMessage,
  type InsuranceFundState,
  type MessageName,
  type MessageTypes,
  marketKey,
  parseMarketKey,
  TOPICS,
} from '../schemas/index.ts';
import { BlockIndexes } from './block-indexes.ts';
import { CounterBuffer } from './counters.ts';
import type { EventDecoder } from './decode/events.ts';
import { type DecodedTransaction, decodeTransaction, type EncodedEvent } from './decode/transaction.ts';
import { deadLetter, type Output } from './diff/output.ts';
import type { Differ } from './differ.ts';
import type { FinalityCheck } from './finality/check.ts';
import type { GapList } from './gaps.ts';
import type { IngestMetrics } from './metrics.ts';
import type { OffsetHistory } from './resume-state.ts';
import type { ShadowMessage } from './shadow/check.ts';
import type { IngestQuality, IngestSource } from './shadow/quality.ts';
import type { ShadowRunner } from './shadow/runner.ts';
import {
  type AccountUpdate,
  type GapNotice,
  RESUME_MARGIN_SLOTS,
  type ResumePoint,
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
  /** The shadow check has corrected stored accounts. */
  readonly corrected?: () => void;
}

/** Steps of a long batch after which the event loop runs: some milliseconds of work. */
const TURN_STEPS = 64;
/** Key of slot ticks, which go to every partition of `book` and `positions`. */
const SLOT_KEY = 'slot';
const FINALITY_KEY = 'chain';
/** Keys of the records around a whole margin. */
const MARGIN_BEGIN_KEY = 'begin';
const MARGIN_WHOLE_KEY = 'whole';
/** Key of the state of an insurance fund. Other states have the key of their account. */
const fundKey = ({ marketIndex }: InsuranceFundState): string => `insurance-fund-${marketIndex}`;
/** The record that trades come from. */
const TRADE_EVENT = 'OrderActionRecord';

export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #indexes = new BlockIndexes();
  #events: EncodedEvent[] = [];
  #book: NewRecord[] = [];
  #positions: NewRecord[] = [];
  #orders: NewRecord[] = [];
  #vaults: NewRecord[] = [];
  #states: NewRecord[] = [];
  #margins: NewRecord[] = [];
  #parked: NewRecord[] = [];
  /** The newest final slot that is not written yet. */
  #finality: NewRecord[] = [];
  readonly #counters: CounterBuffer;
  #newestSlot = -1;
  /** Slot of the newest written block time. */
  #timeSlot = Number.NEGATIVE_INFINITY;
  #resume: ResumePoint | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#counters = new CounterBuffer(
      parts.resumeSlot === null ? null : Math.max(0, parts.resumeSlot - RESUME_MARGIN_SLOTS),
    );
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
  backfill(transactions: readonly TransactionLogs[], known: Set<string>): Promise<{ found: number; isCut: boolean }> {
    return this.#inTurn(async () => {
      let isCut = false;
      for (const transaction of transactions.filter(({ failed }) => !failed)) {
        const decoded = decodeTransaction(transaction, this.#parts.decoder);
        isCut ||= decoded.incomplete;
        const fresh = decoded.events.filter(({ id }) => !known.has(id));
        if (fresh.length > 0) for (const letter of decoded.parked) this.#park(letter);
        for (const event of fresh) {
          known.add(event.id);
          this.#events.push(event);
        }
      }
      const found = this.#events.length;
      await this.#flush();
      return { found, isCut };
    });
  }

  /** All blocks of these slots were read again, except those in `cut`: gaps inside are filled. */
  backfilled(fromSlot: number, toSlot: number, cut: ReadonlySet<number>): Promise<void> {
    return this.#inTurn(async () => {
      this.#parts.gaps.backfilled(fromSlot, toSlot, cut);
      this.#reportGaps();
      await this.#saveGaps();
    });
  }

  /** The chain dropped a confirmed slot, or some of its transactions: says so in the log, and as a lasting gap. */
  retract(slot: number, signatures: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const value = encodeMessage('SlotRetraction', { slot, signatures: signatures.map((one) => bs58.decode(one)) });
      await this.#parts.writer.append(TOPICS.retractions, [{ key: String(slot), value }]);
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
    for (const [index, update] of batch.entries()) {
      if (update.kind === 'progress') progress = update.resume;
      else if (update.kind === 'account') this.#account(update);
      else await this.#apply(update);
      if ((index + 1) % TURN_STEPS === 0) await nextTurn();
    }
    this.#applyShadowCheck();
    await this.#flush();
    if (progress) this.#parts.gaps.reached(progress.slot);
    this.#reportGaps();
    // The resume point must not pass an unsaved gap: a crash would lose it.
    if (!(await this.#saveGaps())) return;
    this.#parts.quality.transactions(this.#parts.gaps.counts);
    if (progress) this.#resume = progress;
  }

  /** Runs between batches, when the differ's state equals the log. */
  #applyShadowCheck(): void {
    const step = this.#parts.shadow?.advance(this.#newestSlot);
    if (!step) return;
    for (const output of step.outputs) this.#emit(output);
    if (step.outputs.length > 0) this.#parts.corrected?.();
    for (const { name, value } of step.messages as readonly ShadowMessage[]) {
      this.#message(this.#book, name, value, 'slot' in value ? value.slot : value.snapshotSlot);
    }
  }

  #account(update: AccountUpdate): void {
    this.#parts.metrics.accountUpdates.inc();
    this.#parts.differ.account(this.#indexes.joined(update), this.#emit);
  }

  async #apply(update: Exclude<SourceUpdate, { kind: 'progress' | 'account' }>): Promise<void> {
    const { differ, metrics, logger } = this.#parts;
    switch (update.kind) {
      case 'transaction':
        if (!update.failed) await this.#transaction(update);
        // A recording may have no other times. The time of an older transaction does not apply to the current books.
        if (update.blockTime !== null && update.slot >= this.#newestSlot) this.#time(update.slot, update.blockTime);
        break;
      case 'slot':
        this.#slot(update.slot);
        break;
      case 'time':
        this.#time(update.slot, update.ts);
        break;
      case 'final':
        this.#parts.finality?.final(update.slot);
        this.#finality = [
          { key: FINALITY_KEY, value: encodeMessage('ChainFinality', { slot: update.slot, ts: update.ts }) },
        ];
        break;
      case 'snapshotBegin':
        differ.snapshotBegin(Math.max(0, this.#newestSlot));
        break;
      case 'snapshotEnd':
        await everyTurn(differ.snapshotEnding(update.slot, this.#emit));
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
        this.#park(
          deadLetter(update.reason, update.detail, Math.max(0, this.#newestSlot), update.origin, update.bytes),
        );
        break;
    }
  }

  #slot(slot: number): void {
    if (slot <= this.#newestSlot) return;
    this.#newestSlot = slot;
    this.#counters.slot(slot);
    const value = encodeMessage('BookSlot', { slot });
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      this.#book.push({ key: SLOT_KEY, value, partition });
    }
    for (let partition = 0; partition < TOPICS.positions.partitions; partition++) {
      this.#positions.push({ key: SLOT_KEY, value, partition });
    }
    for (let partition = 0; partition < TOPICS.userOrders.partitions; partition++) {
      this.#orders.push({ key: SLOT_KEY, value, partition });
    }
  }

  #time(slot: number, ts: number): void {
    if (slot < this.#timeSlot + this.#parts.sampleSlots) return;
    this.#timeSlot = slot;
    const value = encodeMessage('BookTime', { slot, ts });
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      this.#book.push({ key: SLOT_KEY, value, partition });
    }
    const isWhole = this.#parts.differ.margins(slot, this.#emit);
    // Compaction keeps the newest whole time too: it tells which accounts are closed.
    const key = isWhole ? MARGIN_WHOLE_KEY : SLOT_KEY;
    this.#margins.push({ key, value: encodeMessage('MarginTime', { slot, ts, isWhole }) });
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
    for (const letter of decoded.parked) this.#park(letter);
    for (const event of decoded.events) this.#events.push(event);
    if (decoded.events.length > 0) this.#parts.finality?.stored(transaction);
  }

  /** Fetches truncated logs once more. Logs that stay truncated become a gap, and their readable part is kept. */
  async #refetch(transaction: TransactionLogs, decoded: DecodedTransaction): Promise<DecodedTransaction> {
    const { source, decoder } = this.#parts;
    const whole = await source.transaction(transaction.signature);
    const { slot, signature } = transaction;
    const gap = { kind: 'gap', fromSlot: slot, toSlot: slot, reason: `logs of ${signature} were truncated` } as const;
    const again = whole && !whole.failed ? decodeTransaction({ ...whole, slot }, decoder) : decoded;
    this.#gap({ ...gap, filled: !again.incomplete, isLasting: again.incomplete });
    if (again.incomplete) {
      this.#park(deadLetter('incomplete_logs', gap.reason, slot, signature, bs58.decode(signature)));
    }
    return again.events.length >= decoded.events.length ? again : decoded;
  }

  readonly #emit = (output: Output): void => {
    switch (output.name) {
      case 'DeadLetter':
        this.#park(output.value);
        break;
      case 'StreamCounter':
        this.#counters.note(output.value);
        break;
      case 'PositionState':
      case 'PositionMarket':
        this.#message(this.#positions, output.name, output.value, output.value.slot);
        break;
      case 'UserOrders':
        this.#message(this.#orders, output.name, output.value, output.value.slot);
        break;
      case 'AccountMargin':
        this.#record(this.#margins, bs58.encode(output.value.user), output.name, output.value, output.value.slot);
        break;
      case 'MarketMargin':
        this.#record(this.#margins, marketKey(output.value), output.name, output.value, output.value.slot);
        break;
      case 'MarginBegin':
        this.#record(this.#margins, MARGIN_BEGIN_KEY, output.name, output.value, output.value.slot);
        break;
      case 'RevenueShareState':
      case 'RevenueShareEscrowState':
        this.#record(this.#states, bs58.encode(output.value.account), output.name, output.value, output.value.slot);
        break;
      case 'InsuranceFundState':
        this.#record(this.#states, fundKey(output.value), output.name, output.value, output.value.slot);
        break;
      case 'VaultState':
        this.#record(this.#vaults, bs58.encode(output.value.vault), output.name, output.value, output.value.slot);
        break;
      case 'VaultDepositorState':
        this.#record(this.#vaults, bs58.encode(output.value.depositor), output.name, output.value, output.value.slot);
        break;
      case 'BookSnapshotBegin':
      case 'BookSnapshotEnd':
        this.#message(this.#book, output.name, output.value, output.value.snapshotSlot);
        this.#message(this.#orders, output.name, output.value, output.value.snapshotSlot);
        // A snapshot also lists all positions of the market between its brackets.
        if (output.value.marketType === 'perp') {
          this.#message(this.#positions, output.name, output.value, output.value.snapshotSlot);
        }
        break;
      default:
        this.#parts.quality.seen(output.value, sourceOf(output), output.value.slot);
        this.#message(this.#book, output.name, output.value, output.value.slot);
    }
  };

  #message<
    N extends
      | 'BookOrders'
      | 'BookMarket'
      | 'BookOracle'
      | 'BookSnapshotBegin'
      | 'BookSnapshotEnd'
      | 'BookRepair'
      | 'BookCheck'
      | 'PositionState'
      | 'PositionMarket'
      | 'UserOrders',
  >(records: NewRecord[], name: N, value: MessageTypes[N], slot: number): void {
    this.#record(records, marketKey(value), name, value, slot);
  }

  #record<N extends MessageName>(
    records: NewRecord[],
    key: string,
    name: N,
    value: MessageTypes[N],
    slot: number,
  ): void {
    try {
      records.push({ key, value: encodeMessage(name, value) });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Some bytes decode as an account but hold numbers that no message can carry.
      this.#park(deadLetter('bad_value', `${name}: ${error.message}`, slot, key, new Uint8Array(0)));
    }
  }

  #park(letter: DeadLetter): void {
    this.#parts.metrics.parked.inc({ reason: letter.reason });
    this.#parked.push({ key: letter.reason, value: encodeMessage('DeadLetter', letter) });
  }

  async #flush(): Promise<void> {
    const { writer, ends, metrics } = this.#parts;
    const counters = this.#counters.take(this.#newestSlot);
    const [events, book, positions, orders, vaults, states, margins, finality, parked] = [
      this.#events,
      this.#book,
      this.#positions,
      this.#orders,
      this.#vaults,
      this.#states,
      this.#margins,
      this.#finality,
      this.#parked,
    ];
    this.#events = [];
    this.#book = [];
    this.#positions = [];
    this.#orders = [];
    this.#vaults = [];
    this.#states = [];
    this.#margins = [];
    this.#finality = [];
    this.#parked = [];
    if (events.length > 0)
      ends.reached(
        events.reduce((slot, event) => Math.max(slot, event.slot), -1),
        () => writer.nextOffsets,
      );
    const [fresh] = await Promise.all([
      events.length > 0 ? writer.appendEvents(events) : [],
      book.length > 0 ? writer.append(TOPICS.book, book) : undefined,
      positions.length > 0 ? writer.append(TOPICS.positions, positions) : undefined,
      orders.length > 0 ? writer.append(TOPICS.userOrders, orders) : undefined,
      vaults.length > 0 ? writer.append(TOPICS.vaults, vaults) : undefined,
      states.length > 0 ? writer.append(TOPICS.accountStates, states) : undefined,
      counters.length > 0 ? writer.append(TOPICS.counters, counters) : undefined,
      margins.length > 0 ? writer.append(TOPICS.margin, margins) : undefined,
      parked.length > 0 ? writer.append(TOPICS.deadLetters, parked) : undefined,
    ]);
    // After the events: whoever reads that a slot is final finds its events in the log.
    if (finality.length > 0) await writer.append(TOPICS.finality, finality);
    for (const { name, key, slot } of fresh) {
      metrics.events.inc({ name });
      if (name === TRADE_EVENT && isMarketKey(key)) this.#parts.quality.seen(parseMarketKey(key), 'trades', slot);
    }
    if (this.#newestSlot >= 0) metrics.slot.set(this.#newestSlot);
  }
}

/** Runs all steps, with a turn of the event loop after some of them. */
async function everyTurn(steps: Generator<void>): Promise<void> {
  let taken = 0;
  for (const _ of steps) if (++taken % TURN_STEPS === 0) await nextTurn();
}

function sourceOf({
  name,
  value,
}: Extract<Output, { name: 'BookOrders' | 'BookMarket' | 'BookOracle' }>): IngestSource {
  if (name === 'BookOrders') return value.source;
  return name === 'BookMarket' ? 'market' : 'oracle';
}

/** An event's key is either a market key or an account. */
function isMarketKey(key: string): boolean {
  return key.startsWith('perp-') || key.startsWith('spot-');
}
