// One batch of source updates to records of the log: decodes, diffs and appends, in the order of the updates.

import bs58 from 'bs58';
import type { Logger, NewRecord } from '../platform/index.ts';
import {
  type DeadLetter,
  encodeMessage,
  type MessageName,
  type MessageTypes,
  marketKey,
  parseMarketKey,
  TOPICS,
} from '../schemas/index.ts';
import type { EventDecoder } from './decode/events.ts';
import { type DecodedTransaction, decodeTransaction, type EncodedEvent } from './decode/transaction.ts';
import { deadLetter, type Output } from './diff/output.ts';
import type { Differ } from './differ.ts';
import type { GapList } from './gaps.ts';
import type { IngestMetrics } from './metrics.ts';
import type { EndHistory } from './position.ts';
import type { ShadowMessage } from './shadow/check.ts';
import type { IngestQuality, IngestSource } from './shadow/quality.ts';
import type { ShadowRunner } from './shadow/runner.ts';
import type { GapNotice, ResumePoint, Source, SourceUpdate, TransactionLogs } from './source.ts';
import type { LogWriter } from './writer.ts';

export interface PipelineParts {
  readonly source: Source;
  readonly differ: Differ;
  readonly decoder: EventDecoder;
  readonly writer: LogWriter;
  readonly ends: EndHistory;
  readonly metrics: IngestMetrics;
  readonly logger: Logger;
  readonly quality: IngestQuality;
  readonly gaps: GapList;
  /** Slots between two block times in the log, at least. */
  readonly sampleSlots: number;
  /** Absent when the check is off or the source cannot be read apart from its stream. */
  readonly shadow: ShadowRunner | null;
}

/** Key of slot ticks, which go to every partition of `book` and `positions`. */
const SLOT_KEY = 'slot';
/** What the trades of a market are made of. */
const TRADE_EVENT = 'OrderActionRecord';

