// The trades role at commitment processed: follows `fills.processed`, writes fills and withdrawals to `views.trades.processed`, the
// newest of each market also to `views.trade-heads.processed`. One commit per batch stores outputs, offset and state.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { LogBatch, Logger, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, TOPICS } from '../../schemas/index.ts';
import {
  deadLetter,
  endOf,
  firstEpoch,
  newestOfEach,
  piecesOf,
  type Step,
  startReducerRole,
  stateWrites,
} from '../follow/reducer-role.ts';
import { Numbering, TRADE_AGE_SLOTS_MAX } from '../trades/numbering.ts';
import { type NumberedRecord, ProcessedTrades } from './processed-trades.ts';

export const PROCESSED_TRADES_GROUP = 'trades.processed';
const TRADES_STATE = 'trades';
const NUMBERING_STATE = 'numbering';

/** Starts the role. Rejects when the log cannot be read; `done` when the log fails. */
export async function startProcessedFills(context: RoleContext): Promise<RunningRole> {
  const { log, logger } = context;
  const metrics = processedTradesMetrics(context.metrics);
  await log.ensureTopics([TOPICS.processedTradeViews]);
  const partitions: Partition[] = [];
  for (let number = 0; number < TOPICS.processedFills.partitions; number += 1) {
    partitions.push(new Partition(number, await firstEpoch(log, TOPICS.processedTradeViews, number), logger, metrics));
  }
  return startReducerRole(context, {
    name: 'trades',
    group: PROCESSED_TRADES_GROUP,
    reads: [TOPICS.processedFills],
    writes: [TOPICS.processedTradeViews, TOPICS.processedTradeHeads, TOPICS.deadLetters],
    restore: (state) => {
      for (const partition of partitions) partition.restore(state);
    },
    take: (_, batch) => partitions[batch.partition]?.take(batch) ?? [],
  });
}

class Partition {
  readonly #number: number;
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof processedTradesMetrics>;
  readonly #numbering: Numbering;
  readonly #trades: ProcessedTrades;

  constructor(number: number, epoch: number, logger: Logger, metrics: ReturnType<typeof processedTradesMetrics>) {
    this.#number = number;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#numbering = new Numbering(epoch);
    this.#trades = new ProcessedTrades(this.#numbering);
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    this.#trades.restore(piecesOf(state, this.#prefix(TRADES_STATE)));
    this.#numbering.restore(piecesOf(state, this.#prefix(NUMBERING_STATE)));
  }

  take(batch: LogBatch): Step[] {
    const records: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of batch.records) this.#reduce(record, records, letters);
    if (letters.length > 0) this.#logger.warn({ records: letters.length, partition: this.#number }, 'fills parked');
    this.#metrics.open.set({ partition: String(this.#number) }, this.#trades.openFills);
    const outputs = [
      // First, so that whoever sees a record sees a head that is not older.
      { topic: TOPICS.processedTradeHeads, records: newestOfEach(records) },
      { topic: TOPICS.processedTradeViews, records },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    const state = [
      ...stateWrites(this.#prefix(TRADES_STATE), this.#trades.takeChanges()),
      ...stateWrites(this.#prefix(NUMBERING_STATE), this.#numbering.takeChanges()),
    ];
    return [{ outputs, state, next: endOf(batch) }];
  }

  #reduce(record: LogRecord, records: NewRecord[], letters: NewRecord[]): void {
    try {
      for (const { name, key, value } of this.#apply(record.value)) {
        this.#metrics.trades.inc({ kind: name === 'TradeView' ? 'fill' : 'withdrawal' });
        const bytes = name === 'TradeView' ? encodeMessage(name, value) : encodeMessage(name, value);
        records.push({ key, value: bytes });
      }
    } catch (error) {
      letters.push(deadLetter('processed-trade-record', TOPICS.processedFills, record, error));
    }
  }

  #apply(bytes: Uint8Array): NumberedRecord[] {
    const { name, value } = decodeMessage(bytes);
    if (name === 'FillWithdrawal') return this.#trades.withdraw(value);
    if (name === 'FillsResolved') return this.#trades.resolve(value.slot);
    if (name !== 'ProcessedFill') return [];
    this.#numbering.see(value.slot);
    // A backfill brings old fills; the trades channel is for new ones.
    const isOld = value.slot < this.#numbering.newestSlot - TRADE_AGE_SLOTS_MAX;
    return isOld ? [] : this.#trades.fill(value);
  }

  #prefix(state: string): string {
    return `${state}:${this.#number}:`;
  }
}

/** Registers the role's metrics. */
export function processedTradesMetrics(registry: Registry) {
  const registers = [registry];
  return {
    trades: new Counter({
      name: 'slotbook_processed_trades_total',
      help: 'messages of the trades at processed, by kind: fill or withdrawal',
      labelNames: ['kind'],
      registers,
    }),
    open: new Gauge({
      name: 'slotbook_processed_trades_open',
      help: 'published fills at processed that are neither confirmed nor withdrawn',
      labelNames: ['partition'],
      registers,
    }),
  };
}
