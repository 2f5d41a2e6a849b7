// Filling a second database from the log, for a rebuild: the same sinks under a group of their own, and how far they are.

import { Registry } from 'prom-client';
import {
  type ClickHouse,
  type EventLog,
  historySinkGroup,
  positionKey,
  type RoleContext,
} from '../../platform/index.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { sinkMetrics } from './metrics.ts';
import { REDUCED_TOPICS } from './reduced-sink.ts';
import { runSinks } from './role.ts';

const TOPICS_STORED: readonly Topic[] = [TOPICS.events, ...REDUCED_TOPICS.map(({ topic }) => topic)];
/** A partition may end in records that no reader is given: markers that a broker adds for itself. */
const UNREADABLE_MAX = 2n;

/** Ends of the stored topics, or what a group has stored of them: next offset by `topic/partition`. */
export type Offsets = ReadonlyMap<string, bigint>;

export async function endsOfLog(log: EventLog): Promise<Offsets> {
  const ends = new Map<string, bigint>();
  for (const topic of TOPICS_STORED) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      const { earliest, next } = await log.bounds(topic, partition);
      if (next > earliest) ends.set(positionKey(topic.name, partition), next);
    }
  }
  return ends;
}

/** Records below `ends` that are not in the database yet; offsets that compaction left empty count too. */
export async function unstored(log: EventLog, group: string, ends: Offsets): Promise<bigint> {
  const { positions } = await log.load(group);
  let sum = 0n;
  for (const [key, end] of ends) {
    const left = end - (positions.get(key) ?? 0n);
    if (left > UNREADABLE_MAX) sum += left;
  }
  return sum;
}

export interface Filling {
  readonly group: string;
  /** Rejects when the log fails. */
  readonly done: Promise<void>;
  /** Stores what is under way and ends. */
  stop(): Promise<void>;
}

/** Begins to fill a database that `clickhouse.prepare` has made; goes on where an earlier run was ended or killed. */
export function startFilling(
  { config, log, logger }: Omit<RoleContext, 'metrics'>,
  clickhouse: ClickHouse,
  database: string,
): Filling {
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