export class Pipeline {
  readonly #parts: PipelineParts;
  #events: EncodedEvent[] = [];
  #book: NewRecord[] = [];
  #positions: NewRecord[] = [];
  #vaults: NewRecord[] = [];
  #parked: NewRecord[] = [];
  #newestSlot = -1;
  /** Slot of the newest block time told. */
  #timeSlot = Number.NEGATIVE_INFINITY;
  #resume: ResumePoint | null = null;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#tellGaps();
  }

  /** Resume point of the last progress notice whose updates are all in the log. */
  get resume(): ResumePoint | null {
    return this.#resume;
  }

  /** Takes a batch and resolves when all of it is in the log. Rejects only when stopped. */
  async take(batch: readonly SourceUpdate[]): Promise<void> {
    let progress: ResumePoint | null = null;
    for (const update of batch) {
      if (update.kind === 'progress') progress = update.resume;
      else await this.#one(update);
    }
    this.#shadowTurn();
    await this.#flush();
    if (progress) this.#parts.gaps.reached(progress.slot);
    this.#tellGaps();
    // The position must not move past a gap that a crash would make forgotten.
    if (!(await this.#saveGaps())) return;
    this.#parts.quality.transactions(this.#parts.gaps.counts);
    if (progress) this.#resume = progress;
  }

  /** Between batches what the differ holds is exactly what the log says: the place for comparisons. */
  #shadowTurn(): void {
    const turn = this.#parts.shadow?.turn(this.#newestSlot);
    if (!turn) return;
    for (const output of turn.outputs) this.#emit(output);
    for (const { name, value } of turn.messages as readonly ShadowMessage[]) {
      this.#message(this.#book, name, value, 'slot' in value ? value.slot : value.snapshotSlot);
    }
  }

  async #one(update: Exclude<SourceUpdate, { kind: 'progress' }>): Promise<void> {
    const { differ, metrics, logger } = this.#parts;
    switch (update.kind) {
      case 'account':
        metrics.accountUpdates.inc();
        differ.account(update, this.#emit);
        break;
      case 'transaction':
        if (!update.failed) await this.#transaction(update);
        // A recording may have no other times. What is read back of the past says nothing of the books as they are now.
        if (update.blockTime !== null && update.slot >= this.#newestSlot) this.#time(update.slot, update.blockTime);
        break;
      case 'slot':
        this.#slot(update.slot);
        break;
      case 'time':
        this.#time(update.slot, update.ts);
        break;
      case 'snapshotBegin':
        differ.snapshotBegin();
        break;
      case 'snapshotEnd':
        differ.snapshotEnd(update.slot, this.#emit);
        this.#parts.quality.caughtUp();
        logger.info({ slot: update.slot, accounts: differ.size }, 'all accounts read');
        break;
      case 'reconnect':
        metrics.reconnects.inc();
        this.#parts.quality.disconnected();
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
    const value = encodeMessage('BookSlot', { slot });
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      this.#book.push({ key: SLOT_KEY, value, partition });
    }
    for (let partition = 0; partition < TOPICS.positions.partitions; partition++) {
      this.#positions.push({ key: SLOT_KEY, value, partition });
    }
  }

  #time(slot: number, ts: number): void {
    if (slot < this.#timeSlot + this.#parts.sampleSlots) return;
    this.#timeSlot = slot;
    const value = encodeMessage('BookTime', { slot, ts });
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      this.#book.push({ key: SLOT_KEY, value, partition });
    }
  }

  #gap(gap: GapNotice): void {
    this.#parts.gaps.note(gap);
    this.#parts.metrics.gaps.inc({ filled: String(gap.filled) });
    this.#parts.logger.warn({ gap }, 'gap in the chain data');
  }

  #tellGaps(): void {
    const { gaps, metrics } = this.#parts;
    for (const isLasting of [false, true]) metrics.openGaps.set({ lasting: String(isLasting) }, gaps.open(isLasting));
  }

  /** False when the log is away: the list is saved after a later batch. */
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
    if (decoded.incomplete) decoded = await this.#complete(transaction, decoded);
    for (const letter of decoded.parked) this.#park(letter);
    for (const event of decoded.events) this.#events.push(event);
  }

  /** Logs cut on the way are asked for once more; what stays cut is told, and kept as far as it goes. */
  async #complete(transaction: TransactionLogs, decoded: DecodedTransaction): Promise<DecodedTransaction> {
    const { source, decoder } = this.#parts;
    const whole = await source.transaction(transaction.signature);
    const { slot, signature } = transaction;
    const gap = { kind: 'gap', fromSlot: slot, toSlot: slot, reason: `logs of ${signature} were cut` } as const;
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
      case 'PositionState':
      case 'PositionMarket':
        this.#message(this.#positions, output.name, output.value, output.value.slot);
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
        // Positions of the market are told in full between the two as well.
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
      | 'PositionMarket',
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
      // Bytes that passed for an account but hold numbers no message can carry.
      this.#park(deadLetter('bad_value', `${name}: ${error.message}`, slot, key, new Uint8Array(0)));
    }
  }

  #park(letter: DeadLetter): void {
    this.#parts.metrics.parked.inc({ reason: letter.reason });
    this.#parked.push({ key: letter.reason, value: encodeMessage('DeadLetter', letter) });
  }

  async #flush(): Promise<void> {
    const { writer, ends, metrics } = this.#parts;
    const [events, book, positions, vaults, parked] = [
      this.#events,
      this.#book,
      this.#positions,
      this.#vaults,
      this.#parked,
    ];
    this.#events = [];
    this.#book = [];
    this.#positions = [];
    this.#vaults = [];
    this.#parked = [];
    if (events.length > 0)
      ends.reached(
        events.reduce((slot, event) => Math.max(slot, event.slot), -1),
        () => writer.ends,
      );
    const [fresh] = await Promise.all([
      events.length > 0 ? writer.appendEvents(events) : [],
      book.length > 0 ? writer.append(TOPICS.book, book) : undefined,
      positions.length > 0 ? writer.append(TOPICS.positions, positions) : undefined,
      vaults.length > 0 ? writer.append(TOPICS.vaults, vaults) : undefined,
      parked.length > 0 ? writer.append(TOPICS.deadLetters, parked) : undefined,
    ]);
    for (const { name, key, slot } of fresh) {
      metrics.events.inc({ name });
      if (name === TRADE_EVENT && isMarketKey(key)) this.#parts.quality.seen(parseMarketKey(key), 'trades', slot);
    }
    if (this.#newestSlot >= 0) metrics.slot.set(this.#newestSlot);
  }
}

function sourceOf({
  name,
  value,
}: Extract<Output, { name: 'BookOrders' | 'BookMarket' | 'BookOracle' }>): IngestSource {
  if (name === 'BookOrders') return value.source;
  return name === 'BookMarket' ? 'market' : 'oracle';
}

/** Topic keys of events are a market's key or an account's. */
function isMarketKey(key: string): boolean {
  return key.startsWith('perp-') || key.startsWith('spot-');
}
