// The trades role: follows `events`, writes each fill once and numbered to `views.trades`, the newest of each market also to
// `views.trade-heads`. One commit per batch stores outputs, offset, the ids of applied events and the numbers.

import { Counter, type Registry } from 'prom-client';
import {
  hasProcessedBooks,
  type LogBatch,
  type Logger,
  type LogRecord,
  type NewRecord,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { startAccountOrders } from '../account-orders/role.ts';
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
import { startProcessedFills } from '../processed-trades/role.ts';
import { Numbering, TRADE_AGE_SLOTS_MAX } from './numbering.ts';
import { SeenEvents } from './seen.ts';
import { fillOf } from './trade-view.ts';

export const TRADES_GROUP = 'trades';
const SEEN_STATE = 'seen';
const NUMBERING_STATE = 'numbering';

/** Starts the role: fills, at processed too where they run, and the orders of accounts. Rejects when the log cannot be read; `done` when the log fails. */
export async function startTrades(context: RoleContext): Promise<RunningRole> {
  const parts = [startFills, startAccountOrders, ...(hasProcessedBooks(context.config) ? [startProcessedFills] : [])];
  const running: RunningRole[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((part) => part.stop()));
  };
  try {
    for (const start of parts) running.push(await start(context));
  } catch (error) {
    await stop();
    throw error;
  }
  const done = Promise.all(running.map((part) => part.done)).then(() => undefined);
  return { name: 'trades', endpoints: {}, done, stop };
}

async function startFills(context: RoleContext): Promise<RunningRole> {
  const { log, logger } = context;
  const metrics = tradesMetrics(context.metrics);
  await log.ensureTopics([TOPICS.tradeViews]);
  const partitions: Partition[] = [];
  for (let number = 0; number < TOPICS.events.partitions; number += 1) {
    partitions.push(new Partition(number, await firstEpoch(log, TOPICS.tradeViews, number), logger, metrics));
  }
  return startReducerRole(context, {
    name: 'trades',
    group: TRADES_GROUP,
    reads: [TOPICS.events],
    writes: [TOPICS.tradeViews, TOPICS.tradeHeads, TOPICS.deadLetters],
    restore: (state) => {
      for (const partition of partitions) partition.restore(state);
    },
    take: (_, batch) => partitions[batch.partition]?.take(batch) ?? [],
  });
}

class Partition {
  readonly #number: number;
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof tradesMetrics>;
  readonly #seen = new SeenEvents();
  readonly #numbering: Numbering;

  constructor(number: number, epoch: number, logger: Logger, metrics: ReturnType<typeof tradesMetrics>) {
    this.#number = number;
    this.#numbering = new Numbering(epoch);
    this.#logger = logger;
    this.#metrics = metrics;
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    this.#seen.restore(piecesOf(state, `${SEEN_STATE}:${this.#number}:`));
    this.#numbering.restore(piecesOf(state, `${NUMBERING_STATE}:${this.#number}:`));
  }

  take(batch: LogBatch): Step[] {
    const trades: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of batch.records) this.#reduce(record, trades, letters);
    this.#metrics.trades.inc(trades.length);
    this.#metrics.parked.inc(letters.length);
    if (letters.length > 0) this.#logger.warn({ records: letters.length, partition: this.#number }, 'fills parked');
    const outputs = [
      // First, so that whoever sees a fill sees a head that is not older.
      { topic: TOPICS.tradeHeads, records: newestOfEach(trades) },
      { topic: TOPICS.tradeViews, records: trades },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    const state = [
      ...stateWrites(`${SEEN_STATE}:${this.#number}:`, this.#seen.takeChanges()),
      ...stateWrites(`${NUMBERING_STATE}:${this.#number}:`, this.#numbering.takeChanges()),
    ];
    return [{ outputs, state, next: endOf(batch) }];
  }

  #reduce(record: LogRecord, trades: NewRecord[], letters: NewRecord[]): void {
    try {
      const event = decodeEvent(record.value);
      this.#numbering.see(event.slot);
      // A backfill brings old fills; the trades channel is for new ones.
      if (event.slot < this.#numbering.newestSlot - TRADE_AGE_SLOTS_MAX) return;
      const fill = fillOf(event);
      if (fill === null || !this.#seen.add(event.signature, event.eventIndex)) return;
      const key = marketKey(fill);
      trades.push({ key, value: encodeMessage('TradeView', { ...fill, ...this.#numbering.next(key) }) });
      this.#numbering.take(key); // After the encoding: a fill that cannot be written takes no number.
    } catch (error) {
      letters.push(deadLetter('trade-record', TOPICS.events, record, error));
    }
  }
}

function tradesMetrics(registry: Registry) {
  const registers = [registry];
  return {
    trades: new Counter({ name: 'slotbook_trades_total', help: 'fills published', registers }),
    parked: new Counter({ name: 'slotbook_trades_parked_total', help: 'records put into dead-letters', registers }),
  };
}
