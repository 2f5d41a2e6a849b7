// Reads Kafka partitions by offset, and continues after a broker was away.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { type Cluster, createCluster, type FetchedMessage } from './client.ts';

export interface RawRecord {
  readonly offset: bigint;
  readonly key: string;
  /** null marks a deleted key of a compacted topic. */
  readonly value: Buffer | null;
  readonly headers: FetchedMessage['headers'];
}

export interface Fetched {
  readonly partition: number;
  readonly records: readonly RawRecord[];
  /** Offset of the next read. */
  readonly next: bigint;
  /** End of the partition as the broker saw it. */
  readonly end: bigint;
}

interface KafkaError {
  readonly name?: string;
  readonly type?: string;
  readonly retriable?: boolean;
  readonly partition?: number;
  readonly message?: string;
}

const CONSUMER_REPLICA_ID = -1;
/** This log uses no transactions. */
const READ_UNCOMMITTED = 0;
const FETCH_BYTES_MAX = 4 * 1024 * 1024;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;
/** Not every broker knows a new topic at once. */
const UNKNOWN_TOPIC_WITHIN_MS = 5000;

export class KafkaReader {
  readonly #kafka: Kafka;
  readonly #logger: Logger;
  readonly #patienceMs: number;
  readonly #closing = new AbortController();
  #connecting: Promise<Cluster> | null = null;

  /**
   * `kafka` must not retry by itself, because this class retries with a fresh connection. `patienceMs`: how long a single read
   * waits for a broker; following waits without a limit.
   */
  constructor(kafka: Kafka, logger: Logger, patienceMs: number) {
    this.#kafka = kafka;
    this.#logger = logger;
    this.#patienceMs = patienceMs;
  }

