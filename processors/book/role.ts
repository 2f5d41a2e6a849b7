// The book role: follows `book`, keeps one engine per market, and writes changes to `views.book` and `views.markets`.
// Every batch is published at once; engines are saved every few seconds, each with its own offset. Long, because all of it does I/O,
// which lint allows in role files alone.

import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type EventLog,
  followingRole,
  type GroupState,
  inTurns,
  type LogBatch,
  type Logger,
  type NewRecord,
  offsetKey,
  publicKeys,
  type RoleContext,
  type RunningRole,
  SlicedWork,
  type StateWrite,
  TopicFollower,
} from '../../platform/index.ts';
import { marketKey, parseMarketKey, partitionOf, TOPICS } from '../../schemas/index.ts';
import { IgnoredMakers } from './ignored.ts';
import { type Book, type BookOutput, PartitionBooks, type RepairedOrders } from './partition.ts';
import { BookQuality } from './quality/book-rows.ts';
import { SlotCheck } from './quality/slot-check.ts';
import type { CheckResult, Comparison } from './shadow/comparison.ts';
import {
  BOOK_GROUP,
  newestSnapshotState,
  packSnapshotIndex,
  packSnapshotOffset,
  SnapshotIndex,
  snapshotIndexMarket,
  snapshotIndexState,
  unpackSnapshotIndex,
} from './snapshot-index.ts';
import type { Steps } from './steps.ts';

// State keys of the group, besides those of snapshots: a saved engine; its epoch, readable without it.
const ENGINE_STATE = 'engine:';
const EPOCH_STATE = 'epoch:';

/** Interval of checks for engines that are due to be saved. */
const SAVE_TICK_MS = 1_000;
/** Interval of saving an engine. It grows with its orders, so that saving takes a small share of time. */
const SAVE_EVERY_MS = 5_000;
const SAVE_DELAY_PER_ORDER_MS = 0.4;
/** Bytes of one append or commit; below the log's limit of 8 MiB. */
const WRITE_BYTES_MAX = 6 * 1024 * 1024;
const OFFSET_BYTES = 8;
/** Damaged bytes must not become a book. */
const CHECKED = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Starts the books of one commitment, see `startBook`. */
export async function startBooks(context: RoleContext): Promise<RunningRole> {
  const { log } = context;
  await log.ensureTopics([TOPICS.book, TOPICS.bookViews, TOPICS.marketViews, TOPICS.deadLetters]);
  const role = new BookRole(context);
  await role.restore();
  return role.follow();
}

class BookRole {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof bookMetrics>;
  readonly #quality: BookQuality;
  readonly #ignored: IgnoredMakers;
  readonly #slotCheck: SlotCheck;
  readonly #snapshots = new Map<string, SnapshotIndex>();
  readonly #partitions: PartitionBooks[] = [];
  readonly #from = new Map<number, bigint>();
  readonly #savedAtMs = new Map<string, number>();
  // Commits run one after the other beside the batches, so that saving does not delay publishing.
  #commits: Promise<void> = Promise.resolve();
  #isSaving = false;
  #isSaveWanted = false;
  /** Partitions whose newest batch is not published yet, with the work. */
  readonly #taking = new Map<number, Promise<void>>();
  // Comparisons run beside the batches, a slice in each turn of the event loop.
  readonly #comparing = new SlicedWork();
  readonly #follower = new TopicFollower();

  constructor(context: RoleContext) {
    const { config, log, logger, metrics } = context;
    this.#ignored = new IgnoredMakers(publicKeys('ignoreList', config.ignoreList));
    this.#slotCheck = new SlotCheck(context);
    this.#log = log;
    this.#logger = logger;
    this.#metrics = bookMetrics(metrics);
    this.#quality = new BookQuality(log, logger, metrics);
  }

  async restore(): Promise<void> {
    const group = await this.#log.load(BOOK_GROUP);
    for (let partition = 0; partition < TOPICS.book.partitions; partition++) {
      const next = group.offsets.get(offsetKey(TOPICS.book.name, partition)) ?? 0n;
      this.#partitions.push(new PartitionBooks(partition, next, true, this.#ignored));
    }
    await this.#quality.load();
    await this.#restoreEngines(group);
    for (const books of this.#partitions) {
      const { earliest, next } = await this.#log.bounds(TOPICS.book, books.partition);
      const ahead = books.rewind(next);
      if (ahead.length > 0) this.#logger.error({ ahead, next: next.toString() }, 'the log lost records of these books');
      const lost = books.abandon(earliest);
      if (lost.length > 0) this.#logger.warn({ lost }, 'records of these books are no longer kept; new epochs begin');
      this.#from.set(books.partition, books.readsFrom(earliest));
    }
  }

