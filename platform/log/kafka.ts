// The event log on Apache Kafka, for several machines. A commit first stores its outputs, then offsets and state in one record
// batch. A crash in between repeats the step, so outputs must be repeatable.

import type { Admin, ITopicConfig } from 'kafkajs';
import type { Logger } from 'pino';
import type { Topic } from '../../schemas/index.ts';
import type { Config } from '../config.ts';
import { createKafka, isAway } from './kafka/client.ts';
import { followPartitions } from './kafka/follow.ts';
import { GROUPS, KafkaGroups } from './kafka/groups.ts';
import { onceKnown } from './kafka/once-known.ts';
import { type Fetched, KafkaReader, type RawRecord } from './kafka/reader.ts';
import { KafkaWriter, REQUEST_BYTES_MAX } from './kafka/writer.ts';
import {
  APPEND_BYTES_MAX,
  byPartition,
  checkCommit,
  checkGroup,
  checkPartition,
  type PartitionAppend,
} from './limits.ts';
import { pagesOf } from './page.ts';
import {
  type Appended,
  type Commit,
  type EventLog,
  type FollowOptions,
  type GroupState,
  LogAwayError,
  type LogBatch,
  type LogPage,
  type LogRecord,
  type NewRecord,
} from './port.ts';
import type { TailLosses } from './tail-losses.ts';

const PAGE_RECORDS = 1000;
const HOUR_MS = 3_600_000;
/** A read requests this many bytes per record, up to the reader's maximum. */
const READ_BYTES_PER_RECORD = 4096;
const READ_BYTES_MIN = 65_536;
const READ_BYTES_MAX = 4 * 1024 * 1024;
/** Room for batch and record heads in addition to the bytes that limits.ts counts. */
const MESSAGE_BYTES_MAX = APPEND_BYTES_MAX + 1024 * 1024;
/** Compacted topics have small segments that close soon, because Kafka never compacts the open segment. */
const COMPACT_SEGMENT_BYTES = 32 * 1024 * 1024;
const COMPACT_SEGMENT_MS = 600_000;
const COMPACT_DIRTY_RATIO = '0.2';

/** How long the controller may take for new topics, as `onceKnown` waits; kafkajs allows 5 s, too little for a busy one. */
const CREATE_TIMEOUT_MS = 20_000;

/** Retries end after about `kafkaPatienceMs`. The last one may wait for kafkajs's 30 s, and a broker may hold it as long. */
const LATE_REQUESTS_MS = 60_000;

/** Connects to `config.kafkaBrokers`. Throws LogAwayError when none answers within `config.kafkaPatienceMs`. */
export async function open(config: Config, logger: Logger, losses: TailLosses): Promise<EventLog> {
  const log = new KafkaLog(config, logger.child({ log: 'kafka' }), losses);
  try {
    await log.connect();
  } catch (error) {
    await log.close().catch(() => {});
    throw named(error);
  }
  return log;
}

interface TopicAppend {
  readonly topic: Topic;
  readonly parts: readonly PartitionAppend[];
}

class KafkaLog implements EventLog {
  readonly kind = 'kafka';
  readonly #prefix: string;
  readonly #logger: Logger;
  readonly #losses: TailLosses;
  readonly #createReader: () => KafkaReader;
  readonly #admin: Admin;
  readonly #writer: KafkaWriter;
  readonly #reader: KafkaReader;
  readonly #groups: KafkaGroups;
  readonly #closing = new AbortController();
  readonly #known = new Map<string, Topic>();

  constructor(config: Config, logger: Logger, losses: TailLosses) {
    const { kafkaPatienceMs, kafkaTopicPrefix } = config;
    const patient = createKafka(config, logger, kafkaPatienceMs);
    const impatient = createKafka(config, logger, 0);
    this.#prefix = kafkaTopicPrefix;
    this.#logger = logger;
    this.#losses = losses;
    this.#createReader = () => new KafkaReader(impatient, logger, kafkaPatienceMs);
    this.#admin = patient.admin();
    this.#writer = new KafkaWriter(patient);
    this.#reader = this.#createReader();
    this.#groups = new KafkaGroups(this.#reader, this.#writer, this.#name(GROUPS), kafkaPatienceMs + LATE_REQUESTS_MS);
  }

  async connect(): Promise<void> {
    await this.#admin.connect();
    await this.ensureTopics([GROUPS]);
  }

