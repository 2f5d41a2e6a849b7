// The trades role: follows `events`, writes each fill once to `views.trades`. Outputs, position and the ids already seen
// are left behind in one commit per batch.

import { Counter, type Registry } from 'prom-client';
import type { LogBatch, Logger, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { deadLetter, endOf, piecesOf, type Step, startFollower, stateWrites } from '../follow/follower.ts';
import { tradeOf } from './projection.ts';
import { SeenEvents } from './seen.ts';

export const TRADES_GROUP = 'trades';
const SEEN_STATE = 'seen';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startTrades(context: RoleContext): Promise<RunningRole> {
  const metrics = tradesMetrics(context.metrics);
  const partitions = Array.from(
    { length: TOPICS.events.partitions },
    (_, number) => new Partition(number, context.logger, metrics),
  );
  return startFollower(context, {
    name: 'trades',
    group: TRADES_GROUP,
    reads: [TOPICS.events],
    writes: [TOPICS.tradeViews, TOPICS.deadLetters],
    restore: (state) => {
      for (const partition of partitions) partition.restore(state);
    },
    take: (_, batch) => partitions[batch.partition]?.take(batch) ?? [],
  });
}

class Partition {
  private readonly number: number;
  private readonly logger: Logger;
  private readonly metrics: ReturnType<typeof tradesMetrics>;
  private readonly seen = new SeenEvents();

  constructor(number: number, logger: Logger, metrics: ReturnType<typeof tradesMetrics>) {
    this.number = number;
    this.logger = logger;
    this.metrics = metrics;
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    this.seen.restore(piecesOf(state, `${SEEN_STATE}:${this.number}:`));
  }

  take(batch: LogBatch): Step[] {
    const trades: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of batch.records) this.project(record, trades, letters);
    this.metrics.trades.inc(trades.length);
    this.metrics.parked.inc(letters.length);
    if (letters.length > 0) this.logger.warn({ records: letters.length, partition: this.number }, 'fills parked');
    const outputs = [
      { topic: TOPICS.tradeViews, records: trades },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    const state = stateWrites(`${SEEN_STATE}:${this.number}:`, this.seen.takeChanges());
    return [{ outputs, state, next: endOf(batch) }];
  }

  private project(record: LogRecord, trades: NewRecord[], letters: NewRecord[]): void {
    try {
      const event = decodeEvent(record.value);
      const trade = tradeOf(event);
      if (trade === null || !this.seen.add(event.signature, event.eventIndex)) return;
      trades.push({ key: marketKey(trade), value: encodeMessage('TradeView', trade) });
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
