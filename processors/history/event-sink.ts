// The event sink: follows the topic `events` and stores each event as a row, exactly once. It commits a block's bounds and id
// (the intent) before sending; they make its tokens. Offset and intent change together after ClickHouse acknowledged the block.

import { setTimeout as sleep } from 'node:timers/promises';
import { type EventLog, type Logger, type Outputs, offsetKey, type RoleContext } from '../../platform/index.ts';
import { encodeMessage, RegistryClient, TOPICS, type Topic } from '../../schemas/index.ts';
import { commitStep } from '../follow/step-commit.ts';
import { AccountDays, type DayStore } from './account-days.ts';
import { type Block, cutBlocks, readAhead, readBlock } from './blocks.ts';
import { BuiltWatch } from './built.ts';
import { type FetchSchema, SchemaCatalogue } from './catalogue.ts';
import { blockName, decodeIntent, encodeIntent, type Intent, newIntent } from './intent.ts';
import type { SinkMetrics } from './metrics.ts';
import type { Persisting } from './persist.ts';
import { type Parked, type Plan, planInserts } from './rows.ts';
import { BlockWriter } from './writer.ts';

const PARTITIONS: readonly number[] = Array.from({ length: TOPICS.events.partitions }, (_, partition) => partition);
const INTENT_KEY = 'intent';
/** At most two blocks are in memory: one is stored while the next is prepared. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;
/** Each insert makes a part of each table, and ClickHouse must merge parts: few large ones cost half of many small ones. */
const INSERT_ROWS_MAX = 100_000;
const FOLLOW_RECORDS_MAX = 5_000;
const REGISTRY_RETRY_MS = 250;

/** Database of a sink, and the consumer group with its offsets. */
export interface SinkTarget extends DayStore {
  readonly group: string;
}

export type SinkContext = Pick<RoleContext, 'config' | 'log' | 'logger' | 'mayWrite'> & {
  readonly metrics: SinkMetrics;
};

interface Ready {
  readonly block: Block;
  readonly intent: Intent;
  readonly plan: Plan;
}

export class EventSink {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #metrics: SinkMetrics;
  readonly #catalogue: SchemaCatalogue;
  readonly #target: SinkTarget;
  readonly #mayWrite: RoleContext['mayWrite'];
  readonly #built: BuiltWatch;
  readonly #days: AccountDays;
  /** Offset to read next, by partition; everything below it is stored. */
  readonly #stored = new Map<number, bigint>();
  /** The state of earlier runs is loaded, and their open block stored. */
  #isOpen = false;
  readonly #insertRows: number;
  readonly #limits: { readonly rowsMax: number; readonly bytesMax: number; readonly delayMs: number };

  constructor({ config, log, logger, metrics, mayWrite }: SinkContext, target: SinkTarget) {
    this.#log = log;
    this.#mayWrite = mayWrite;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#catalogue = new SchemaCatalogue(fetcherOf(config.schemaRegistryUrl));
    this.#target = target;
    this.#built = new BuiltWatch({ part: 'events', topic: TOPICS.events, log, logger, client: target.client });
    this.#days = new AccountDays(target);
    this.#insertRows = Math.min(config.sinkMaxRows, INSERT_ROWS_MAX);
    this.#limits = { rowsMax: config.sinkMaxRows, bytesMax: BLOCK_BYTES_MAX, delayMs: config.sinkMaxDelayMs };
  }

  /** The account sums of the database. */
  get days(): AccountDays {
    return this.#days;
  }

  /** Whether this run has stored everything before these offsets. */
  hasStored(ends: ReadonlyMap<number, bigint>): boolean {
    return this.#isOpen && [...ends].every(([partition, end]) => (this.#stored.get(partition) ?? 0n) >= end);
  }

