// Follows partitions of a topic with one long fetch per partition leader. It sends the next fetch before it yields the
// records of the last one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Fetched, isOutOfRange, type KafkaReader } from './reader.ts';

export interface Followed {
  readonly reader: KafkaReader;
  readonly topic: string;
  /** Next offset of each partition; advances as records are yielded. */
  readonly cursors: Map<number, bigint>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The partition ends at `next`, before the offset: the follower goes on there. */
  readonly onLostTail: (partition: number, offset: bigint, next: bigint) => void;
}

type Answer = { readonly nodeId: string; readonly fetched: readonly Fetched[] } | { readonly error: unknown };

/** Longest time that a broker keeps an empty fetch open; limits how late a closed connection is noticed. */
const WAIT_MS = 500;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;

/** Yields fetched records by partition until the signal aborts. Waits for an unreachable broker. */
export async function* followPartitions(followed: Followed): AsyncGenerator<Fetched> {
  const { reader, topic, cursors, signal, logger } = followed;
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  let open = new Map<string, Promise<Answer>>();
  let retryMs = RETRY_MIN_MS;
  while (!signal.aborted) {
    try {
      await openFetches(followed, open);
      const answer = await Promise.race([...open.values(), aborted]);
      if (answer === null) return;
      if ('error' in answer) throw answer.error;
      open.delete(answer.nodeId);
      const news = advance(cursors, answer.fetched);
      if (news.length === 0) news.push(...(await skipEmptyBatch(followed, answer.fetched)));
      else await openFetches(followed, open);
      retryMs = RETRY_MIN_MS;
      for (const fetched of news) {
        yield fetched;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      open = new Map();
      // With fresh metadata, because a broker that leads no more may lack the newest records.
      await reader.reset();
      if (isOutOfRange(error)) {
        if (await toKept(followed)) continue;
      } else logger.debug({ err: error, topic }, 'retrying to follow');
      await Promise.race([sleep(retryMs), aborted]);
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    }
  }
}

async function openFetches({ reader, topic, cursors }: Followed, open: Map<string, Promise<Answer>>): Promise<void> {
  const leaders = await reader.leaders(topic, [...cursors.keys()]);
  for (const [nodeId, partitions] of leaders) {
    if (open.has(nodeId)) continue;
    const wanted = new Map(partitions.map((partition) => [partition, cursors.get(partition) ?? 0n]));
    open.set(
      nodeId,
      reader.fetch(nodeId, topic, wanted, WAIT_MS).then(
        (fetched) => ({ nodeId, fetched }),
        (error: unknown) => ({ error }),
      ),
    );
  }
}

/**
 * Advances the cursors past the fetched records; returns the partitions with news. While a partition moves, its old and its new
 * leader may answer with the same records.
 */
function advance(cursors: Map<number, bigint>, fetched: readonly Fetched[]): Fetched[] {
  const news: Fetched[] = [];
  for (const { records, ...answer } of fetched) {
    const cursor = cursors.get(answer.partition) ?? 0n;
    const isSeen = (records[0]?.offset ?? cursor) < cursor;
    const unseen = isSeen ? records.filter(({ offset }) => offset >= cursor) : records;
    if (answer.next > cursor) cursors.set(answer.partition, answer.next);
    if (unseen.length > 0) news.push({ ...answer, records: unseen });
  }
  return news;
}

/**
 * Handles an empty answer for a partition with more records: compaction may have emptied a batch. Only a fetch of that
 * partition alone distinguishes this from an answer that other partitions have filled.
 */
async function skipEmptyBatch({ reader, topic, cursors }: Followed, fetched: readonly Fetched[]): Promise<Fetched[]> {
  const news: Fetched[] = [];
  for (const { partition, end } of fetched) {
    const cursor = cursors.get(partition) ?? 0n;
    if (cursor < end) news.push(await reader.read(topic, partition, cursor));
  }
  return advance(cursors, news);
}

/**
 * Continues at the oldest record where retention overtook the reader, and at the end where the partition lost its tail. False when
 * every offset is within its partition, or brokers do not answer.
 */
async function toKept({ reader, topic, cursors, logger, onLostTail }: Followed): Promise<boolean> {
  let moved = false;
  for (const [partition, cursor] of cursors) {
    const bounds = await reader.bounds(topic, partition).catch(() => null);
    if (bounds === null) break;
    const { earliest, next } = bounds;
    if (cursor >= earliest && cursor <= next) continue;
    cursors.set(partition, cursor < earliest ? earliest : next);
    moved = true;
    if (cursor > next) onLostTail(partition, cursor, next);
    else
      logger.warn(
        { topic, partition, from: cursor.toString(), to: earliest.toString() },
        'records expired before they were read',
      );
  }
  return moved;
}
