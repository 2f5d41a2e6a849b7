// One lmdb environment per path and process, shared by all its users. It batches write transactions, reads the newest snapshot,
// and notifies of commits by this process and others.

import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { nextSequence, sequenceOf, type Topics, topicsSince } from './commits.ts';
import { type Gate, gateOf } from './gate.ts';
import { releaseMappedPages } from './mapped.ts';
import { PageReader } from './pages.ts';
import { CommitSignals } from './signals.ts';
import { TopicWaits } from './waits.ts';

export type Store = Database<Uint8Array, Buffer>;

interface Job {
  readonly bytes: number;
  run(): void;
  settle(error: Error | null): void;
}

/** lmdb's own asynchronous fdatasync, which its types leave out. */
interface Syncable {
  sync(done: (error?: Error | null) => void): void;
}

/** lmdb's statistics of a database, which its types leave out. */
interface Pages {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const DATA_FILE = 'data.mdb';
/**
 * The commit signals: written after each commit and watched by other processes. They do not watch the data file, because it
 * changes a moment before a reader can see the commit.
 */
const SIGNALS_FOLDER = 'signals';
/** Most payload of one write transaction; limits how long other writers wait. */
const TRANSACTION_BYTES_MAX = 16 * 1024 * 1024;
const TRANSACTION_JOBS_MAX = 1000;
/** Commits within a turn of the event loop, milliseconds from the first one. Later writes of the turn share a commit in the next. */
const PROMPT_MS = 3;
/** Commit signals announce other processes' commits; the poll covers a watch that is missing. */
const POLL_MIN_MS = 5;
/** Of a process that has the watch: it covers a lost signal alone. */
const POLL_WATCHED_MS = 25;
const POLL_MAX_MS = 50;
const POLL_ACTIVE_MS = 500;
/** Longest time that a commit is in the page cache only: the loss of a power cut. */
const SYNC_DELAY_MS = 100;
/** Readers of all processes together; lmdb's default is 126. */
const READERS_MAX = 512;
/**
 * Address space for the file, reserved at once (except on Windows, which would allocate it). A smaller map grows by mapping
 * the file again, and lmdb keeps every earlier mapping, whose resident pages count twice.
 */
const MAP_BYTES = process.platform === 'win32' ? undefined : 64 * 1024 ** 3;
const SEQUENCE_KEY = Buffer.from('sequence');

const opened = new Map<string, Environment>();

/** Opens the environment in `folder`, or shares the one that this process has open. Call `release` when done. */
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
  /** Newest offset of each key of compacted partitions, and how far that is known (see compaction.ts). */
  readonly compaction: Store;
  /** Reads many records of `records` at once. */
  readonly pages: PageReader;
  readonly #path: string;
  readonly #gate: Gate;
  readonly #root: RootDatabase<Uint8Array, Buffer>;
  readonly #signals: CommitSignals;
  readonly #waits = new TopicWaits();
  #users = 0;
  #jobs: Job[] = [];
  #isFlushDue = false;
  /** When this turn of the event loop had its first commit; null before. */
  #turnBeganMs: number | null = null;
  /** The newest commit that was announced. */
  #sequence = 0n;
  /** Topics that got records in the transaction under way. */
  #written = new Set<number>();
  #poll: NodeJS.Timeout | null = null;
  #activeUntilMs = 0;
  #pollMs = POLL_MIN_MS;
  #syncTimer: NodeJS.Timeout | null = null;
  #syncing: Promise<void> = Promise.resolve();

  /** Call it inside the gate. */
  constructor(path: string, gate: Gate) {
    this.#path = path;
    this.#gate = gate;
    const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
    // No flush inside a commit: a commit must not wait for the disk, and a killed process loses nothing either way.
    // A map that is too small grows by itself. noMemInit stays off, so that no uninitialized memory reaches the disk.
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
    this.compaction = this.#root.openDB<Uint8Array, Buffer>('compaction', binary);
    this.#signals = new CommitSignals(join(path, SIGNALS_FOLDER), () => this.#look());
    this.#sequence = sequenceOf(this.#readSequence());
  }

  join(): void {
    this.#users += 1;
  }

  /** The last user's release flushes to disk and closes the environment. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    opened.delete(this.#path);
    while (this.#jobs.length > 0) this.#flush();
    this.#signals.close();
    if (this.#poll) clearTimeout(this.#poll);
    if (this.#syncTimer) clearTimeout(this.#syncTimer);
    this.#waits.announce(null);
    await this.#syncing;
    await this.#sync();
    await this.#gate.pass(() => ({ closed: this.#root.close() })).closed;
  }

  /**
   * Runs `action` in a write transaction together with other waiting actions. Resolves after the commit, when every process
   * can see it. `bytes` is the approximate size of its writes. When `action` throws, nothing of it is stored.
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
      this.#flushSoon();
    });
  }

  /** Runs `action` on the newest snapshot. It must not await, because no read transaction may stay open across an await. */
  read<T>(action: () => T): T {
    this.#root.resetReadTxn();
    return action();
  }

