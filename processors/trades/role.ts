// The trades role: follows `events`, writes each fill once to `views.trades`. Outputs, position and the ids already seen
// are left behind in one commit per batch.

import { Counter, type Registry } from 'prom-client';
import {
  type Commit,
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  type NewRecord,
  positionKey,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { tradeOf } from './projection.ts';
import { type SeenChunk, SeenEvents } from './seen.ts';

export const TRADES_GROUP = 'trades';
const SEEN_STATE = 'seen';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startTrades(context: RoleContext): Promise<RunningRole> {
  const { log } = context;
  await log.ensureTopics([TOPICS.events, TOPICS.tradeViews, TOPICS.deadLetters]);
  const role = new TradesRole(context);
  const from = await role.restore();
  const stopping = new AbortController();
  const done = role.run(from, stopping.signal);
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: 'trades',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

class TradesRole {
  private readonly log: EventLog;
  private readonly logger: Logger;
  private readonly metrics: ReturnType<typeof tradesMetrics>;
  private readonly seen = Array.from({ length: TOPICS.events.partitions }, () => new SeenEvents());

  constructor({ log, logger, metrics }: RoleContext) {
    this.log = log;
    this.logger = logger;
    this.metrics = tradesMetrics(metrics);
  }

  async restore(): Promise<Map<number, bigint | 'earliest'>> {
    const { positions, state } = await this.log.load(TRADES_GROUP);
    const from = new Map<number, bigint | 'earliest'>();
    for (const [partition, seen] of this.seen.entries()) {
      from.set(partition, positions.get(positionKey(TOPICS.events.name, partition)) ?? 'earliest');
      const prefix = `${SEEN_STATE}:${partition}:`;
      const chunks: SeenChunk[] = [];
      for (const [key, bytes] of state)
        if (key.startsWith(prefix)) chunks.push({ name: key.slice(prefix.length), bytes });
      seen.restore(chunks);
    }
    return from;
  }

  async run(from: Map<number, bigint | 'earliest'>, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of this.log.follow({ topic: TOPICS.events, from, signal })) {
        const step = this.take(batch);
        if (step) await this.log.commit(TRADES_GROUP, step);
        if (signal.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private take({ partition, records }: LogBatch): Commit | null {
    const last = records.at(-1);
    const seen = this.seen[partition];
    if (!last || !seen) return null;
    const trades: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of records) this.project(partition, record, seen, trades, letters);
    this.metrics.trades.inc(trades.length);
    this.metrics.parked.inc(letters.length);
    if (letters.length > 0) this.logger.warn({ records: letters.length, partition }, 'fills parked');
    return {
      outputs: [
        { topic: TOPICS.tradeViews, records: trades },
        { topic: TOPICS.deadLetters, records: letters },
      ].filter(({ records: written }) => written.length > 0),
      positions: [{ topic: TOPICS.events.name, partition, next: last.offset + 1n }],
      state: seen.takeChanges().map(({ name, bytes }) => ({ key: `${SEEN_STATE}:${partition}:${name}`, value: bytes })),
    };
  }

  private project(
    partition: number,
    record: LogRecord,
    seen: SeenEvents,
    trades: NewRecord[],
    letters: NewRecord[],
  ): void {
    try {
      const event = decodeEvent(record.value);
      const trade = tradeOf(event);
      if (trade === null || !seen.add(event.signature, event.eventIndex)) return;
      trades.push({ key: marketKey(trade), value: encodeMessage('TradeView', trade) });
    } catch (error) {
      const reason = 'trade-record';
      const detail = error instanceof Error ? error.message : String(error);
      const origin = `${TOPICS.events.name}/${partition}/${record.offset}`;
      const value = encodeMessage('DeadLetter', { reason, detail, slot: 0, origin, bytes: record.value });
      letters.push({ key: reason, value });
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
