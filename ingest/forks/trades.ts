// Trades at commitment processed. Writes the fills of the node's fork to `fills.processed`, and a withdrawal when their slot
// leaves the fork. Writes each fill once more when the chain has confirmed it. From these records the trades role decides what
// to publish.

import type { NewRecord } from '../../platform/index.ts';
import { decodeEvent, encodeMessage, type MarketRef, parseMarketKey, TOPICS } from '../../schemas/index.ts';
import type { EventDecoder } from '../decode/events.ts';
import { decodeTransaction, type EncodedEvent } from '../decode/transaction.ts';
import type { SourceUpdate, TransactionLogs } from '../source.ts';
import type { LogWriter } from '../writer.ts';
import type { Place } from './chain.ts';
import { ForkFills, type ForkTransaction } from './fills.ts';
import type { ForkMetrics } from './metrics.ts';

/** Records that wait for the log. Beyond it processed fills are dropped: the confirmed ones decide. */
const WAITING_MAX = 100_000;
/** Key of the records that go to every partition. */
const SLOT_KEY = 'slot';

/** The fork that the node follows. */
export interface FollowedFork {
  /** Changes whenever the place of a slot may have changed. */
  readonly version: number;
  placeOf(slot: number): Place;
}

export interface ProcessedTradesParts {
  readonly fork: FollowedFork;
  readonly decoder: EventDecoder;
  readonly writer: Pick<LogWriter, 'append'>;
  readonly metrics: Pick<ForkMetrics, 'fills'>;
  readonly waitingMax?: number;
}

export class ProcessedTrades {
  readonly #parts: ProcessedTradesParts;
  readonly #fills = new ForkFills();
  #version = -1;
  #records: NewRecord[] = [];
  #isWriting = false;

  constructor(parts: ProcessedTradesParts) {
    this.#parts = parts;
  }

  /** A transaction of a processed slot, of any fork. */
  take(transaction: TransactionLogs): void {
    if (transaction.failed) return;
    // Truncated logs have the fills that they show; the confirmed stream brings the others.
    const fills = decodeTransaction(transaction, this.#parts.decoder).events.filter(isFill);
    if (fills.length === 0) return;
    const { slot, signature } = transaction;
    const taken = { slot, signature, fills };
    this.#fills.take(taken);
    // On the same fork nothing else changes, and thousands may be held.
    if (this.#version === this.#parts.fork.version) this.#settle(taken);
    else this.#settle();
  }

  /** News of the node's fork was applied. */
  moved(): void {
    if (this.#version !== this.#parts.fork.version) this.#settle();
  }

  /** Events of a confirmed transaction. Repeated ones do no harm. */
  confirmed(events: readonly EncodedEvent[]): void {
    for (const fill of events.filter(isFill)) this.#fill('confirmed', fill);
    this.#write();
  }

  /** Applies a batch whose confirmed transactions are taken. */
  resolved(batch: readonly SourceUpdate[]): void {
    for (const update of batch) if (update.kind === 'progress') this.#resolve(update.resume.slot);
    this.#write();
  }

  #resolve(slot: number): void {
    this.#fills.resolve(slot);
    const value = encodeMessage('FillsResolved', { slot });
    for (let partition = 0; partition < TOPICS.processedFills.partitions; partition++) {
      this.#records.push({ key: SLOT_KEY, value, partition });
    }
  }

  #settle(one?: ForkTransaction): void {
    const { fork, waitingMax = WAITING_MAX } = this.#parts;
    this.#version = fork.version;
    const { withdrawn, published } = this.#fills.settle((slot) => fork.placeOf(slot), one);
    // A log that is away also holds the confirmed stream, so nothing but these grows meanwhile.
    if (this.#records.length > waitingMax) return;
    for (const { fills } of withdrawn) for (const fill of fills) this.#withdraw(fill);
    for (const { fills } of published) for (const fill of fills) this.#fill('processed', fill);
    this.#write();
  }

  #fill(commitment: 'processed' | 'confirmed', { key, value }: EncodedEvent): void {
    const { slot, txIndex } = decodeEvent(value);
    const fill = { ...parseMarketKey(key), commitment, slot, txIndex, event: value };
    this.#record(commitment, key, encodeMessage('ProcessedFill', fill));
  }

  #withdraw({ key, value }: EncodedEvent): void {
    const { slot, signature, eventIndex } = decodeEvent(value);
    const market: MarketRef = parseMarketKey(key);
    this.#record('withdrawn', key, encodeMessage('FillWithdrawal', { ...market, slot, signature, eventIndex }));
  }

  #record(step: 'processed' | 'confirmed' | 'withdrawn', key: string, value: Uint8Array): void {
    this.#parts.metrics.fills.inc({ step });
    this.#records.push({ key, value });
  }

  /** One append at a time; records that arrive meanwhile leave together. */
  #write(): void {
    if (this.#isWriting || this.#records.length === 0) return;
    const records = this.#records;
    this.#records = [];
    this.#isWriting = true;
    const written = (): void => {
      this.#isWriting = false;
      this.#write();
    };
    // Rejects only when ingest stops.
    this.#parts.writer.append(TOPICS.processedFills, records).then(written, () => {});
  }
}

function isFill({ isFill }: EncodedEvent): boolean {
  return isFill;
}
