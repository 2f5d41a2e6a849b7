// Changes that a ring no longer holds, read back from `views.book`: what makes a resume outlive a restart of the gateway. Reading
// is nobody's hurry but the reader's: it goes on for a moment in a turn of the loop, and only while somebody waits for it.

import type { EventLog, Logger } from '../../../platform/index.ts';
import type { BookViewDiff } from '../../../schemas/index.ts';
import type { Changes } from './changes.ts';
import { LOG_FAILED_MS, LOG_KEPT_BYTES_MAX, LOG_KEPT_MS, LOG_LACKS_MS, LOG_READS_MAX } from './limits.ts';
import { type Found, searchBack } from './log-search.ts';
import { decodeDiff } from './ring.ts';

/** Changes `after` < seq <= `until` of one epoch, without a hole. */
export class OlderDiffs {
  readonly epoch: number;
  readonly after: number;
  readonly until: number;
  readonly #found: Found;

  constructor(epoch: number, after: number, until: number, found: Found) {
    this.epoch = epoch;
    this.after = after;
    this.until = until;
    this.#found = found;
  }

  /** What this takes in memory, about. */
  get bytes(): number {
    return this.#found.bytes;
  }

  /** The newest state of everything that changed. */
  merged(level: 'l2' | 'l3'): Changes {
    return this.#found.merged[level];
  }

  /** A change; null for those that are too many to be told one by one before `until`. */
  diff(seq: number): BookViewDiff | null {
    const bytes = this.#found.newest.get(seq);
    return bytes ? decodeDiff(bytes) : null;
  }
}

export interface Wanted {
  readonly key: string;
  readonly epoch: number;
  /** Changes after this sequence are wanted, up to and with `until`, which lies at `untilOffset` (null: somewhere). */
  readonly after: number;
  readonly until: number;
  readonly untilOffset: bigint | null;
}

/** Who waits for a reading. */
interface Wish {
  readonly after: number;
  readonly isWanted: () => boolean;
  readonly resolve: (older: OlderDiffs | null) => void;
}

interface Reading {
  wanted: Wanted;
  readonly wishes: Set<Wish>;
  /** Nobody waited any more when it looked: it ends without a result, whoever comes now. */
  isAbandoned: boolean;
}

export interface LogHistoryOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

export class LogHistory {
  readonly #options: LogHistoryOptions;
  readonly #kept = new Map<string, { readonly older: OlderDiffs; readonly untilMs: number }>();
  /** What the log did not give lately: changes after anything before `floor`. */
  readonly #failed = new Map<string, { readonly epoch: number; readonly floor: number; readonly untilMs: number }>();
  /** At most one of each kind for a market, by its key; those that wait begin in the order in which they came. */
  readonly #waiting = new Map<string, Reading>();
  readonly #running = new Map<string, Reading>();

  constructor(options: LogHistoryOptions) {
    this.#options = options;
  }

  /** What was read lately and covers the wanted changes and at least up to `joins`; null when it must be read. */
  kept(key: string, epoch: number, after: number, joins: number): OlderDiffs | null {
    this.#forget();
    const older = this.#kept.get(key)?.older;
    return older && older.epoch === epoch && older.after <= after && older.until >= joins ? older : null;
  }