  /** Frees the reader slots of killed processes, so that lmdb can reuse their old pages. */
  forgetDeadReaders(): void {
    this.#root.readerCheck();
  }

  /**
   * Removes read pages of the file from this process's resident memory (see mapped.ts). False where that is impossible: it
   * needs Linux and the optional ffi-rs.
   */
  releaseReadPages(): boolean {
    return releaseMappedPages(join(this.#path, DATA_FILE));
  }

  /** Bytes of records in the file. The file never shrinks: new records reuse the space of removed ones. */
  recordBytes(): number {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = this.read(() =>
      this.records.getStats(),
    ) as Pages;
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  }

  /** Changes with each commit that may have records of the topic. Compare it before waiting, so that no commit is missed. */
  changesOf(topicId: number): number {
    return this.#waits.countOf(topicId);
  }

  /** Call it inside `write` when a topic gets records. */
  wrote(topicId: number): void {
    this.#written.add(topicId);
  }

  /** Resolves after a commit since `seen` that may have records of the topic, or with `wake`. */
  changed(seen: number, topicId: number): Promise<void> {
    if (this.#waits.countOf(topicId) !== seen) return Promise.resolve();
    this.#signals.watch(topicId);
    this.#schedulePoll();
    return this.#waits.next(topicId);
  }

  /** Lets the followers of a topic look again. */
  wake(topicId: number): void {
    this.#waits.wake(topicId);
  }

  /** Before the event loop turns, because a turn of a busy process takes long; but the loop must turn beside a writer that never rests. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const isLate = this.#turnBeganMs !== null && performance.now() - this.#turnBeganMs >= PROMPT_MS;
    if (isLate) setImmediate(() => this.#flush());
    else process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    if (this.#turnBeganMs === null) {
      this.#turnBeganMs = performance.now();
      setImmediate(() => {
        this.#turnBeganMs = null;
      });
    }
    const jobs = this.#take();
    if (jobs.length === 0) return;
    const error = this.#commit(jobs);
    if (error === null || jobs.length === 1) for (const job of jobs) job.settle(error);
    else for (const job of jobs) job.settle(this.#commit([job]));
    if (this.#jobs.length > 0) this.#flushSoon();
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
    this.#written = new Set();
    try {
      let sequence: Buffer | undefined;
      this.#gate.pass(() =>
        this.#root.transactionSync(() => {
          for (const job of jobs) job.run();
          sequence = nextSequence(this.partitions.getBinary(SEQUENCE_KEY), this.#written);
          put(this.partitions, SEQUENCE_KEY, sequence);
        }),
      );
      this.#signals.send(this.#written);
      // With the commits of other processes since the last look.
      this.#announce(sequence);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(`event log: ${String(error)}`);
    }
  }

  /** Announces the commits up to the one with this value of the sequence. */
  #announce(value: Uint8Array | undefined): void {
    const topics: Topics = topicsSince(value, this.#sequence);
    this.#sequence = sequenceOf(value);
    this.#waits.announce(topics);
  }

  #readSequence(): Buffer | undefined {
    return this.read(() => this.partitions.getBinary(SEQUENCE_KEY));
  }

  #look(): boolean {
    const value = this.#readSequence();
    if (sequenceOf(value) === this.#sequence) return false;
    this.#activeUntilMs = performance.now() + POLL_ACTIVE_MS;
    this.#pollMs = this.#leastPollMs;
    this.#announce(value);
    return true;
  }

  get #leastPollMs(): number {
    return this.#signals.isComplete ? POLL_WATCHED_MS : POLL_MIN_MS;
  }

  /** Polls only while a follower waits. */
  #schedulePoll(): void {
    this.#poll ??= setTimeout(() => {
      this.#poll = null;
      const found = this.#look();
      if (!found && performance.now() > this.#activeUntilMs) this.#pollMs = Math.min(this.#pollMs * 2, POLL_MAX_MS);
      if (!this.#waits.isEmpty) this.#schedulePoll();
    }, this.#pollMs);
  }

  #scheduleSync(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncing = this.#sync().then(() => {
        this.#syncTimer = null;
      });
    }, SYNC_DELAY_MS).unref();
  }

  /** Ignores a failed flush: it matters only for a power cut, and the next flush tries again. */
  #sync(): Promise<void> {
    return new Promise((resolve) => (this.#root as unknown as Syncable).sync(() => resolve()));
  }
}

/** Puts inside a write transaction; lmdb reports a refused put only by its result. */
export function put(store: Store, key: Buffer, value: Uint8Array): void {
  if ((store.putSync(key, value) as unknown) !== true) throw new Error('event log: the store refused a record');
}