  follow(): RunningRole {
    const follower = this.#follower;
    const timer = setInterval(() => {
      this.#saveSoon();
      this.#publishQuality();
      this.#commits.catch((error: unknown) => follower.fail(error));
    }, SAVE_TICK_MS);
    follower.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    follower.follow({ log: this.#log, topic: TOPICS.book, from: this.#from, take: (batch) => this.#take(batch) });
    return followingRole('book', follower, () => this.#finish());
  }

  /** Saves every book and waits for all work beside the batches. */
  async #finish(): Promise<void> {
    await this.#allTaken();
    this.#saveDue(true);
    await this.#comparing.idle();
    this.#publishQuality();
    await this.#commits;
  }

  async #restoreEngines({ state }: GroupState): Promise<void> {
    for (const [name, value] of state) {
      const indexed = snapshotIndexMarket(name);
      if (indexed !== null) this.#snapshots.set(indexed, unpackSnapshotIndex(value));
      if (!name.startsWith(ENGINE_STATE)) continue;
      const key = name.slice(ENGINE_STATE.length);
      const books = this.#partitions[partitionOf(TOPICS.book, key)];
      if (!books) continue;
      // The quality row has the epoch when the state lacks it.
      const lastEpoch = Math.max(Number(textOf(state.get(EPOCH_STATE + key))) || 0, this.#quality.epoch(key));
      try {
        const { next, bytes } = await unpack(value);
        const goesOn = books.restore(bytes, next, lastEpoch);
        if (!goesOn) this.#logger.info({ market: key, lastEpoch }, 'the ignore list changed: new epoch');
        this.#savedAtMs.set(marketKey(parseMarketKey(key)), performance.now());
      } catch (err) {
        // The log has everything that the saved bytes were made from.
        books.lose(key, lastEpoch);
        this.#logger.error(
          { market: key, lastEpoch, err },
          'saved book is unreadable: rebuilding it from the log in a new epoch',
        );
      }
    }
  }

  /** Partitions do not wait for each other: the outputs of their batches go into the log together. */
  async #take(batch: LogBatch): Promise<void> {
    const { partition } = batch;
    await this.#taking.get(partition);
    if (this.#follower.signal.aborted) return;
    // A save waits until no partition is at work.
    if (this.#isSaveWanted) await this.#allTaken();
    const work = this.#apply(batch).then(() => {
      this.#taking.delete(partition);
      if (this.#isSaveWanted && this.#taking.size === 0) this.#saveDue(false);
    });
    work.catch((error: unknown) => this.#follower.fail(error));
    this.#taking.set(partition, work);
  }

  async #allTaken(): Promise<void> {
    await Promise.all(this.#taking.values());
  }

  async #apply(batch: LogBatch): Promise<void> {
    const books = this.#partitions[batch.partition];
    if (!books) return;
    const outputs: BookOutput[] = [];
    await inTurns(books.applyInSteps(batch.records, outputs));
    await this.#publish(books.partition, outputs);
    books.settle();
    const last = batch.records.at(-1);
    if (last) this.#metrics.lag.set({ partition: batch.partition }, Number(batch.end - last.offset - 1n));
    this.#metrics.slot.set(Math.max(...this.#partitions.map(({ slot }) => slot)));
    for (const { key, engine } of books.books.values()) {
      this.#metrics.orders.set({ market: key }, engine.orderCount);
      this.#metrics.leftOut.set({ market: key }, engine.leftOut);
      this.#slotCheck.judge(engine);
    }
  }

  // One append per run of changes; a snapshot has its own append, because readers get its offset.
  async #publish(partition: number, outputs: readonly BookOutput[]): Promise<void> {
    let pending: NewRecord[] = [];
    let bytes = 0;
    const flush = async () => {
      if (pending.length > 0) await this.#log.append(TOPICS.bookViews, pending);
      pending = [];
      bytes = 0;
    };
    const markets: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const output of outputs) {
      if (output.kind === 'check') {
        this.#compare(output.key, output.comparison);
        continue;
      }
      if (output.kind === 'repair') {
        this.#logRepair(output.key, output.orders);
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
        this.#metrics.changes.inc({ market: key });
      } else {
        await flush();
        await this.#publishSnapshot(record, output);
      }
    }
    await flush();
    if (markets.length > 0) await this.#log.append(TOPICS.marketViews, markets);
    if (letters.length === 0) return;
    await this.#log.append(TOPICS.deadLetters, letters);
    this.#metrics.parked.inc(letters.length);
    this.#logger.warn({ records: letters.length, partition }, 'book records parked');
  }

  #compare(key: string, comparison: Comparison): void {
    const report = (result: CheckResult | null) => {
      if (result === null) return;
      this.#quality.addResult(key, result);
      // Ingest repairs a book when it reads of the difference.
      if (!result.isEqual) this.#publishQuality();
    };
    this.#comparing.run(comparison.steps()).then(report, (error: unknown) => this.#follower.fail(error));
  }

  #logRepair(market: string, repaired: Steps<RepairedOrders>): void {
    const report = (orders: RepairedOrders | null) =>
      this.#logger.warn({ market, ...orders }, 'shadow check: orders changed by the repair');
    this.#comparing.run(repaired).then(report, (error: unknown) => this.#follower.fail(error));
  }

  async #publishSnapshot(record: NewRecord, at: { readonly slot: number; readonly epoch: number }): Promise<void> {
    if (record.value.length > WRITE_BYTES_MAX) {
      this.#logger.error({ market: record.key, bytes: record.value.length }, 'snapshot is too large for the log');
      return;
    }
    const [appended] = await this.#log.append(TOPICS.bookViews, [record]);
    if (!appended) return;
    const index = this.#snapshots.get(record.key) ?? new SnapshotIndex();
    this.#snapshots.set(record.key, index);
    index.add({ slot: at.slot, offset: appended.first });
    this.#commits = this.#commits.then(async () => {
      const { earliest } = await this.#log.bounds(TOPICS.bookViews, appended.partition);
      index.trim(earliest);
      const state = [
        { key: newestSnapshotState(record.key), value: packSnapshotOffset(appended.first) },
        { key: EPOCH_STATE + record.key, value: Buffer.from(String(at.epoch), 'utf8') },
        { key: snapshotIndexState(record.key), value: packSnapshotIndex(index) },
      ];
      await this.#log.commit(BOOK_GROUP, { state });
    });
    this.#commits.catch(() => {}); // `done` reports it
  }

  /** Publishes the state of the books, after the commits under way so that a log failure is reported in one place. */
  #publishQuality(): void {
    const atMs = Date.now();
    for (const { books } of this.#partitions) {
      for (const { engine } of books.values()) {
        this.#quality.setHead(engine.ref, { epoch: engine.state.epoch, slot: engine.slot }, atMs);
      }
    }
    this.#commits = this.#commits.then(() => this.#quality.flush());
    this.#commits.catch(() => {}); // `done` reports it
  }

  /** Saves at once between batches, else when the current ones are published. */
  #saveSoon(): void {
    this.#isSaveWanted = true;
    if (this.#taking.size === 0) this.#saveDue(false);
  }

  /**
   * Saves due engines (or all), each with its offset. Call it only when everything applied is published: a saved engine
   * never publishes its past changes again. An engine inside a bracket waits for its end.
   */
  #saveDue(all: boolean): void {
    this.#isSaveWanted = false;
    if (this.#isSaving && !all) return;
    const nowMs = performance.now();
    const taken = this.#partitions.map((books) => ({ books, saved: this.#takeDue(books, nowMs, all) }));
    this.#isSaving = true;
    this.#commits = this.#commits.then(async () => {
      for (const { books, saved } of taken) await this.#store(books, saved);
      this.#isSaving = false;
    });
    this.#commits.catch(() => {}); // `done` reports it
  }

  #takeDue(books: PartitionBooks, nowMs: number, all: boolean): Saved[] {
    const due = [...books.books.values()].filter(({ key, engine, next, savedNext }) => {
      const delayMs = SAVE_EVERY_MS + engine.orderCount * SAVE_DELAY_PER_ORDER_MS;
      return next > savedNext && !engine.isHeld && (all || nowMs - (this.#savedAtMs.get(key) ?? 0) >= delayMs);
    });
    return due.map((book) => {
      this.#savedAtMs.set(book.key, nowMs);
      return { book, next: book.next, epoch: book.engine.lastEpoch, saving: books.save(book) };
    });
  }

  async #store(books: PartitionBooks, saved: readonly Saved[]): Promise<void> {
    let state: StateWrite[] = [];
    let bytes = 0;
    const flush = async () => {
      const offsets = [{ topic: TOPICS.book.name, partition: books.partition, next: books.lowWatermark() }];
      await this.#log.commit(BOOK_GROUP, { offsets, state });
      state = [];
      bytes = 0;
    };
    for (const { book, next, epoch, saving } of saved) {
      const value = await pack(next, await inTurns(saving));
      if (value.length > WRITE_BYTES_MAX) {
        this.#logger.error(
          { market: book.key, bytes: value.length },
          'book is too large to save; a restart replays it',
        );
        continue;
      }
      if (bytes + value.length > WRITE_BYTES_MAX) await flush();
      state.push({ key: ENGINE_STATE + book.key, value });
      state.push({ key: EPOCH_STATE + book.key, value: Buffer.from(String(epoch), 'utf8') });
      bytes += value.length;
      // Lower when the partition lost its tail meanwhile.
      if (book.next >= next) book.savedNext = next;
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
  const head = Buffer.alloc(OFFSET_BYTES);
  head.writeBigUInt64LE(next);
  return Buffer.concat([head, packed]);
}

async function unpack(value: Uint8Array): Promise<{ readonly next: bigint; readonly bytes: Uint8Array }> {
  const buffer = Buffer.from(value);
  return { next: buffer.readBigUInt64LE(0), bytes: await decompress(buffer.subarray(OFFSET_BYTES)) };
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
    orders: new Gauge({ name: 'slotbook_book_orders', help: 'open orders', labelNames, registers }),
    leftOut: new Gauge({
      name: 'slotbook_book_orders_left_out',
      help: 'orders left out because one of their numbers is beyond 2^53',
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
