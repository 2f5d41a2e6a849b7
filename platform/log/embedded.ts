// The event log in a folder: lmdb, any number of processes on one machine, no server.
// One transaction writes the outputs, offsets and state of a commit, so offsets never run ahead of outputs or behind.
// One file: the methods of the port are short, and share the handles of the open environment.

import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Topic } from '../../schemas/index.ts';
import type { Config } from '../config.ts';
import { compact } from './embedded/compaction.ts';
import { type Environment, openEnvironment, put } from './embedded/environment.ts';
import {
  countOf,
  decodeOffset,
  encodeOffset,
  fenceKey,
  groupKey,
  groupRange,
  offsetOf,
  packed,
  parseGroupKey,
  partitionEnd,
  partitionKey,
  RecordEncoder,
  recordKey,
  type StoredRecord,
} from './embedded/layout.ts';
import type { PageRange } from './embedded/pages.ts';
import { type Expendable, removeOld, removeOldest } from './embedded/retention.ts';
import { byPartition, checkCommit, checkGroup, checkPartition, type PartitionAppend } from './limits.ts';
import {
  type Appended,
  type Commit,
  type EventLog,
  type Fence,
  type FollowOptions,
  type GroupState,
  type LogBatch,
  type LogPage,
  type LogRecord,
  type NewRecord,
  offsetKey,
  SupersededError,
} from './port.ts';
import type { TailLosses } from './tail-losses.ts';

const FOLDER = 'log';
const PAGE_RECORDS = 1000;
const RETENTION_PERIOD_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The size cap keeps younger records, because readers and their last snapshots need them. */
const CAP_KEEPS_MS = 10 * 60_000;
const MEGABYTE = 1_000_000;
const TOPIC_ID_MAX = 0xffff;

/** A topic as the store records it. */
interface StoredTopic {
  readonly id: number;
  readonly partitions: number;
  readonly retention: Topic['retention'];
  readonly sizeCap?: Topic['sizeCap'];
}

interface NamedTopic extends StoredTopic {
  readonly name: string;
}

/** A PartitionAppend in stored form. */
interface StoredAppend {
  readonly partition: number;
  readonly records: readonly StoredRecord[];
}

/** Reads a page of a partition whose end is `end`; `last` is the offset of the page's last record. */
type ReadPage<Page> = (range: PageRange, end: bigint) => { readonly page: Page; readonly last: bigint | undefined };

/** Opens the log in `<dataDir>/log`. */
export async function open(config: Config, logger: Logger, losses: TailLosses): Promise<EventLog> {
  const environment = openEnvironment(join(config.dataDir, FOLDER));
  return new EmbeddedLog(environment, config, logger.child({ log: 'embedded' }), losses);
}

class EmbeddedLog implements EventLog {
  readonly kind = 'embedded';
  readonly #environment: Environment;
  readonly #logger: Logger;
  readonly #losses: TailLosses;
  readonly #topics = new Map<string, StoredTopic>();
  readonly #encoder = new RecordEncoder();
  readonly #closing = new AbortController();
  readonly #retentionTimer: NodeJS.Timeout;
  readonly #trimTimer: NodeJS.Timeout | null = null;
  readonly #bytesMax: number;
  #retention: Promise<void> | null = null;

  constructor(environment: Environment, { logMaxMb, logTrimMs }: Config, logger: Logger, losses: TailLosses) {
    this.#environment = environment;
    this.#logger = logger;
    this.#losses = losses;
    this.#bytesMax = logMaxMb === 0 ? Number.POSITIVE_INFINITY : logMaxMb * MEGABYTE;
    if (logTrimMs > 0 && environment.releaseReadPages()) {
      this.#trimTimer = setInterval(() => environment.releaseReadPages(), logTrimMs).unref();
    }
    this.#retentionTimer = setInterval(() => this.#retainInBackground(), RETENTION_PERIOD_MS).unref();
  }

