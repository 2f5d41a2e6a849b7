// The sink of what reducers publish, samples and candles, and of the states of vaults that ingest tells. Rows are absolute, so a block that is stored again after a
// crash changes nothing; the position is committed after the insert.

import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
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
  /** The table of each message that the topic holds. */
  readonly tables: Readonly<Partial<Record<MessageName, string>>>;
  /** The group that writes the topic, and what it reads: the topic is complete when the group has read all of it. */
  readonly reducer: { readonly group: string; readonly reads: readonly Topic[] };
}

export const REDUCED_TOPICS: readonly ReducedTopic[] = [
  {
    projection: 'samples',
    topic: TOPICS.samples,
    tables: { MarketSample: REDUCED_TABLES.samples },
    reducer: { group: 'samples', reads: [TOPICS.book] },
  },
  {
    projection: 'candles',
    topic: TOPICS.candleViews,
    tables: { CandleView: REDUCED_TABLES.candles },
    reducer: { group: 'candles', reads: [TOPICS.events, TOPICS.samples] },
  },
  {
    projection: 'vaults',
    topic: TOPICS.vaults,
    tables: { VaultState: REDUCED_TABLES.vaults, VaultDepositorState: REDUCED_TABLES.vaultDepositors },
    // Written by ingest straight from the chain: there is no topic that it would have to catch up with.
    reducer: { group: 'ingest', reads: [] },
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
    const { topic, tables } = this.#reduced;
    const rows = new Map<string, object[]>(Object.values(tables).map((table) => [table, []]));
    const parked: Parked[] = [];
    for (let number = 0; number < block.length; number++) {
      try {
        const { name, value } = decodeMessage(block.value(number));
        const own = rows.get(tables[name] ?? '');
        if (!own) throw new RangeError(`${name} does not belong into ${topic.name}`);
        own.push(rowOf(value));
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        parked.push({ record: block.record(number), reason: 'invalid-datum', detail });
      }
    }
    for (const [table, own] of rows) await this.#insert(table, own, signal);
    await log.commit(this.#target.group, {
      outputs: deadLetters(topic, parked),
      positions: block.bounds.map(({ partition, to }) => ({ topic: topic.name, partition, next: to + 1n })),
    });
    for (const [table, own] of rows) metrics.rows.inc({ table }, own.length);
    for (const { reason } of parked) metrics.parked.inc({ reason });
    for (const { partition, to } of block.bounds) this.#stored.set(partition, to + 1n);
    await this.#built.stored(this.#stored);
  }

  async #insert(table: string, rows: readonly object[], signal: AbortSignal): Promise<void> {
    if (rows.length === 0) return;
    const { logger, metrics } = this.#context;
    const clickhouse_settings = { max_partitions_per_insert_block: '0', wait_end_of_query: 1 } as const;
    await persist({ logger, metrics, signal }, { table, rows: rows.length }, () =>
      this.#target.client.insert({ table, values: [...rows], format: 'JSONEachRow', clickhouse_settings }),
    );
  }
}

/** Columns are named like the message's fields; 64-bit and wider numbers go as text, keys in base58. */
export function rowOf(value: object): Readonly<Record<string, string | number | null>> {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeCase(name), cellOf(field)]));
}

function cellOf(field: unknown): string | number | null {
  if (typeof field === 'bigint') return String(field);
  return field instanceof Uint8Array ? bs58.encode(field) : (field as string | number | null);
}