  /** True when the wanted changes are neither there nor being read, nor known to be nowhere. */
  isMissing(wanted: Wanted): boolean {
    const { key, epoch, after, until } = wanted;
    if (this.kept(key, epoch, after, until) || this.#hasFailed(wanted)) return false;
    return ![this.#waiting.get(key), this.#running.get(key)].some((reading) => reading && covers(reading, wanted));
  }

  /**
   * Reads the wanted changes of a market, one read per market at a time. Null when the log does not hold all, and when nobody
   * waits for the answer any more: `isWanted` says so.
   */
  read(wanted: Wanted, isWanted: () => boolean): Promise<OlderDiffs | null> {
    const { key, epoch, after, until } = wanted;
    const kept = this.kept(key, epoch, after, until);
    if (kept || this.#hasFailed(wanted)) return Promise.resolve(kept);
    return new Promise((resolve) => {
      const running = this.#running.get(key);
      const reading = running && covers(running, wanted) ? running : this.#planned(wanted);
      reading.wishes.add({ after, isWanted, resolve });
      this.#start();
    });
  }

  /** The reading of a market that has not begun, widened to what is wanted. */
  #planned(wanted: Wanted): Reading {
    const waiting = this.#waiting.get(wanted.key);
    if (waiting && waiting.wanted.epoch === wanted.epoch) {
      const later = wanted.until > waiting.wanted.until ? wanted : waiting.wanted;
      waiting.wanted = { ...later, after: Math.min(wanted.after, waiting.wanted.after) };
      return waiting;
    }
    if (waiting) answer(waiting, null);
    const reading = { wanted, wishes: new Set<Wish>(), isAbandoned: false };
    this.#waiting.set(wanted.key, reading);
    return reading;
  }

  #start(): void {
    for (const [key, reading] of this.#waiting) {
      if (this.#running.size >= LOG_READS_MAX) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      if (!isAwaited(reading)) continue;
      this.#running.set(key, reading);
      void this.#run(reading);
    }
  }

  async #run(reading: Reading): Promise<void> {
    const { wanted, wishes } = reading;
    const { key, epoch, until } = wanted;
    const { log, logger, clock } = this.#options;
    let older: OlderDiffs | null = null;
    try {
      const found = await searchBack({ log, clock, wanted, isAwaited: () => isAwaited(reading) });
      if (found) {
        older = new OlderDiffs(epoch, found.floor, until, found);
        this.#keep(key, older);
        if (found.floor > wanted.after) this.#fail(key, epoch, found.floor, LOG_LACKS_MS);
      }
    } catch (error) {
      logger.error({ market: key, error: String(error) }, 'changes cannot be read back');
      this.#fail(key, epoch, until, LOG_FAILED_MS);
    }
    this.#running.delete(key);
    answer(reading, older);
    wishes.clear();
    this.#start();
  }

  #fail(key: string, epoch: number, floor: number, forMs: number): void {
    this.#failed.set(key, { epoch, floor, untilMs: this.#options.clock() + forMs });
  }

  #hasFailed({ key, epoch, after }: Wanted): boolean {
    const failed = this.#failed.get(key);
    if (!failed) return false;
    if (failed.untilMs <= this.#options.clock()) this.#failed.delete(key);
    else return failed.epoch === epoch && after < failed.floor;
    return false;
  }

  #keep(key: string, older: OlderDiffs): void {
    this.#kept.delete(key); // so that insertion order is age
    this.#kept.set(key, { older, untilMs: this.#options.clock() + LOG_KEPT_MS });
    this.#forget();
    setTimeout(() => this.#forget(), LOG_KEPT_MS).unref();
  }

  #forget(): void {
    const nowMs = this.#options.clock();
    let bytes = 0;
    for (const { older } of this.#kept.values()) bytes += older.bytes;
    for (const [key, { older, untilMs }] of this.#kept) {
      if (untilMs > nowMs && bytes <= LOG_KEPT_BYTES_MAX) continue;
      this.#kept.delete(key);
      bytes -= older.bytes;
    }
  }
}

/** Whether somebody still waits; those who do not are let go. */
function isAwaited(reading: Reading): boolean {
  const { wishes } = reading;
  for (const wish of wishes) {
    if (wish.isWanted()) return true;
    wishes.delete(wish);
    wish.resolve(null);
  }
  reading.isAbandoned = true;
  return false;
}

function covers({ wanted: { epoch, after, until }, isAbandoned }: Reading, wanted: Wanted): boolean {
  return !isAbandoned && epoch === wanted.epoch && after <= wanted.after && until >= wanted.until;
}

function answer({ wishes }: Reading, older: OlderDiffs | null): void {
  for (const { after, resolve } of wishes) resolve(older && older.after <= after ? older : null);
}