  async ensureTopics(topics: readonly Topic[]): Promise<void> {
    const { topics: store } = this.#environment;
    this.#assertOpen();
    await this.#environment.write(0, () => {
      let nextId = 0;
      for (const { value } of store.getRange({})) nextId = Math.max(nextId, parseTopic(value).id + 1);
      for (const topic of topics) {
        const key = Buffer.from(topic.name);
        const bytes = store.getBinary(key);
        const stored = bytes === undefined ? null : parseTopic(bytes);
        if (stored !== null && stored.partitions !== topic.partitions) {
          throw new Error(
            `topic ${topic.name} has ${stored.partitions} partitions in the log, ${topic.partitions} in the catalogue`,
          );
        }
        const { partitions, retention, sizeCap } = topic;
        const id = stored?.id ?? nextId++;
        if (id > TOPIC_ID_MAX) throw new Error('event log: too many topics');
        put(store, key, Buffer.from(JSON.stringify({ id, partitions, retention, sizeCap } satisfies StoredTopic)));
      }
    });
    this.#topics.clear();
  }

  async append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    this.#assertOpen();
    if (records.length === 0) return [];
    const stored = this.#topic(topic);
    const groups = byPartition(topic, records);
    const appends = groups.map(packedAppend);
    return this.#environment.write(sizeOf(groups), () => appends.map((append) => this.#put(stored, append)));
  }

  async bounds(topic: Topic, partition: number): Promise<{ earliest: bigint; next: bigint }> {
    this.#assertOpen();
    checkPartition(topic, partition);
    const { id } = this.#topic(topic);
    return this.#environment.read(() => {
      const next = this.#next(id, partition);
      const range = { start: recordKey(id, partition, 0n), end: partitionEnd(id, partition), limit: 1 };
      for (const { key, value } of this.#environment.records.getRange(range))
        return { earliest: offsetOf(key) - BigInt(countOf(value) - 1), next };
      return { earliest: next, next };
    });
  }

  async read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    this.#assertOpen();
    checkPartition(topic, partition);
    const { id } = this.#topic(topic);
    const { pages } = this.#environment;
    return this.#environment.read(() => pages.records({ topicId: id, partition, from, maxRecords }));
  }

  follow(options: FollowOptions): AsyncIterable<LogBatch> {
    return this.#follow(options, (range, end) => {
      const records = this.#environment.pages.records(range);
      return { page: { partition: range.partition, records, end }, last: records.at(-1)?.offset };
    });
  }

  followPages(options: FollowOptions): AsyncIterable<LogPage> {
    return this.#follow(options, (range, end) => {
      const page = this.#environment.pages.page(range, end);
      return { page, last: page.offsets.at(-1) };
    });
  }

  #follow<Page>(options: FollowOptions, read: ReadPage<Page>): AsyncIterable<Page> {
    this.#assertOpen();
    const { id } = this.#topic(options.topic);
    const cursors = new Map<number, bigint>();
    this.#environment.read(() => {
      for (const [partition, from] of options.from) {
        checkPartition(options.topic, partition);
        cursors.set(partition, from === 'earliest' ? 0n : this.#start(options.topic.name, id, partition, from));
      }
    });
    return this.#pages(id, cursors, options, read);
  }

  async *#pages<Page>(
    topicId: number,
    cursors: Map<number, bigint>,
    options: FollowOptions,
    read: ReadPage<Page>,
  ): AsyncGenerator<Page> {
    const environment = this.#environment;
    const { maxRecords = PAGE_RECORDS } = options;
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const stop = (): void => environment.wake(topicId);
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const seen = environment.changesOf(topicId);
        let [isIdle, isMore] = [true, false];
        for (const [partition, from] of cursors) {
          const found = environment.read(() => {
            const end = this.#next(topicId, partition);
            return end > from ? { end, ...read({ topicId, partition, from, maxRecords }, end) } : null;
          });
          if (found?.last === undefined) continue;
          isIdle = false;
          const next = found.last + 1n;
          isMore ||= next < found.end;
          cursors.set(partition, next);
          yield found.page;
          if (signal.aborted) return;
        }
        // A page up to the end of its partition needs no second look: a later commit is announced.
        const isChanged = isMore || environment.changesOf(topicId) !== seen;
        if (isIdle || !isChanged) await environment.changed(seen, topicId);
        else await yieldToOthers();
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async commit(group: string, step: Commit): Promise<void> {
    this.#assertOpen();
    checkCommit(group, step);
    const { outputs = [], offsets = [], state = [], fence } = step;
    let bytes = state.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    const appends = outputs.map(({ topic, records }) => {
      const groups = byPartition(topic, records);
      bytes += sizeOf(groups);
      return { stored: this.#topic(topic), groups: groups.map(packedAppend) };
    });
    const { groups: store } = this.#environment;
    await this.#environment.write(bytes, () => {
      if (fence !== undefined) this.#claim(group, fence);
      for (const { stored, groups } of appends) for (const append of groups) this.#put(stored, append);
      for (const { topic, partition, next } of offsets) {
        put(store, groupKey(group, 'offset', offsetKey(topic, partition)), encodeOffset(next));
      }
      for (const { key, value } of state) {
        const name = groupKey(group, 'state', key);
        if (value === null) store.removeSync(name);
        else put(store, name, value);
      }
    });
  }

  async load(group: string): Promise<GroupState> {
    this.#assertOpen();
    checkGroup(group);
    const offsets = new Map<string, bigint>();
    const state = new Map<string, Uint8Array>();
    this.#environment.read(() => {
      for (const { key, value } of this.#environment.groups.getRange(groupRange(group))) {
        const { entry, name } = parseGroupKey(key);
        if (entry === 'offset') offsets.set(name, decodeOffset(value));
        else state.set(name, value);
      }
    });
    return { offsets, state };
  }

  async forget(group: string): Promise<void> {
    this.#assertOpen();
    checkGroup(group);
    const { groups: store } = this.#environment;
    await this.#environment.write(0, () => {
      for (const key of [...store.getKeys(groupRange(group))]) store.removeSync(key);
    });
  }

  async enforceRetention(nowMs: number): Promise<void> {
    this.#assertOpen();
    // Runs are sequential. A call during a run waits for it and then gets its own run.
    const previous = this.#retention ?? Promise.resolve();
    const run = previous.then(() => this.#retain(nowMs));
    this.#retention = run.catch(() => {});
    await run;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearInterval(this.#retentionTimer);
    if (this.#trimTimer) clearInterval(this.#trimTimer);
    await this.#retention;
    await this.#environment.release();
  }

  /** Called inside a write transaction, so that no other process can take the next offset. */
  #put({ id, retention }: StoredTopic, { partition, records }: StoredAppend): Appended {
    const { partitions, records: store } = this.#environment;
    const counter = partitionKey(id, partition);
    const first = decodeOffset(partitions.getBinary(counter));
    const nowMs = Date.now();
    const encoder = this.#encoder;
    const start = Number(first);
    // Compaction removes single records.
    const areAlone = retention.kind === 'compact';
    let taken = 0;
    while (taken < records.length) {
      const { count, bytes } = encoder.next(records, taken, nowMs, areAlone);
      taken += count;
      put(store, encoder.key(id, partition, start + taken - 1), bytes);
    }
    const next = BigInt(start + taken);
    put(partitions, counter, encodeOffset(next));
    this.#environment.wrote(id);
    return { partition, first, last: next - 1n };
  }

  /** Called inside the write transaction of a commit. Throws SupersededError. */
  #claim(group: string, fence: Fence): void {
    const { groups } = this.#environment;
    const key = fenceKey(group, fence.role);
    const newest = decodeOffset(groups.getBinary(key));
    if (newest > fence.epoch) throw new SupersededError(group, fence, newest);
    put(groups, key, encodeOffset(fence.epoch));
  }

  #next(topicId: number, partition: number): bigint {
    return decodeOffset(this.#environment.partitions.getBinary(partitionKey(topicId, partition)));
  }

  /** An offset beyond the end comes from elsewhere: records and committed offsets are lost together. */
  #start(topic: string, topicId: number, partition: number, from: bigint | 'latest'): bigint {
    const next = this.#next(topicId, partition);
    if (from === 'latest') return next;
    if (from > next) this.#losses.report({ topic, partition, offset: from, next });
    return from < next ? from : next;
  }

  #topic(topic: Topic): StoredTopic {
    const known = this.#topics.get(topic.name);
    if (known !== undefined) return known;
    const bytes = this.#environment.read(() => this.#environment.topics.getBinary(Buffer.from(topic.name)));
    if (bytes === undefined) throw new Error(`topic ${topic.name} does not exist: call ensureTopics first`);
    const stored = parseTopic(bytes);
    this.#topics.set(topic.name, stored);
    return stored;
  }

  async #retain(nowMs: number): Promise<void> {
    this.#environment.forgetDeadReaders();
    const stored = this.#environment.read(() =>
      [...this.#environment.topics.getRange({})].map(({ key, value }) => ({
        name: Buffer.from(key).toString(),
        ...parseTopic(value),
      })),
    );
    for (const { name, id, partitions, retention } of stored) {
      for (let partition = 0; partition < partitions && !this.#closing.signal.aborted; partition++) {
        const removed =
          retention.kind === 'time'
            ? await removeOld(this.#environment, id, partition, nowMs - retention.hours * HOUR_MS)
            : await compact(this.#environment, id, partition, this.#closing.signal);
        if (removed > 0) this.#logger.debug({ topic: name, partition, removed }, 'retention');
      }
    }
    await this.#keepSize(stored, nowMs);
  }

  /** Removes views first, then the inputs of books and rankings. Events and dead letters stay. */
  async #keepSize(topics: readonly NamedTopic[], nowMs: number): Promise<void> {
    const environment = this.#environment;
    for (const turn of ['first', 'last'] as const) {
      if (environment.recordBytes() <= this.#bytesMax || this.#closing.signal.aborted) return;
      const from = topics.filter(({ sizeCap }) => sizeCap === turn).flatMap(partitionsOf);
      const removed = await removeOldest(environment, from, this.#bytesMax, nowMs - CAP_KEEPS_MS);
      if (removed > 0) this.#logger.debug({ topics: turn, removed }, 'removed records for the size cap');
    }
    const bytes = environment.recordBytes();
    if (bytes <= this.#bytesMax) return;
    const logMaxMb = this.#bytesMax / MEGABYTE;
    this.#logger.warn(
      { mb: Math.round(bytes / MEGABYTE), logMaxMb },
      'the log is larger than its cap: nothing more may go',
    );
  }

  #retainInBackground(): void {
    this.enforceRetention(Date.now()).catch((error: unknown) => this.#logger.warn({ err: error }, 'retention failed'));
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new Error('the event log is closed');
  }
}

function partitionsOf({ name, id, partitions }: NamedTopic): Expendable[] {
  return Array.from({ length: partitions }, (_, partition) => ({ topic: name, topicId: id, partition }));
}

function packedAppend({ partition, records }: PartitionAppend): StoredAppend {
  return { partition, records: records.map(packed) };
}

function parseTopic(bytes: Uint8Array): StoredTopic {
  return JSON.parse(Buffer.from(bytes).toString()) as StoredTopic;
}

function sizeOf(groups: readonly PartitionAppend[]): number {
  return groups.reduce((sum, { bytes }) => sum + bytes, 0);
}