  /** Stores until the signal aborts. Rejects when the log fails; while ClickHouse is away it waits and keeps its offset. */
  async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const mayWrite = this.#mayWrite;
    const persisting = { logger: this.#logger, metrics: this.#metrics, signal: either, ...(mayWrite && { mayWrite }) };
    const writer = new BlockWriter(this.#target.client, persisting);
    let reducing: Promise<void> | undefined;
    try {
      await this.#days.load(persisting);
      await this.#resume(writer, persisting);
      await this.#built.begin(this.#stored);
      this.#isOpen = true;
      reducing = this.#days.run(persisting, () => this.#built.isComplete);
      // It ends with the signal only.
      reducing.catch(() => {});
      const from = new Map(
        PARTITIONS.map((partition) => [partition, this.#stored.get(partition) ?? ('earliest' as const)]),
      );
      const pages = this.#log.followPages({
        topic: TOPICS.events,
        from,
        signal: either,
        maxRecords: FOLLOW_RECORDS_MAX,
      });
      const blocks = cutBlocks(pages[Symbol.asyncIterator](), this.#limits);
      for await (const ready of readAhead(this.#prepared(blocks, either))) {
        const value = encodeIntent(ready.intent);
        await this.#log.commit(this.#target.group, { state: [{ key: INTENT_KEY, value }] });
        await this.#store(writer, ready, persisting);
        if (either.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      failed.abort();
      await reducing?.catch(() => {});
    }
  }

  /** Loads the offset of the last run and finishes the block that it left open. */
  async #resume(writer: BlockWriter, persisting: Persisting): Promise<void> {
    const { offsets, state } = await this.#log.load(this.#target.group);
    for (const partition of PARTITIONS) {
      const offset = offsets.get(offsetKey(TOPICS.events.name, partition));
      if (offset !== undefined) this.#stored.set(partition, offset);
    }
    const open = state.get(INTENT_KEY);
    if (!open) return;
    const intent = decodeIntent(open);
    this.#logger.info({ block: blockName(intent) }, 'sending the unfinished block again');
    const block = await readBlock(this.#log, TOPICS.events, intent.bounds);
    await this.#store(writer, await this.#prepare(block, intent, persisting.signal), persisting);
  }

  /** Prepares a block while the previous one is stored. */
  async *#prepared(blocks: AsyncIterable<Block>, signal: AbortSignal): AsyncGenerator<Ready> {
    for await (const block of blocks) {
      yield await this.#prepare(block, newIntent(block.bounds, this.#insertRows), signal);
    }
  }

  async #prepare(block: Block, intent: Intent, signal: AbortSignal): Promise<Ready> {
    await this.#resolveSchemas(block, signal);
    const plan = await planInserts(this.#catalogue, block, intent);
    return { block, intent, plan };
  }

  async #store(writer: BlockWriter, { block, intent, plan }: Ready, persisting: Persisting): Promise<void> {
    const finish = this.#metrics.blockSeconds.startTimer();
    await this.#days.storing(plan.days, persisting);
    const parked = [...plan.parked, ...(await writer.store(plan.inserts))];
    this.#days.stored(plan.days);
    await commitStep(this.#log, this.#target.group, {
      outputs: deadLetters(TOPICS.events, parked),
      offsets: intent.bounds.map(({ partition, to }) => ({ topic: TOPICS.events.name, partition, next: to + 1n })),
      state: [{ key: INTENT_KEY, value: null }],
    });
    finish();
    this.#report(block, parked);
    await this.#built.stored(this.#stored);
  }

  /** Resolves new ids at the registry, and waits while it is away: an unknown id parks its records for good. */
  async #resolveSchemas(block: Block, signal: AbortSignal): Promise<void> {
    for (let number = 0; number < block.length; number++) {
      const unresolved = () =>
        this.#catalogue.unresolvedId(block.bytes(number), block.start(number), block.end(number));
      for (let id = unresolved(); id !== null; id = unresolved()) {
        try {
          await this.#catalogue.resolve(id);
        } catch (error) {
          this.#metrics.retries.inc();
          this.#logger.warn({ err: error, id }, 'schema registry does not answer; trying again');
          await sleep(REGISTRY_RETRY_MS, undefined, { signal });
        }
      }
    }
  }

  #report(block: Block, parked: readonly Parked[]): void {
    this.#metrics.blocks.inc();
    this.#metrics.blockRows.observe(block.length);
    for (const { reason } of parked) this.#metrics.parked.inc({ reason });
    for (const { partition, to } of block.bounds) this.#stored.set(partition, to + 1n);
    if (parked.length > 0) this.#logger.warn({ records: parked.length, first: parked[0]?.detail }, 'records parked');
  }

  /** Records in the log that are not stored yet, by partition. */
  async lag(): Promise<ReadonlyMap<number, bigint>> {
    const lags = PARTITIONS.map(async (partition): Promise<[number, bigint]> => {
      const { earliest, next } = await this.#log.bounds(TOPICS.events, partition);
      return [partition, next - (this.#stored.get(partition) ?? earliest)];
    });
    return new Map(await Promise.all(lags));
  }
}

/** Without a registry every id is unknown. */
function fetcherOf(url: string): FetchSchema {
  if (url === '') return () => Promise.resolve(null);
  const registry = new RegistryClient(url);
  return (id) => registry.schema(id);
}

/** Dead letters named by partition and offset, so that a repeated block parks the same letters. */
export function deadLetters(topic: Topic, parked: readonly Parked[]): readonly Outputs[] {
  if (parked.length === 0) return [];
  const records = parked.map(({ record, reason, detail }) => ({
    key: reason,
    value: encodeMessage('DeadLetter', {
      reason,
      detail,
      slot: 0,
      origin: `${topic.name}/${record.partition}/${record.offset}`,
      bytes: record.value,
    }),
  }));
  return [{ topic: TOPICS.deadLetters, records }];
}