  /** Oldest stored offset and next offset. */
  async bounds(topic: string, partition: number): Promise<{ earliest: bigint; next: bigint }> {
    return this.#retrying(topic, async (cluster) => {
      const [earliest, next] = await Promise.all([
        offsetOf(cluster, topic, partition, true),
        offsetOf(cluster, topic, partition, false),
      ]);
      return { earliest, next };
    });
  }

  /** Records at or after `from`, or from the oldest one; none at the end. */
  async read(topic: string, partition: number, from: bigint, maxBytes = FETCH_BYTES_MAX): Promise<Fetched> {
    let cursor = from;
    while (true) {
      const at = cursor;
      const fetched = await this.#retrying(topic, async (cluster) => {
        const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
        if (nodeId === undefined) throw new Error(`${topic} has no partition ${partition}`);
        return fetchFrom(cluster, nodeId, topic, new Map([[partition, at]]), 0, maxBytes);
      }).catch((error: KafkaError) => {
        if (isOutOfRange(error)) return null;
        throw error;
      });
      if (fetched === null) {
        const { earliest, next } = await this.bounds(topic, partition);
        if (cursor >= earliest) return { partition, records: [], next: cursor, end: next };
        cursor = earliest;
        continue;
      }
      const [only] = fetched;
      if (only === undefined) throw new Error(`${topic}/${partition}: the answer lacks the partition`);
      if (only.records.length > 0 || only.next >= only.end) return only;
      // Compaction can leave an empty batch. In a fetch of one partition there is no other reason, so skip it.
      cursor = only.next > cursor ? only.next : cursor + 1n;
    }
  }

  /** Leaders of the partitions: node id to partitions. */
  async leaders(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<string, number[]>> {
    const cluster = await this.#connected(topic);
    await cluster.refreshMetadataIfNecessary();
    return new Map(Object.entries(cluster.findLeaderForPartitions(topic, partitions)));
  }

  /** One fetch from one leader. The broker answers when it has records, or after `waitMs`. Does not retry. */
  async fetch(nodeId: string, topic: string, cursors: ReadonlyMap<number, bigint>, waitMs: number): Promise<Fetched[]> {
    return fetchFrom(await this.#connected(topic), nodeId, topic, cursors, waitMs, FETCH_BYTES_MAX);
  }

  /** Drops the connection; the next call opens a new one. */
  async reset(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = null;
    await connecting?.then((cluster) => cluster.disconnect()).catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.reset();
  }

  async #connected(topic: string): Promise<Cluster> {
    if (this.#closing.signal.aborted) throw new Error('the event log is closed');
    this.#connecting ??= connect(this.#kafka);
    const cluster = await this.#connecting;
    await cluster.addTargetTopic(topic);
    return cluster;
  }

  async #retrying<T>(topic: string, action: (cluster: Cluster) => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    let waitMs = RETRY_MIN_MS;
    while (true) {
      try {
        return await action(await this.#connected(topic));
      } catch (error) {
        const within = isUnknownTopic(error) ? UNKNOWN_TOPIC_WITHIN_MS : this.#patienceMs;
        const late = performance.now() - startedMs > within;
        if (this.#closing.signal.aborted || isOutOfRange(error) || late || !isTemporary(error))
          throw named(error, topic);
        this.#logger.debug({ err: error, topic }, 'retrying to read');
        await this.reset();
        await sleep(waitMs);
        waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
      }
    }
  }
}

async function connect(kafka: Kafka): Promise<Cluster> {
  const cluster = createCluster(kafka);
  await cluster.connect();
  return cluster;
}

async function fetchFrom(
  cluster: Cluster,
  nodeId: string,
  topic: string,
  cursors: ReadonlyMap<number, bigint>,
  waitMs: number,
  maxBytes: number,
): Promise<Fetched[]> {
  const broker = await cluster.findBroker({ nodeId });
  const { responses } = await broker.fetch({
    replicaId: CONSUMER_REPLICA_ID,
    isolationLevel: READ_UNCOMMITTED,
    maxWaitTime: waitMs,
    minBytes: 1,
    maxBytes,
    topics: [
      {
        topic,
        partitions: [...cursors].map(([partition, cursor]) => ({
          partition,
          fetchOffset: cursor.toString(),
          maxBytes,
        })),
      },
    ],
  });
  return responses.flatMap(({ partitions }) =>
    partitions.map(({ partition, highWatermark, messages }) =>
      toFetched(partition, cursors.get(partition) ?? 0n, BigInt(highWatermark), messages),
    ),
  );
}

function toFetched(partition: number, cursor: bigint, end: bigint, messages: readonly FetchedMessage[]): Fetched {
  const records: RawRecord[] = [];
  let next = cursor;
  for (const { offset: text, key, value, headers, isControlRecord } of messages) {
    const offset = BigInt(text);
    // A fetch begins at a batch boundary and may return earlier records.
    if (offset < cursor) continue;
    next = offset + 1n;
    if (!isControlRecord) records.push({ offset, key: key?.toString() ?? '', value, headers });
  }
  return { partition, records, next, end };
}

async function offsetOf(cluster: Cluster, topic: string, partition: number, fromBeginning: boolean): Promise<bigint> {
  const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
  const found = answer?.partitions.find((one) => one.partition === partition);
  if (found === undefined) throw new Error(`${topic} has no partition ${partition}`);
  return BigInt(found.offset);
}

export function isOutOfRange(error: unknown): boolean {
  return (error as KafkaError).name === 'KafkaJSOffsetOutOfRange';
}

function isUnknownTopic(error: unknown): boolean {
  return (error as KafkaError).type === 'UNKNOWN_TOPIC_OR_PARTITION';
}

function isTemporary(error: unknown): boolean {
  const { name = '', retriable } = error as KafkaError;
  return name.startsWith('KafkaJS') && (retriable !== false || name !== 'KafkaJSNonRetriableError');
}

function named(error: unknown, topic: string): unknown {
  if (!isUnknownTopic(error)) return error;
  return new Error(`topic ${topic} does not exist: call ensureTopics first`, { cause: error });
}
