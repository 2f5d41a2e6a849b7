// The book role: follows `book`, keeps one engine per market, and writes what changed to `views.book` and
// `views.markets`. Outputs go out with every batch; engines are saved every few seconds, each with its own position.

import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type EventLog,
  type GroupState,
  inTurns,
  type LogBatch,
  type Logger,
  type NewRecord,
  positionKey,
  publicKeys,
  type RoleContext,
  type RunningRole,
  SlicedWork,
  type StateWrite,
} from '../../platform/index.ts';
import { marketKey, parseMarketKey, partitionOf, TOPICS } from '../../schemas/index.ts';
import { BookQuality } from '../quality/book-rows.ts';
import { SlotCheck } from '../quality/slot-check.ts';
import { IgnoredMakers } from './ignored.ts';
import { type Book, type BookOutput, PartitionBooks, type RepairedOrders } from './partition.ts';
import type { CheckResult, Comparison } from './shadow/comparison.ts';
import {
  packSnapshotIndex,
  SnapshotIndex,
  snapshotIndexMarket,
  snapshotIndexState,
  unpackSnapshotIndex,
} from './snapshot-index.ts';
import type { Steps } from './steps.ts';

export const BOOK_GROUP = 'book';
/**
 * State keys of the group: a saved engine; the epoch it was in, readable without it; and the offset of a market's newest
 * snapshot in `views.book`.
 */
const ENGINE_STATE = 'engine:';
const EPOCH_STATE = 'epoch:';
const SNAPSHOT_STATE = 'snapshot:';

/** How often the role looks which engines to save. */
const SAVE_TICK_MS = 1_000;
/** An engine is saved this often, and less often the more orders it holds: saving is kept at a small share of time. */
const SAVE_EVERY_MS = 5_000;
const SAVE_DELAY_PER_ORDER_MS = 0.4;
/** Bytes of one append or commit; below what an event log takes at once (8 MiB). */
const WRITE_BYTES_MAX = 6 * 1024 * 1024;
const POSITION_BYTES = 8;
/** Bytes that were damaged must not pass for a book. */
const CHECKED = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Starts the role. Resolves when the saved state is read and following has begun; rejects when the log cannot be read, or
 * with a ConfigError for a list that does not parse.
 * `done` rejects when the log fails.
 */
