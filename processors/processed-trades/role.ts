// The trades role at commitment processed: follows `fills.processed`, writes fills and withdrawals to `views.trades.processed`, the
// newest of each market also to `views.trade-heads.processed`. One commit per batch stores outputs, offset and state.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, TOPICS } from '../../schemas/index.ts';
import { type PartitionReducer, startPartitionRole } from '../follow/partition-role.ts';
import { firstEpoch, newestOfEach } from '../follow/reducer-role.ts';
import { Numbering, TRADE_AGE_SLOTS_MAX } from '../trades/numbering.ts';
import { type NumberedRecord, ProcessedTrades } from './processed-trades.ts';

const PROCESSED_TRADES_GROUP = 'trades.processed';

/** Starts the role. Rejects when the log cannot be read; `done` when the log fails. */
export async function startProcessedFills(context: RoleContext): Promise<RunningRole> {
  const metrics = processedTradesMetrics(context.metrics);
  return startPartitionRole(context, {
    name: 'trades',
    group: PROCESSED_TRADES_GROUP,
    reads: TOPICS.processedFills,
    writes: [TOPICS.processedTradeViews, TOPICS.processedTradeHeads],
    letter: 'processed-trade-record',
    reducer: async (partition) =>
      new ProcessedFills(partition, await firstEpoch(context.log, TOPICS.processedTradeViews, partition), metrics),
    outputs: (records) => [
      // First, so that whoever sees a record sees a head that is not older.
      { topic: TOPICS.processedTradeHeads, records: newestOfEach(records) },
      { topic: TOPICS.processedTradeViews, records },
    ],
  });
}

/** Numbers the fills and withdrawals of a partition. */
export class ProcessedFills implements PartitionReducer {
  readonly parts;
  readonly #metrics: ReturnType<typeof processedTradesMetrics>;
  readonly #partition: string;
  readonly #numbering: Numbering;
  readonly #trades: ProcessedTrades;

  constructor(partition: number, epoch: number, metrics: ReturnType<typeof processedTradesMetrics>) {
    this.#metrics = metrics;
    this.#partition = String(partition);
    this.#numbering = new Numbering(epoch);
    this.#trades = new ProcessedTrades(this.#numbering);
    this.parts = { trades: this.#trades, numbering: this.#numbering };
  }

  *take(record: LogRecord): Iterable<NewRecord> {
    for (const { name, key, value } of this.#apply(record.value)) {
      this.#metrics.trades.inc({ kind: name === 'TradeView' ? 'fill' : 'withdrawal' });
      yield { key, value: name === 'TradeView' ? encodeMessage(name, value) : encodeMessage(name, value) };
    }
    this.#metrics.open.set({ partition: this.#partition }, this.#trades.openFills);
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
