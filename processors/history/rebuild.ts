// Fills a second database from the log for a rebuild: the same sinks under their own group, and their progress.

import { Registry } from 'prom-client';
import { type ClickHouse, type EventLog, historySinkGroup, offsetKey, type RoleContext } from '../../platform/index.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { sinkMetrics } from './metrics.ts';
import { REDUCED_TOPICS } from './reduced-sink.ts';
import { runSinks } from './role.ts';

const TOPICS_STORED: readonly Topic[] = [
  TOPICS.events,
  TOPICS.retractions,
  ...REDUCED_TOPICS.map(({ topic }) => topic),
];
/** A partition may end in records that readers never get: a broker's own markers. */
const UNREADABLE_MAX = 2n;

/** Next offset by `topic/partition`: ends of the stored topics, or progress of a group. */
export type Offsets = ReadonlyMap<string, bigint>;

export async function endsOfLog(log: EventLog): Promise<Offsets> {
  const ends = new Map<string, bigint>();
  for (const topic of TOPICS_STORED) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      const { earliest, next } = await log.bounds(topic, partition);
      if (next > earliest) ends.set(offsetKey(topic.name, partition), next);
    }
  }
  return ends;
}

/** Records below `ends` that are not in the database yet; offsets emptied by compaction count too. */
export async function unstored(log: EventLog, group: string, ends: Offsets): Promise<bigint> {
  const { offsets } = await log.load(group, 'reader');
  let sum = 0n;
  for (const [key, end] of ends) {
    const left = end - (offsets.get(key) ?? 0n);
    if (left > UNREADABLE_MAX) sum += left;
  }
  return sum;
}

export interface RunningRebuild {
  readonly group: string;
  /** Rejects when the log fails. */
  readonly done: Promise<void>;
  /** Stores the block under way and ends. */
  stop(): Promise<void>;
}

/** Begins to fill a database made by `clickhouse.prepare`; continues an earlier run that ended or was killed. */
export function startRebuild(
  { config, log, logger }: Omit<RoleContext, 'metrics'>,
  clickhouse: ClickHouse,
  database: string,
): RunningRebuild {
  const group = historySinkGroup(database, config.clickhouseDatabase);
  const client = clickhouse.connect(database);
  const stopping = new AbortController();
  const metrics = sinkMetrics(new Registry(), () => Promise.resolve(new Map()));
  const settle = (table: string) => clickhouse.settle(database, table);
  const done = runSinks({ config, log, logger, metrics }, { client, group, settle }, stopping.signal).finally(() =>
    client.close(),
  );
  done.catch(() => {});
  return {
    group,
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}
