// Reads changes that have left the ring back from the log, so that a resume outlives a restart of the gateway. A read runs in
// slices, and only while a client waits for it.

import type { EventLog, Logger } from '../../../platform/index.ts';
import { LOG_CACHE_BYTES_MAX, LOG_CACHE_MS, LOG_FAILED_MS, LOG_MISSING_MS, LOG_READS_MAX } from './limits.ts';
import { type BackfillRequest, type LogPlace, type LogSource, searchBack } from './log-search.ts';

/** All changes `after` < seq <= `until` of one epoch. */
export interface Older {
  readonly epoch: number;
  readonly after: number;
  readonly until: number;
  /** Approximate memory. */
  readonly bytes: number;
}

/** A client that waits for a read. */
interface Waiter<O> {
  readonly after: number;
  readonly isWanted: () => boolean;
  readonly resolve: (older: O | null) => void;
}

interface LogRead<O> {
  request: BackfillRequest;
  readonly waiters: Set<Waiter<O>>;
  /** True once no client waited: the read then ends without a result, even if another client arrives. */
  isAbandoned: boolean;
}

export interface LogHistoryOptions<O> {
  readonly source: LogSource<O>;
  readonly log: EventLog;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

export class LogHistory<O extends Older> {
  readonly #options: LogHistoryOptions<O>;
  readonly #cache = new Map<string, { readonly older: O; readonly untilMs: number }>();
  /** Recent failures: the log gave no changes at or below `floor`. */
  readonly #failed = new Map<string, { readonly epoch: number; readonly floor: number; readonly untilMs: number }>();
  /** Reads by place: at most one waiting and one running per place. Waiting reads start in order of arrival. */
  readonly #waiting = new Map<string, LogRead<O>>();
  readonly #running = new Map<string, LogRead<O>>();

  constructor(options: LogHistoryOptions<O>) {
    this.#options = options;
  }

  /** A cached read that covers the changes after `after`, at least up to `reaching`; null when there is none. */
  cached(place: LogPlace, epoch: number, after: number, reaching: number): O | null {
    this.#evict();
    const older = this.#cache.get(nameOf(place))?.older;
    return older && older.epoch === epoch && older.after <= after && older.until >= reaching ? older : null;
  }

  /** True when the changes are neither cached, nor being read, nor known to be missing. */
  needsRead(request: BackfillRequest): boolean {
    const { epoch, after, until } = request;
    if (this.cached(request, epoch, after, until) || this.#hasFailed(request)) return false;
    const name = nameOf(request);
    return ![this.#waiting.get(name), this.#running.get(name)].some((read) => read && covers(read, request));
  }

  /**
   * Reads the requested changes, one read per place at a time. Resolves with null when the log does not hold all of them, and when
   * `isWanted` turns false for every waiting client.
   */
  read(request: BackfillRequest, isWanted: () => boolean): Promise<O | null> {
    const { epoch, after, until } = request;
    const cached = this.cached(request, epoch, after, until);
    if (cached || this.#hasFailed(request)) return Promise.resolve(cached);
    return new Promise((resolve) => {
      const running = this.#running.get(nameOf(request));
      const read = running && covers(running, request) ? running : this.#pendingRead(request);
      read.waiters.add({ after, isWanted, resolve });
      this.#start();
    });
  }

  /** The place's waiting read, widened to the request. */
  #pendingRead(request: BackfillRequest): LogRead<O> {
    const name = nameOf(request);
    const waiting = this.#waiting.get(name);
    if (waiting && waiting.request.epoch === request.epoch) {
      const later = request.until > waiting.request.until ? request : waiting.request;
      waiting.request = { ...later, after: Math.min(request.after, waiting.request.after) };
      return waiting;
    }
    if (waiting) resolveAll(waiting, null);
    const read = { request, waiters: new Set<Waiter<O>>(), isAbandoned: false };
    this.#waiting.set(name, read);
    return read;
  }

  #start(): void {
    for (const [name, read] of this.#waiting) {
      if (this.#running.size >= LOG_READS_MAX) return;
      if (this.#running.has(name)) continue;
      this.#waiting.delete(name);
      if (!isAwaited(read)) continue;
      this.#running.set(name, read);
      void this.#run(name, read);
    }
  }

  async #run(name: string, read: LogRead<O>): Promise<void> {
    const { request, waiters } = read;
    const { key, epoch, until } = request;
    const { source, log, logger, clock } = this.#options;
    let older: O | null = null;
    try {
      older = await searchBack({ source, log, clock, request, isAwaited: () => isAwaited(read) });
      if (older) {
        this.#store(name, older);
        if (older.after > request.after) this.#fail(name, epoch, older.after, LOG_MISSING_MS);
      }
    } catch (error) {
      logger.error({ key, error: String(error) }, 'cannot read changes back from the log');
      this.#fail(name, epoch, until, LOG_FAILED_MS);
    }
    this.#running.delete(name);
    resolveAll(read, older);
    waiters.clear();
    this.#start();
  }

  #fail(name: string, epoch: number, floor: number, forMs: number): void {
    this.#failed.set(name, { epoch, floor, untilMs: this.#options.clock() + forMs });
  }

  #hasFailed(request: BackfillRequest): boolean {
    const { epoch, after } = request;
    const name = nameOf(request);
    const failed = this.#failed.get(name);
    if (!failed) return false;
    if (failed.untilMs <= this.#options.clock()) this.#failed.delete(name);
    else return failed.epoch === epoch && after < failed.floor;
    return false;
  }

  #store(name: string, older: O): void {
    this.#cache.delete(name); // Keeps insertion order equal to age.
    this.#cache.set(name, { older, untilMs: this.#options.clock() + LOG_CACHE_MS });
    this.#evict();
    setTimeout(() => this.#evict(), LOG_CACHE_MS).unref();
  }

  #evict(): void {
    const nowMs = this.#options.clock();
    let bytes = 0;
    for (const { older } of this.#cache.values()) bytes += older.bytes;
    for (const [name, { older, untilMs }] of this.#cache) {
      if (untilMs > nowMs && bytes <= LOG_CACHE_BYTES_MAX) continue;
      this.#cache.delete(name);
      bytes -= older.bytes;
    }
  }
}

/** Equal for requests of the same records: an account has changes in several partitions. */
function nameOf({ key, partition }: LogPlace): string {
  return partition === undefined ? key : `${key}/${partition}`;
}

/** Whether a client still waits; resolves those that do not with null. */
function isAwaited<O>(read: LogRead<O>): boolean {
  const { waiters } = read;
  for (const waiter of waiters) {
    if (waiter.isWanted()) return true;
    waiters.delete(waiter);
    waiter.resolve(null);
  }
  read.isAbandoned = true;
  return false;
}

function covers({ request: { epoch, after, until }, isAbandoned }: LogRead<never>, request: BackfillRequest): boolean {
  return !isAbandoned && epoch === request.epoch && after <= request.after && until >= request.until;
}

function resolveAll<O extends Older>({ waiters }: LogRead<O>, older: O | null): void {
  for (const { after, resolve } of waiters) resolve(older && older.after <= after ? older : null);
}
