// One lmdb environment per path and process, shared by everyone who opens it: batched write transactions, reads of the
// newest snapshot, and the news that something was appended, by this process or another.

import { EventEmitter } from 'node:events';
import { closeSync, constants, type FSWatcher, mkdirSync, openSync, realpathSync, watch, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { type Gate, gateOf } from './gate.ts';
import { decodeOffset, encodeOffset } from './layout.ts';
import { giveBackMapped } from './mapped.ts';
import { PageReader } from './pages.ts';

export type Store = Database<Uint8Array, Buffer>;

interface Job {
  readonly bytes: number;
  run(): void;
  settle(error: Error | null): void;
}

/** lmdb's own asynchronous fdatasync, which its type file leaves out. */
interface Syncable {
  sync(done: (error?: Error | null) => void): void;
}

/** What lmdb tells of a database, which its type file leaves open. */
interface Pages {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const DATA_FILE = 'data.mdb';
/**
 * Written after each commit. Other processes watch it, not the data file: that one changes a moment before the store shows
 * the change, so a fast reader would look too early and then wait for its poll.
 */
const BELL_FILE = 'bell';
const RING = Buffer.from('.');
/** Most payload in one write transaction: bounds how long other writers wait. */
const TRANSACTION_BYTES_MAX = 16 * 1024 * 1024;
const TRANSACTION_JOBS_MAX = 1000;
/** Another process is heard of by its bell; the poll covers watches that come late or not at all. */
const POLL_MIN_MS = 5;
const POLL_MAX_MS = 50;
const POLL_ACTIVE_MS = 500;
/** Longest that a commit stays in the page cache only: what a power cut can take. */
const SYNC_DELAY_MS = 100;
/** Readers of all processes together; lmdb's default is 126. */
const READERS_MAX = 512;
/**
 * Address space for the file, taken at once (not on Windows, where it would be committed). A map that starts small grows
 * by being mapped again, and lmdb keeps every earlier mapping: what was read through them counts twice and stays.
 */
const MAP_BYTES = process.platform === 'win32' ? undefined : 64 * 1024 ** 3;
const SEQUENCE_KEY = Buffer.from('sequence');
const NEWS = 'news';
const NO_WATCH = { close() {} };

const opened = new Map<string, Environment>();

/** Opens the environment in `folder`, or joins the one this process has open. Call `release` when done. */
export function openEnvironment(folder: string): Environment {
  mkdirSync(folder, { recursive: true });
  const path = realpathSync(folder);
  let environment = opened.get(path);
  if (environment === undefined) {
    const gate = gateOf(path);
    environment = gate.pass(() => new Environment(path, gate));
    opened.set(path, environment);
  }
  environment.join();
  return environment;
}

export class Environment {
  readonly topics: Store;
  readonly partitions: Store;
  readonly records: Store;
  readonly groups: Store;
  /** Reads `records` in bulk. */
  readonly pages: PageReader;
  readonly #path: string;
  readonly #gate: Gate;
  readonly #root: RootDatabase<Uint8Array, Buffer>;
  readonly #bell: number;
  readonly #news = new EventEmitter();
  #users = 0;
  #jobs: Job[] = [];
  #flushing: NodeJS.Immediate | null = null;
  #sequence = 0n;
  #changes = 0;
  #watcher: FSWatcher | typeof NO_WATCH | null = null;
  #poll: NodeJS.Timeout | null = null;
  #activeUntilMs = 0;
  #pollMs = POLL_MIN_MS;
  #syncTimer: NodeJS.Timeout | null = null;
  #syncing: Promise<void> = Promise.resolve();

  /** To be made inside the gate. */
  constructor(path: string, gate: Gate) {
    this.#path = path;
    this.#gate = gate;
    const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
    // No flush inside a commit: a commit must not wait for the disk, and a killed process loses nothing either way.
    // A map that is too small grows by itself. noMemInit stays off: pages must not carry foreign memory to disk.
    this.#root = open<Uint8Array, Buffer>({
      path,
      noSync: true,
      overlappingSync: false,
      maxDbs: 8,
      maxReaders: READERS_MAX,
      ...(MAP_BYTES === undefined ? {} : { mapSize: MAP_BYTES }),
      ...binary,
    });
    this.topics = this.#root.openDB<Uint8Array, Buffer>('topics', binary);
    this.partitions = this.#root.openDB<Uint8Array, Buffer>('partitions', binary);
    this.records = this.#root.openDB<Uint8Array, Buffer>('records', binary);
    this.pages = new PageReader(this.#root, 'records');
    this.groups = this.#root.openDB<Uint8Array, Buffer>('groups', binary);
    this.#bell = openSync(join(path, BELL_FILE), constants.O_RDWR | constants.O_CREAT);
    this.#news.setMaxListeners(0);
    this.#sequence = this.#readSequence();
  }

  join(): void {
    this.#users += 1;
  }

  /** The last one to release it flushes to disk and closes the environment. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    opened.delete(this.#path);
    while (this.#jobs.length > 0) this.#flush();
    this.#watcher?.close();
    if (this.#poll) clearTimeout(this.#poll);
    if (this.#syncTimer) clearTimeout(this.#syncTimer);
    this.#news.emit(NEWS);
    await this.#syncing;
    await this.#sync();
    await this.#gate.pass(() => ({ closed: this.#root.close() })).closed;
    closeSync(this.#bell);
  }

  /**
   * Runs `action` inside a write transaction shared with whatever else is waiting; resolves when it is committed, that
   * is visible to every process. `bytes` is about what it writes. When `action` throws nothing of it is kept.
   */
  write<T>(bytes: number, action: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      this.#jobs.push({
        bytes,
        run: () => {
          result = action();
        },
        settle: (error) => (error === null ? resolve(result) : reject(error)),
      });
      this.#flushing ??= setImmediate(() => this.#flush());
    });
  }

  /** Runs `action` on the newest snapshot. It must not await: a read transaction is never held across one. */
  read<T>(action: () => T): T {
    this.#root.resetReadTxn();
    return action();
  }

  /** Frees what killed processes left behind, so that their old pages can be used again. */
  forgetDeadReaders(): void {
    this.#root.readerCheck();
  }

  /**
   * Gives back the pages of the file that this process has read and the kernel keeps anyway: they count as resident
   * memory of the process until then. False where it cannot be done (it needs Linux and the optional ffi-rs).
   */
  giveBack(): boolean {
    return giveBackMapped(join(this.#path, DATA_FILE));
  }

  /** Bytes that records take in the file. The file itself does not shrink: what is removed is written over. */
  recordBytes(): number {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = this.read(() =>
      this.records.getStats(),
    ) as Pages;
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  }

  /** Counts news; compare before waiting so that none is missed. */
  get changes(): number {
    return this.#changes;
  }

  /** Resolves when something was appended since `seen`, or the signal aborts. */
  async changed(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#changes !== seen || signal.aborted) return;
    this.#listen();
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#news.off(NEWS, done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#news.on(NEWS, done);
      signal.addEventListener('abort', done);
    });
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#flushing = null;
    const jobs = this.#take();
    if (jobs.length === 0) return;
    const error = this.#commit(jobs);
    if (error === null || jobs.length === 1) for (const job of jobs) job.settle(error);
    else for (const job of jobs) job.settle(this.#commit([job]));
    if (this.#jobs.length > 0) this.#flushing ??= setImmediate(() => this.#flush());
    this.#scheduleSync();
  }

  #take(): Job[] {
    let bytes = 0;
    let count = 0;
    for (const job of this.#jobs) {
      bytes += job.bytes;
      if (count > 0 && (bytes > TRANSACTION_BYTES_MAX || count === TRANSACTION_JOBS_MAX)) break;
      count += 1;
    }
    return this.#jobs.splice(0, count);
  }

  #commit(jobs: readonly Job[]): Error | null {
    try {
      let sequence = 0n;
      this.#gate.pass(() =>
        this.#root.transactionSync(() => {
          for (const job of jobs) job.run();
          sequence = decodeOffset(this.partitions.getBinary(SEQUENCE_KEY)) + 1n;
          put(this.partitions, SEQUENCE_KEY, encodeOffset(sequence));
        }),
      );
      this.#ring();
      // Whoever else wrote since the last look is part of the same news.
      this.#sequence = sequence;
      this.#announce();
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(`event log: ${String(error)}`);
    }
  }

  /** Followers in other processes that do not hear it find the commit by their poll. */
  #ring(): void {
    try {
      writeSync(this.#bell, RING, 0, RING.length, 0);
    } catch {
      // The commit stands all the same.
    }
  }

  #announce(): void {
    this.#changes += 1;
    this.#news.emit(NEWS);
  }

  #readSequence(): bigint {
    return this.read(() => decodeOffset(this.partitions.getBinary(SEQUENCE_KEY)));
  }

  #look(): boolean {
    const sequence = this.#readSequence();
    if (sequence === this.#sequence) return false;
    this.#sequence = sequence;
    this.#activeUntilMs = performance.now() + POLL_ACTIVE_MS;
    this.#pollMs = POLL_MIN_MS;
    this.#announce();
    return true;
  }

  #listen(): void {
    this.#watcher ??= this.#watch();
    this.#schedulePoll();
  }

  /** A watch that cannot be had or kept is no loss: the poll goes on. */
  #watch(): FSWatcher | typeof NO_WATCH {
    try {
      const watcher = watch(join(this.#path, BELL_FILE), { persistent: false }, () => this.#look());
      return watcher.on('error', () => watcher.close());
    } catch {
      return NO_WATCH;
    }
  }

  /** Polls only while somebody waits. */
  #schedulePoll(): void {
    this.#poll ??= setTimeout(() => {
      this.#poll = null;
      const found = this.#look();
      if (!found && performance.now() > this.#activeUntilMs) this.#pollMs = Math.min(this.#pollMs * 2, POLL_MAX_MS);
      if (this.#news.listenerCount(NEWS) > 0) this.#schedulePoll();
    }, this.#pollMs);
  }

  #scheduleSync(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncing = this.#sync().then(() => {
        this.#syncTimer = null;
      });
    }, SYNC_DELAY_MS).unref();
  }

  /** A failed flush is not told to anybody: what it covers is only loss of power, and the next one tries again. */
  #sync(): Promise<void> {
    return new Promise((resolve) => (this.#root as unknown as Syncable).sync(() => resolve()));
  }
}

/** Puts inside a write transaction; lmdb reports a refused put only by its result. */
export function put(store: Store, key: Buffer, value: Uint8Array): void {
  if ((store.putSync(key, value) as unknown) !== true) throw new Error('event log: the store refused a record');
}
