// Stores samples, candles and notifications of the reducers, and vault states of ingest. Rows are absolute, so storing a block twice after a
// crash changes nothing; the offset is committed after the insert.

import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import { errorText, offsetKey } from '../../platform/index.ts';
import { decodeMessage, type MessageName, REDUCED_TABLES, snakeCase, TOPICS, type Topic } from '../../schemas/index.ts';
import { commitStep } from '../follow/step-commit.ts';
import { type Block, cutBlocks, readAhead } from './blocks.ts';
import { BuiltWatch, type HistoryPart } from './built.ts';
import { deadLetters, type SinkContext, type SinkTarget } from './event-sink.ts';
import { persist } from './persist.ts';
import type { Parked } from './rows.ts';

export interface ReducedTopic {
  readonly part: HistoryPart;
  readonly topic: Topic;
  /** The table of each message of the topic. */
  readonly tables: Readonly<Partial<Record<MessageName, string>>>;
  /** The group that writes the topic, and its inputs: the topic is complete when the group has read all of them. */
  readonly reducer: { readonly group: string; readonly reads: readonly Topic[] };
}

export const REDUCED_TOPICS: readonly ReducedTopic[] = [
  {
    part: 'samples',
    topic: TOPICS.samples,
    tables: { MarketSample: REDUCED_TABLES.samples },
    reducer: { group: 'samples', reads: [TOPICS.book] },
  },
  {
    part: 'candles',
    topic: TOPICS.candleViews,
    tables: { CandleView: REDUCED_TABLES.candles },
    reducer: { group: 'candles', reads: [TOPICS.events, TOPICS.samples, TOPICS.retractions] },
  },
  {
    part: 'vaults',
    topic: TOPICS.vaults,
    tables: { VaultState: REDUCED_TABLES.vaults, VaultDepositorState: REDUCED_TABLES.vaultDepositors },
    // Ingest writes it straight from the chain, so it has no input topic.
    reducer: { group: 'ingest', reads: [] },
  },
  {
    part: 'notifications',
    topic: TOPICS.notifications,
    tables: { Notification: REDUCED_TABLES.notifications },
    reducer: { group: 'notifications', reads: [TOPICS.events, TOPICS.margin] },
  },
  {
    part: 'notificationMarks',
    topic: TOPICS.notificationMarks,
    tables: {
      NotificationRead: REDUCED_TABLES.notificationReads,
      NotificationDelivery: REDUCED_TABLES.notificationDeliveries,
    },
    // Wallets and their pushes write it.
    reducer: { group: 'push', reads: [] },
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
    const { part, topic } = reduced;
    this.#built = new BuiltWatch({ part, topic, log, logger, client: target.client });
  }

  /** Stores until the signal aborts. Rejects when the log fails; while ClickHouse is away it waits. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, logger, config } = this.#context;
    const { topic } = this.#reduced;
    const { offsets } = await log.load(this.#target.group);
    const from = new Map<number, bigint | 'earliest'>();
    for (let partition = 0; partition < topic.partitions; partition++) {
      const offset = offsets.get(offsetKey(topic.name, partition));
      if (offset !== undefined) this.#stored.set(partition, offset);
      from.set(partition, offset ?? 'earliest');
    }
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const watching = this.#watchReducer(either);
    watching.catch((error: unknown) => {
      if (!either.aborted)
        logger.error({ err: error, topic: topic.name }, 'completeness stays unknown until a restart');
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

  /** Waits for the reducer: the topic's end means complete only after the reducer has read its inputs of the start. */
  async #watchReducer(signal: AbortSignal): Promise<void> {
    const { log, logger } = this.#context;
    const { group, reads } = this.#reduced.reducer;
    const ends = new Map<string, bigint>();
    for (const topic of reads) {
      for (let partition = 0; partition < topic.partitions; partition++) {
        const { earliest, next } = await log.bounds(topic, partition);
        if (next > earliest) ends.set(offsetKey(topic.name, partition), next);
      }
    }
    for (;;) {
      signal.throwIfAborted();
      const { offsets } = await log.load(group, 'reader');
      for (const [key, end] of ends) if ((offsets.get(key) ?? 0n) >= end) ends.delete(key);
      if (ends.size === 0) break;
      logger.debug({ group, waiting: [...ends.keys()] }, 'the reducer has not read all its inputs yet');
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
        if (!own) throw new RangeError(`${name} does not belong to ${topic.name}`);
        own.push(rowOf(value));
      } catch (error) {
        const detail = errorText(error);
        parked.push({ record: block.record(number), reason: 'invalid-datum', detail });
      }
    }
    for (const [table, own] of rows) await this.#insert(table, own, signal);
    await commitStep(log, this.#target.group, {
      outputs: deadLetters(topic, parked),
      offsets: block.bounds.map(({ partition, to }) => ({ topic: topic.name, partition, next: to + 1n })),
      state: [],
    });
    for (const [table, own] of rows) metrics.rows.inc({ table }, own.length);
    for (const { reason } of parked) metrics.parked.inc({ reason });
    for (const { partition, to } of block.bounds) this.#stored.set(partition, to + 1n);
    await this.#built.stored(this.#stored);
  }

  async #insert(table: string, rows: readonly object[], signal: AbortSignal): Promise<void> {
    if (rows.length === 0) return;
    const { logger, metrics, mayWrite } = this.#context;
    const persisting = { logger, metrics, signal, ...(mayWrite && { mayWrite }) };
    const clickhouse_settings = { max_partitions_per_insert_block: '0', wait_end_of_query: 1 } as const;
    await persist(persisting, { table, rows: rows.length }, () =>
      this.#target.client.insert({ table, values: [...rows], format: 'JSONEachRow', clickhouse_settings }),
    );
  }
}

/** Columns by field: as many as the schemas of messages have fields. */
const columns = new Map<string, string>();

/** Columns have the names of the message's fields; 64-bit and wider numbers go as text, keys in base58. */
function rowOf(value: object): Readonly<Record<string, string | number | null>> {
  const row: Record<string, string | number | null> = {};
  for (const [name, field] of Object.entries(value)) row[columnOf(name)] = cellOf(field);
  return row;
}

function columnOf(name: string): string {
  let column = columns.get(name);
  if (column === undefined) {
    column = snakeCase(name);
    columns.set(name, column);
  }
  return column;
}

function cellOf(field: unknown): string | number | null {
  if (typeof field === 'bigint') return String(field);
  return field instanceof Uint8Array ? bs58.encode(field) : (field as string | number | null);
}
