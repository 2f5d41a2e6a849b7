// The sink of what reducers publish: samples and candles. Rows are absolute, so a block that is stored again after a
// crash changes nothing; the position is committed after the insert.

import { setTimeout as sleep } from 'node:timers/promises';
import { positionKey } from '../../platform/index.ts';
import { decodeMessage, type MessageName, REDUCED_TABLES, snakeCase, TOPICS, type Topic } from '../../schemas/index.ts';
import { type Block, cutBlocks, readAhead } from './blocks.ts';
import { BuiltWatch, type Projection } from './built.ts';
import { deadLetters, type SinkContext, type SinkTarget } from './event-sink.ts';
import { persist } from './persist.ts';
import type { Parked } from './rows.ts';

export interface ReducedTopic {
  readonly projection: Projection;
  readonly topic: Topic;
  readonly message: MessageName;
  readonly table: string;
  /** The group that writes the topic, and what it reads: the topic is complete when the group has read all of it. */
  readonly reducer: { readonly group: string; readonly reads: readonly Topic[] };
}

export const REDUCED_TOPICS: readonly ReducedTopic[] = [
  {
    projection: 'samples',
    topic: TOPICS.samples,
    message: 'MarketSample',
    table: REDUCED_TABLES.samples,
    reducer: { group: 'samples', reads: [TOPICS.book] },
  },
  {
    projection: 'candles',
    topic: TOPICS.candleViews,
    message: 'CandleView',
    table: REDUCED_TABLES.candles,
    reducer: { group: 'candles', reads: [TOPICS.events, TOPICS.samples] },
  },
];

const BLOCK_ROWS_MAX = 20_000;
const BLOCK_BYTES_MAX = 8 * 1024 * 1024;
const REDUCER_POLL_MS = 500;

export class ReducedSink {
  readonly #context: SinkContext;
  readonly #target: SinkTarget;
  readonly #reduced: ReducedTopic;
  readonly #built: BuiltWatch;
  readonly #stored = new Map<number, bigint>();

  constructor(context: SinkContext, target: SinkTarget, reduced: ReducedTopic) {
    this.#context = context;
    this.#target = target;
    this.#reduced = reduced;
    const { log, logger } = context;
    const { projection, topic } = reduced;
    this.#built = new BuiltWatch({ projection, topic, log, logger, client: target.client });
  }

  /** Stores until the signal aborts. Rejects when the log fails; ClickHouse being away is waited out. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, logger, config } = this.#context;
    const { topic } = this.#reduced;
    const { positions } = await log.load(this.#target.group);
    const from = new Map<number, bigint | 'earliest'>();
    for (let partition = 0; partition < topic.partitions; partition++) {
      const position = positions.get(positionKey(topic.name, partition));
      if (position !== undefined) this.#stored.set(partition, position);
      from.set(partition, position ?? 'earliest');
    }
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const watching = this.#watchReducer(either);
    watching.catch((error: unknown) => {
      if (!either.aborted) logger.error({ err: error, topic: topic.name }, 'completeness is not known until a restart');
    });
    try {
      const limits = { rowsMax: BLOCK_ROWS_MAX, bytesMax: BLOCK_BYTES_MAX, delayMs: config.sinkMaxDelayMs };
      const pages = log.followPages({ topic, from, signal: either });
      for await (const block of readAhead(cutBlocks(pages[Symbol.asyncIterator](), limits))) {
        await this.#store(block, either);
        if (either.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      failed.abort();
    }
  }

  /** The topic's end says something only when the reducer has read what its own topics had at the start. */
  async #watchReducer(signal: AbortSignal): Promise<void> {
    const { log, logger } = this.#context;
    const { group, reads } = this.#reduced.reducer;
    const ends = new Map<string, bigint>();
    for (const topic of reads) {
      for (let partition = 0; partition < topic.partitions; partition++) {
        const { earliest, next } = await log.bounds(topic, partition);
        if (next > earliest) ends.set(positionKey(topic.name, partition), next);
      }
    }
    for (;;) {
      signal.throwIfAborted();
      const { positions } = await log.load(group);
      for (const [key, end] of ends) if ((positions.get(key) ?? 0n) >= end) ends.delete(key);
      if (ends.size === 0) break;
      logger.debug({ group, waiting: [...ends.keys()] }, 'the reducer has not read everything yet');
      await sleep(REDUCER_POLL_MS, undefined, { signal });
    }
    await this.#built.begin(this.#stored);
  }

  async #store(block: Block, signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#context;
    const { topic, table, message } = this.#reduced;
    const rows: object[] = [];
    const parked: Parked[] = [];
    for (let number = 0; number < block.length; number++) {
      try {
        const { name, value } = decodeMessage(block.value(number));
        if (name !== message) throw new RangeError(`${name} does not belong into ${topic.name}`);
        rows.push(rowOf(value));
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        parked.push({ record: block.record(number), reason: 'invalid-datum', detail });
      }
    }
    await this.#insert(rows, signal);
    await log.commit(this.#target.group, {
      outputs: deadLetters(topic, parked),
      positions: block.bounds.map(({ partition, to }) => ({ topic: topic.name, partition, next: to + 1n })),
    });
    metrics.rows.inc({ table }, rows.length);
    for (const { reason } of parked) metrics.parked.inc({ reason });
    for (const { partition, to } of block.bounds) this.#stored.set(partition, to + 1n);
    await this.#built.stored(this.#stored);
  }

  async #insert(rows: readonly object[], signal: AbortSignal): Promise<void> {
    if (rows.length === 0) return;
    const { logger, metrics } = this.#context;
    const { table } = this.#reduced;
    const clickhouse_settings = { max_partitions_per_insert_block: '0', wait_end_of_query: 1 } as const;
    await persist({ logger, metrics, signal }, { table, rows: rows.length }, () =>
      this.#target.client.insert({ table, values: [...rows], format: 'JSONEachRow', clickhouse_settings }),
    );
  }
}

/** Columns are named like the message's fields; 64-bit and wider numbers go as text. */
export function rowOf(value: object): Readonly<Record<string, string | number | null>> {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [snakeCase(name), typeof field === 'bigint' ? String(field) : field]),
  );
}
