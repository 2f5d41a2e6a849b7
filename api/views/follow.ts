// Follows a topic for the life of the process. When the log fails, readers keep their state and continue after the last
// applied batch.

import {
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  readToEnd,
  type TopicFollower,
} from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

/** Tracks whether a follower has read everything that the topic contained at its start. */
export class CatchUp {
  /** End of each partition at the start; null before the start. */
  #goals: Map<number, bigint> | null = null;

  /** `from`: first offset to read of each partition; `next`: its present end. */
  begin(partitions: Iterable<{ readonly partition: number; readonly from: bigint; readonly next: bigint }>): void {
    this.#goals = new Map();
    for (const { partition, from, next } of partitions) if (from < next) this.#goals.set(partition, next);
  }

  /** Records that a batch was applied. */
  advance({ partition, records }: LogBatch): void {
    const goal = this.#goals?.get(partition);
    const last = records.at(-1);
    if (goal !== undefined && last && last.offset + 1n >= goal) this.#goals?.delete(partition);
  }

  /** True until the partition is read up to its end at the start. */
  isBehind(partition: number): boolean {
    return this.#goals?.has(partition) ?? true;
  }

  get isDone(): boolean {
    return this.#goals?.size === 0;
  }
}

export interface FollowOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly topic: Topic;
  readonly from: ReadonlyMap<number, bigint>;
  /** Applies one batch. An error that it throws ends the follower; it does not count as a failure of the log. */
  readonly take: (batch: LogBatch) => void | Promise<void>;
}

/** Follows a topic until the follower ends. */
export function followAlways(follower: TopicFollower, { logger, ...followed }: FollowOptions): void {
  const { topic } = followed;
  const onLogFailure = (error: unknown) =>
    logger.error({ topic: topic.name, error: String(error) }, 'the log cannot be followed, trying again');
  follower.follow({ ...followed, onLogFailure });
}

export interface ReadAndFollowOptions extends Pick<FollowOptions, 'log' | 'logger' | 'topic'> {
  /** `isNew`: appended after the start. An error that it throws rejects the start, or ends following. */
  readonly take: (record: LogRecord, isNew: boolean) => void;
}

const ONLY_PARTITION = 0;

/** Reads all of a topic with one partition, then follows it. Resolves when everything that the log held is taken. */
export async function readAndFollow(follower: TopicFollower, options: ReadAndFollowOptions): Promise<void> {
  const { log, logger, topic } = options;
  await log.ensureTopics([topic]);
  const next = await readToEnd({ log, topic, partition: ONLY_PARTITION }, (record) => options.take(record, false));
  const from = new Map([[ONLY_PARTITION, next]]);
  const take = ({ records }: LogBatch): void => {
    for (const record of records) options.take(record, true);
  };
  followAlways(follower, { log, logger, topic, from, take });
}

/** Follows a topic with one partition from its oldest record. Resolves once following has begun; `catchUp` says when it is at the end. */
export async function followFromOldest(
  follower: TopicFollower,
  catchUp: CatchUp,
  options: Omit<FollowOptions, 'from'>,
): Promise<void> {
  const { log, topic } = options;
  await log.ensureTopics([topic]);
  const { earliest, next } = await log.bounds(topic, ONLY_PARTITION);
  catchUp.begin([{ partition: ONLY_PARTITION, from: earliest, next }]);
  const take = async (batch: LogBatch): Promise<void> => {
    await options.take(batch);
    catchUp.advance(batch);
  };
  const from = new Map([[ONLY_PARTITION, earliest]]);
  followAlways(follower, { ...options, from, take });
}

/** Next offset of every partition: a follower from there takes only later records. */
export async function nextOffsets(log: EventLog, topic: Topic): Promise<ReadonlyMap<number, bigint>> {
  const partitions = Array.from({ length: topic.partitions }, (_, partition) => partition);
  const bounds = await Promise.all(partitions.map((partition) => log.bounds(topic, partition)));
  return new Map(bounds.map(({ next }, partition) => [partition, next]));
}
