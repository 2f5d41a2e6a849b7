// Follows partitions of a topic: one long fetch open at each partition leader, the next one sent before the records of
// the last are handed over.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Fetched, isOutOfRange, type KafkaReader } from './reader.ts';

export interface Followed {
  readonly reader: KafkaReader;
  readonly topic: string;
  /** Next offset of each partition; moved on as records are handed over. */
  readonly cursors: Map<number, bigint>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

type Answer = { readonly nodeId: string; readonly fetched: readonly Fetched[] } | { readonly error: unknown };

/** Longest a broker holds a fetch without news; it bounds how late a closed connection is noticed. */
const WAIT_MS = 500;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;

/** Yields what was fetched, partition by partition, until the signal aborts. A broker that is away is waited for. */
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
      if (news.length === 0) news.push(...(await stepOver(followed, answer.fetched)));
      else await openFetches(followed, open);
      retryMs = RETRY_MIN_MS;
      for (const fetched of news) {
        yield fetched;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      open = new Map();
      if (isOutOfRange(error)) {
        if (await toOldestKept(followed)) continue;
      } else {
        logger.debug({ err: error, topic }, 'following again');
        await reader.reset();
      }
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

/** Moves the cursors behind what was fetched; returns what holds records. */
function advance(cursors: Map<number, bigint>, fetched: readonly Fetched[]): Fetched[] {
  for (const { partition, next } of fetched) cursors.set(partition, next);
  return fetched.filter(({ records }) => records.length > 0);
}

/**
 * An answer without any record although a partition has more: compaction emptied a batch. Only a fetch of that
 * partition alone can tell this from a share of the answer that others used up.
 */
async function stepOver({ reader, topic, cursors }: Followed, fetched: readonly Fetched[]): Promise<Fetched[]> {
  const news: Fetched[] = [];
  for (const { partition, next, end } of fetched) {
    if (next < end) news.push(await reader.read(topic, partition, next));
  }
  return advance(cursors, news);
}

/** Retention overtook the reader: goes on at the oldest record kept. False when a cursor lies behind the end instead. */
async function toOldestKept({ reader, topic, cursors, logger }: Followed): Promise<boolean> {
  let moved = false;
  for (const [partition, cursor] of cursors) {
    const { earliest } = await reader.bounds(topic, partition);
    if (cursor >= earliest) continue;
    logger.warn(
      { topic, partition, from: cursor.toString(), to: earliest.toString() },
      'records expired before they were read',
    );
    cursors.set(partition, earliest);
    moved = true;
  }
  return moved;
}