  async ensureTopics(topics: readonly Topic[]): Promise<void> {
    this.#assertOpen();
    await reportingAway(() =>
      onceKnown(async () => {
        await this.#createMissing(topics);
        await this.#checkPartitions(topics);
      }),
    );
  }

  async append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    this.#assertOpen();
    if (records.length === 0) return [];
    const parts = byPartition(topic, records);
    return reportingAway(async () => {
      await this.#exists(topic);
      return this.#writer.append(this.#name(topic), parts);
    });
  }

  async bounds(topic: Topic, partition: number): Promise<{ earliest: bigint; next: bigint }> {
    this.#assertOpen();
    checkPartition(topic, partition);
    return reportingAway(async () => {
      await this.#exists(topic);
      return this.#reader.bounds(this.#name(topic), partition);
    });
  }

  async read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    this.#assertOpen();
    checkPartition(topic, partition);
    const bytes = Math.min(Math.max(maxRecords * READ_BYTES_PER_RECORD, READ_BYTES_MIN), READ_BYTES_MAX);
    const { records } = await reportingAway(async () => {
      await this.#exists(topic);
      return this.#reader.read(this.#name(topic), partition, from, bytes);
    });
    return records.slice(0, maxRecords).map((record) => toRecord(partition, record));
  }

  follow(options: FollowOptions): AsyncIterable<LogBatch> {
    this.#assertOpen();
    for (const partition of options.from.keys()) checkPartition(options.topic, partition);
    const starts = this.#starts(options);
    // The iteration reports the error.
    starts.catch(() => {});
    return this.#follow(starts, options);
  }

  followPages(options: FollowOptions): AsyncIterable<LogPage> {
    return pagesOf(this.follow(options));
  }

  async *#follow(starts: Promise<Map<number, bigint>>, options: FollowOptions): AsyncGenerator<LogBatch> {
    const { maxRecords = PAGE_RECORDS } = options;
    const cursors = await reportingAway(() => starts);
    const reader = this.#createReader();
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const { name: topic } = options.topic;
    const onLostTail = (partition: number, offset: bigint, next: bigint) =>
      this.#losses.report({ topic, partition, offset, next });
    const followed = { reader, topic: this.#name(options.topic), cursors, signal, logger: this.#logger, onLostTail };
    try {
      for await (const fetched of followPartitions(followed)) {
        for (const batch of batches(fetched, maxRecords)) {
          yield batch;
          if (signal.aborted) return;
        }
      }
    } finally {
      await reader.close();
    }
  }

  async commit(group: string, { outputs = [], ...step }: Commit): Promise<void> {
    this.#assertOpen();
    checkCommit(group, step);
    const appends = outputs.map(({ topic, records }) => ({ topic, parts: byPartition(topic, records) }));
    await reportingAway(async () => {
      for (const { topic } of appends) await this.#exists(topic);
      for (const some of inRequests(appends)) {
        await Promise.all(some.map(({ topic, parts }) => this.#writer.append(this.#name(topic), parts)));
        // Retries can hold the outputs back for kafkaPatienceMs.
        await step.fence?.check();
      }
      await this.#groups.store(group, step);
    });
  }

  async load(group: string): Promise<GroupState> {
    this.#assertOpen();
    checkGroup(group);
    return reportingAway(() => this.#groups.load(group));
  }

  async forget(group: string): Promise<void> {
    this.#assertOpen();
    checkGroup(group);
    await reportingAway(() => this.#groups.forget(group));
  }

  /**
   * Removes records before the cutoff in the topics of this process; the broker also does so on its own schedule. Only the
   * broker compacts.
   */
  async enforceRetention(nowMs: number): Promise<void> {
    this.#assertOpen();
    for (const topic of this.#known.values()) {
      const { retention } = topic;
      if (retention.kind !== 'time') continue;
      const cutoffMs = nowMs - retention.hours * HOUR_MS;
      await reportingAway(() => onceKnown(() => this.#removeBefore(this.#name(topic), cutoffMs)));
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#groups.close();
    await this.#writer.close();
    await Promise.allSettled([this.#reader.close(), this.#admin.disconnect()]);
  }

  async #removeBefore(topic: string, cutoffMs: number): Promise<void> {
    const offsets = await this.#admin.fetchTopicOffsetsByTimestamp(topic, cutoffMs);
    const low = new Map((await this.#admin.fetchTopicOffsets(topic)).map((one) => [one.partition, BigInt(one.low)]));
    const partitions = offsets.filter(({ partition, offset }) => BigInt(offset) > (low.get(partition) ?? 0n));
    if (partitions.length > 0) await this.#admin.deleteTopicRecords({ topic, partitions });
  }

  async #createMissing(topics: readonly Topic[]): Promise<void> {
    const existing = new Set(await this.#admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(this.#name(topic)));
    if (missing.length === 0) return;
    await this.#admin.createTopics({
      topics: missing.map((topic) => creation(this.#name(topic), topic)),
      waitForLeaders: false,
      timeout: CREATE_TIMEOUT_MS,
    });
  }

  async #checkPartitions(topics: readonly Topic[]): Promise<void> {
    const { topics: found } = await this.#admin.fetchTopicMetadata({
      topics: topics.map((topic) => this.#name(topic)),
    });
    for (const topic of topics) {
      const partitions = found.find(({ name }) => name === this.#name(topic))?.partitions.length;
      if (partitions !== topic.partitions) {
        throw new Error(
          `topic ${topic.name} has ${partitions} partitions in Kafka, ${topic.partitions} in the catalogue`,
        );
      }
      this.#known.set(topic.name, topic);
    }
  }

  async #starts({ topic, from }: FollowOptions): Promise<Map<number, bigint>> {
    await this.#exists(topic);
    const starts = await Promise.all(
      [...from].map(async ([partition, start]): Promise<[number, bigint]> => {
        if (typeof start === 'bigint') return [partition, start];
        const { earliest, next } = await this.#reader.bounds(this.#name(topic), partition);
        return [partition, start === 'earliest' ? earliest : next];
      }),
    );
    return new Map(starts);
  }

  /** kafkajs would retry an append to a missing topic as long as one to an unreachable broker. */
  async #exists(topic: Topic): Promise<void> {
    if (this.#known.has(topic.name)) return;
    const existing = await onceKnown(() => this.#admin.listTopics());
    if (!existing.includes(this.#name(topic))) {
      throw new Error(`topic ${topic.name} does not exist: call ensureTopics first`);
    }
    this.#known.set(topic.name, topic);
  }

  #name(topic: Topic): string {
    return this.#prefix + topic.name;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new Error('the event log is closed');
  }
}

async function reportingAway<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw named(error);
  }
}

function named(error: unknown): unknown {
  if (!isAway(error)) return error;
  return new LogAwayError(`no Kafka broker answers: ${(error as Error).message}`, { cause: error });
}

/** Appends in their order, of one request or a little more together. */
function* inRequests(appends: readonly TopicAppend[]): Generator<readonly TopicAppend[]> {
  let some: TopicAppend[] = [];
  let bytes = 0;
  for (const append of appends.filter(({ parts }) => parts.length > 0)) {
    some.push(append);
    for (const part of append.parts) bytes += part.bytes;
    if (bytes < REQUEST_BYTES_MAX) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}

function creation(name: string, { partitions, retention }: Topic): ITopicConfig {
  const settings: Record<string, string> =
    retention.kind === 'time'
      ? { 'cleanup.policy': 'delete', 'retention.ms': String(retention.hours * HOUR_MS) }
      : {
          'cleanup.policy': 'compact',
          'segment.bytes': String(COMPACT_SEGMENT_BYTES),
          'segment.ms': String(COMPACT_SEGMENT_MS),
          'min.cleanable.dirty.ratio': COMPACT_DIRTY_RATIO,
        };
  const configEntries = Object.entries({ ...settings, 'max.message.bytes': String(MESSAGE_BYTES_MAX) });
  return {
    topic: name,
    numPartitions: partitions,
    configEntries: configEntries.map(([key, value]) => ({ name: key, value })),
  };
}

function* batches({ partition, records, end }: Fetched, maxRecords: number): Generator<LogBatch> {
  for (let at = 0; at < records.length; at += maxRecords) {
    const page = records.slice(at, at + maxRecords);
    yield { partition, records: page.map((record) => toRecord(partition, record)), end };
  }
}

/** Only foreign writers leave out the value; it reads as empty. */
function toRecord(partition: number, { offset, key, value }: RawRecord): LogRecord {
  return { partition, offset, key, value: value ?? Buffer.alloc(0) };
}