export async function startBook(context: RoleContext): Promise<RunningRole> {
  const { log } = context;
  await log.ensureTopics([TOPICS.book, TOPICS.bookViews, TOPICS.marketViews, TOPICS.deadLetters]);
  const role = new BookRole(context);
  await role.restore();
  const stopping = new AbortController();
  const done = role.run(stopping.signal);
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: 'book',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

class BookRole {
  private readonly log: EventLog;
  private readonly logger: Logger;
  private readonly metrics: ReturnType<typeof bookMetrics>;
  private readonly quality: BookQuality;
  private readonly ignored: IgnoredMakers;
  private readonly slotCheck: SlotCheck;
  private readonly snapshots = new Map<string, SnapshotIndex>();
  private readonly partitions: PartitionBooks[] = [];
  private readonly from = new Map<number, bigint>();
  private readonly savedAtMs = new Map<string, number>();
  // Commits follow one another, beside the batches, so that saving does not hold up what readers wait for.
  private commits: Promise<void> = Promise.resolve();
  private isSaving = false;
  private isSaveWanted = false;
  private isTaking = false;
  // Comparisons go on beside the batches, a moment in each turn of the loop.
  private readonly comparing = new SlicedWork();
  private readonly failed = new AbortController();

  constructor(context: RoleContext) {
    const { config, log, logger, metrics } = context;
    this.ignored = new IgnoredMakers(publicKeys('ignoreList', config.ignoreList));
    this.slotCheck = new SlotCheck(context);
    this.log = log;
    this.logger = logger;
    this.metrics = bookMetrics(metrics);
    this.quality = new BookQuality(log, logger, metrics);
  }

  async restore(): Promise<void> {
    const group = await this.log.load(BOOK_GROUP);
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      const next = group.positions.get(positionKey(TOPICS.book.name, partition)) ?? 0n;
      this.partitions.push(new PartitionBooks(partition, next, true, this.ignored));
    }
    await this.quality.load();
    await this.restoreEngines(group);
    for (const books of this.partitions) {
      const { earliest } = await this.log.bounds(TOPICS.book, books.partition);
      const lost = books.abandon(earliest);
      if (lost.length > 0) this.logger.warn({ lost }, 'records of these books are no longer kept; new epochs begin');
      this.from.set(books.partition, books.readsFrom(earliest));
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { failed } = this;
    const either = AbortSignal.any([signal, failed.signal]);
    const timer = setInterval(() => {
      this.saveSoon();
      this.tellQuality();
      this.commits.catch((error: unknown) => failed.abort(error));
    }, SAVE_TICK_MS);
    try {
      for await (const batch of this.log.follow({ topic: TOPICS.book, from: this.from, signal: either })) {
        this.isTaking = true;
        await this.take(batch);
        this.isTaking = false;
        if (this.isSaveWanted) this.saveDue(false);
        if (either.aborted) break;
      }
      failed.signal.throwIfAborted();
    } catch (error) {
      if (!signal.aborted || failed.signal.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
    this.saveDue(true);
    await this.comparing.idle();
    this.tellQuality();
    await this.commits;
  }

  private async restoreEngines({ state }: GroupState): Promise<void> {
    for (const [name, value] of state) {
      const indexed = snapshotIndexMarket(name);
      if (indexed !== null) this.snapshots.set(indexed, unpackSnapshotIndex(value));
      if (!name.startsWith(ENGINE_STATE)) continue;
      const key = name.slice(ENGINE_STATE.length);
      const books = this.partitions[partitionOf(TOPICS.book, key)];
      if (!books) continue;
      // Of state from before epochs were kept, the quality row knows.
      const lastEpoch = Math.max(Number(textOf(state.get(EPOCH_STATE + key))) || 0, this.quality.epoch(key));
      try {
        const { next, bytes } = await unpack(value);
        const goesOn = books.restore(bytes, next, lastEpoch);
        if (!goesOn) this.logger.info({ market: key, lastEpoch }, 'other accounts are ignored: new epoch');
        this.savedAtMs.set(marketKey(parseMarketKey(key)), performance.now());
      } catch (err) {
        // What the saved bytes were made of is in the log.
        books.lose(key, lastEpoch);
        this.logger.error(
          { market: key, lastEpoch, err },
          'saved book cannot be read: made anew from the log, new epoch',
        );
      }
    }
  }

  private async take(batch: LogBatch): Promise<void> {
    const books = this.partitions[batch.partition];
    if (!books) return;
    const outputs: BookOutput[] = [];
    await inTurns(books.applyInSteps(batch.records, outputs));
    await this.publish(books.partition, outputs);
    books.settle();
    const last = batch.records.at(-1);
    if (last) this.metrics.lag.set({ partition: batch.partition }, Number(batch.end - last.offset - 1n));
    this.metrics.slot.set(Math.max(...this.partitions.map(({ slot }) => slot)));
    for (const { key, engine } of books.books.values()) {
      this.metrics.orders.set({ market: key }, engine.orderCount);
      this.metrics.leftOut.set({ market: key }, engine.leftOut);
      this.slotCheck.judge(engine);
    }
  }

  // One append per run of changes; a snapshot goes alone, because its offset is told to readers.
  private async publish(partition: number, outputs: readonly BookOutput[]): Promise<void> {
    let pending: NewRecord[] = [];
    let bytes = 0;
    const flush = async () => {
      if (pending.length > 0) await this.log.append(TOPICS.bookViews, pending);
      pending = [];
      bytes = 0;
    };
    const markets: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const output of outputs) {
      if (output.kind === 'check') {
        this.compare(output.key, output.comparison);
        continue;
      }
      if (output.kind === 'repair') {
        this.tellRepair(output.key, output.orders);
        continue;
      }
      const { key, value } = output;
      const record: NewRecord = { key, value, partition };
      if (output.kind === 'market') markets.push({ key, value });
      else if (output.kind === 'dead') letters.push({ key, value });
      else if (output.kind === 'diff') {
        if (bytes + value.length > WRITE_BYTES_MAX) await flush();
        pending.push(record);
        bytes += value.length;
        this.metrics.changes.inc({ market: key });
      } else {
        await flush();
        await this.publishSnapshot(record, output);
      }
    }
    await flush();
    if (markets.length > 0) await this.log.append(TOPICS.marketViews, markets);
    if (letters.length === 0) return;
    await this.log.append(TOPICS.deadLetters, letters);
    this.metrics.parked.inc(letters.length);
    this.logger.warn({ records: letters.length, partition }, 'book records parked');
  }

  private compare(key: string, comparison: Comparison): void {
    const told = (result: CheckResult | null) => {
      if (result === null) return;
      this.quality.checked(key, result);
      // Ingest repairs a book when it hears of it.
      if (!result.isEqual) this.tellQuality();
    };
    this.comparing.run(comparison.steps()).then(told, (error: unknown) => this.failed.abort(error));
  }

  private tellRepair(market: string, repaired: Steps<RepairedOrders>): void {
    const told = (orders: RepairedOrders | null) =>
      this.logger.warn({ market, ...orders }, 'shadow check: what the repair changed among orders');
    this.comparing.run(repaired).then(told, (error: unknown) => this.failed.abort(error));
  }

  private async publishSnapshot(
    record: NewRecord,
    at: { readonly slot: number; readonly epoch: number },
  ): Promise<void> {
    if (record.value.length > WRITE_BYTES_MAX) {
      this.logger.error({ market: record.key, bytes: record.value.length }, 'snapshot is too large for the log');
      return;
    }
    const [appended] = await this.log.append(TOPICS.bookViews, [record]);
    if (!appended) return;
    const value = Buffer.from(String(appended.first), 'utf8');
    const index = this.snapshots.get(record.key) ?? new SnapshotIndex();
    this.snapshots.set(record.key, index);
    index.add({ slot: at.slot, offset: appended.first });
    this.commits = this.commits.then(async () => {
      const { earliest } = await this.log.bounds(TOPICS.bookViews, appended.partition);
      index.trim(earliest);
      const state = [
        { key: SNAPSHOT_STATE + record.key, value },
        { key: EPOCH_STATE + record.key, value: Buffer.from(String(at.epoch), 'utf8') },
        { key: snapshotIndexState(record.key), value: packSnapshotIndex(index) },
      ];
      await this.log.commit(BOOK_GROUP, { state });
    });
    this.commits.catch(() => {}); // `run` reports it
  }

  /** Tells how the books stand, behind the commits under way so that a failure of the log is reported in one place. */
  private tellQuality(): void {
    const atMs = Date.now();
    for (const { books } of this.partitions) {
      for (const { engine } of books.values()) {
        this.quality.stands(engine.ref, { epoch: engine.state.epoch, slot: engine.slot }, atMs);
      }
    }
    this.commits = this.commits.then(() => this.quality.flush());
    this.commits.catch(() => {}); // `run` reports it
  }

  /** The timer's turn: at once when nothing is under way, else when the batch under way is published. */
  private saveSoon(): void {
    this.isSaveWanted = true;
    if (!this.isTaking) this.saveDue(false);
  }

  /**
   * Saves engines whose time has come (or all), each with the position it led to. Called only when everything applied
   * has been published: a saved engine never sends its past changes again.
   */
  private saveDue(all: boolean): void {
    this.isSaveWanted = false;
    if (this.isSaving && !all) return;
    const nowMs = performance.now();
    const taken = this.partitions.map((books) => ({ books, saved: this.takeDue(books, nowMs, all) }));
    this.isSaving = true;
    this.commits = this.commits.then(async () => {
      for (const { books, saved } of taken) await this.store(books, saved);
      this.isSaving = false;
    });
    this.commits.catch(() => {}); // `run` reports it
  }

  private takeDue(books: PartitionBooks, nowMs: number, all: boolean): Saved[] {
    const due = [...books.books.values()].filter(({ key, engine, next, savedNext }) => {
      const delayMs = SAVE_EVERY_MS + engine.orderCount * SAVE_DELAY_PER_ORDER_MS;
      return next > savedNext && (all || nowMs - (this.savedAtMs.get(key) ?? 0) >= delayMs);
    });
    return due.map((book) => {
      this.savedAtMs.set(book.key, nowMs);
      return { book, next: book.next, epoch: book.engine.lastEpoch, saving: books.save(book) };
    });
  }

  private async store(books: PartitionBooks, saved: readonly Saved[]): Promise<void> {
    let state: StateWrite[] = [];
    let bytes = 0;
    const flush = async () => {
      const positions = [{ topic: TOPICS.book.name, partition: books.partition, next: books.lowWatermark() }];
      await this.log.commit(BOOK_GROUP, { positions, state });
      state = [];
      bytes = 0;
    };
    for (const { book, next, epoch, saving } of saved) {
      const value = await pack(next, await inTurns(saving));
      if (value.length > WRITE_BYTES_MAX) {
        this.logger.error({ market: book.key, bytes: value.length }, 'book is too large to save; a restart replays it');
        continue;
      }
      if (bytes + value.length > WRITE_BYTES_MAX) await flush();
      state.push({ key: ENGINE_STATE + book.key, value });
      state.push({ key: EPOCH_STATE + book.key, value: Buffer.from(String(epoch), 'utf8') });
      bytes += value.length;
      book.savedNext = next;
    }
    if (state.length > 0 || books.books.size === 0) await flush();
  }
}

interface Saved {
  readonly book: Book;
  readonly next: bigint;
  readonly epoch: number;
  readonly saving: Steps<Uint8Array>;
}

function textOf(value: Uint8Array | undefined): string {
  return Buffer.from(value ?? []).toString('utf8');
}

async function pack(next: bigint, bytes: Uint8Array): Promise<Buffer> {
  const packed = await compress(bytes, CHECKED);
  const head = Buffer.alloc(POSITION_BYTES);
  head.writeBigUInt64LE(next);
  return Buffer.concat([head, packed]);
}

async function unpack(value: Uint8Array): Promise<{ readonly next: bigint; readonly bytes: Uint8Array }> {
  const buffer = Buffer.from(value);
  return { next: buffer.readBigUInt64LE(0), bytes: await decompress(buffer.subarray(POSITION_BYTES)) };
}

function bookMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ['market'] as const;
  return {
    changes: new Counter({
      name: 'slotbook_book_changes_total',
      help: 'changes of published books',
      labelNames,
      registers,
    }),
    orders: new Gauge({ name: 'slotbook_book_orders', help: 'open orders known', labelNames, registers }),
    leftOut: new Gauge({
      name: 'slotbook_book_orders_left_out',
      help: 'orders not shown because a number of theirs is beyond 2^53',
      labelNames,
      registers,
    }),
    lag: new Gauge({
      name: 'slotbook_book_lag_records',
      help: 'records of `book` not yet applied',
      labelNames: ['partition'] as const,
      registers,
    }),
    slot: new Gauge({ name: 'slotbook_book_slot', help: 'newest slot applied', registers }),
    parked: new Counter({ name: 'slotbook_book_parked_total', help: 'records put into dead-letters', registers }),
  };
}
