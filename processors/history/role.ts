// The sink role: stores events, samples and candles into the current database, and switches databases when the log says so
// (a rebuilt history replaces the old one).

import {
  type ClickHouse,
  followCurrent,
  followingRole,
  historySinkGroup,
  type RoleContext,
  type RunningRole,
  readCurrent,
  TopicFollower,
} from '../../platform/index.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { EventSink, type SinkContext, type SinkTarget } from './event-sink.ts';
import { sinkMetrics } from './metrics.ts';
import { REDUCED_TOPICS, ReducedSink } from './reduced-sink.ts';
import { RetractionSink } from './retraction-sink.ts';

/** Topics of the sinks, and the inputs of the reducers whose topics they store. */
export const SINK_TOPICS: readonly Topic[] = [
  TOPICS.events,
  TOPICS.retractions,
  TOPICS.book,
  TOPICS.samples,
  TOPICS.candleViews,
  TOPICS.vaults,
  TOPICS.margin,
  TOPICS.notifications,
  TOPICS.notificationMarks,
  TOPICS.deadLetters,
];

/**
 * Starts the sink. Rejects when the log cannot be read. `done` rejects when the log fails; while ClickHouse is away the
 * sink waits and keeps its offset.
 */
export async function startHistorySink(context: RoleContext, clickhouse: ClickHouse): Promise<RunningRole> {
  const { log } = context;
  await log.ensureTopics(SINK_TOPICS);
  const role = new SinkRole(context, clickhouse);
  const follower = new TopicFollower();
  follower.run((signal) => role.run(signal));
  return followingRole('sink', follower);
}

class SinkRole {
  readonly #context: RoleContext;
  readonly #clickhouse: ClickHouse;
  readonly #sinkContext: SinkContext;
  #events: EventSink | null = null;

  constructor(context: RoleContext, clickhouse: ClickHouse) {
    this.#context = context;
    this.#clickhouse = clickhouse;
    const metrics = sinkMetrics(context.metrics, async () => (await this.#events?.lag()) ?? new Map());
    this.#sinkContext = { ...context, metrics };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, logger } = this.#context;
    let current = await readCurrent(log, this.#clickhouse.database);
    while (!signal.aborted) {
      const moved = new AbortController();
      const target = current.write;
      const follower = followCurrent(log, logger, current, (now) => {
        current = now;
        if (now.write !== target) moved.abort();
      });
      try {
        await this.#storeInto(target, AbortSignal.any([signal, moved.signal]));
      } finally {
        await follower.stop();
      }
      if (!signal.aborted) logger.info({ from: target, to: current.write }, 'storing into another database');
    }
  }

  async #storeInto(database: string, signal: AbortSignal): Promise<void> {
    const own = database === this.#clickhouse.database;
    if (!own) await this.#clickhouse.prepare(database);
    const client = own ? this.#clickhouse.client : this.#clickhouse.connect(database);
    try {
      const group = historySinkGroup(database, this.#context.config.clickhouseDatabase);
      const settle = (table: string) => this.#clickhouse.settle(database, table);
      await runSinks(this.#sinkContext, { client, group, settle }, signal, (events) => {
        this.#events = events;
      });
    } finally {
      if (!own) await client.close();
    }
  }
}

/** All sinks of one database, until the signal aborts. Rejects with the first failure, after the others have stopped. */
export async function runSinks(
  context: SinkContext,
  target: SinkTarget,
  signal: AbortSignal,
  started: (events: EventSink) => void = () => {},
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const events = new EventSink(context, target);
  started(events);
  const retractions = new RetractionSink(context, target, events);
  const sinks = [events, retractions, ...REDUCED_TOPICS.map((reduced) => new ReducedSink(context, target, reduced))];
  const runs = sinks.map((sink) =>
    sink.run(either).catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  const outcomes = await Promise.allSettled(runs);
  if (signal.aborted) return;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
