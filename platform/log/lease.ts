// One process at a time writes for a role. Marks in topic `writers` order the processes on either log, and a writer that sees a newer one
// stops (README.md, One writer per role). A write of longer than HANDOVER_MS - LEASE_MS can arrive late, so a role with a lease must
// tolerate late outputs.

import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Topic } from '../../schemas/index.ts';
import { ForwardingLog } from './forwarding.ts';
import { awaitTurn, type Silence } from './lease/candidacy.ts';
import { type Begun, type Candidate, markRecord, nameOf, type RoleMarks, THIS_PROCESS } from './lease/marks.ts';
import type { LeaseTimes } from './lease/times.ts';
import { MarkWatch } from './lease/watch.ts';
import {
  type Appended,
  type Commit,
  type EventLog,
  type Fence,
  type GroupState,
  type GroupUse,
  LogAwayError,
  type NewRecord,
  SupersededError,
} from './port.ts';

export { type Begun, type Candidate, MarkWatch, nameOf };

export const LOOK_MS = 200;
const LEASE_MS = 500;
const HANDOVER_MS = 1_000;
/** A writer whose event loop blocks for longer loses the role. At least HANDOVER_MS. */
const SILENT_MS = 5_000;
/** Interval at which a refused process asks again. */
const ASK_MS = 2_000;
/** Longest wait for the log when a process ends; without the mark the next process treats its silence as the end. */
const RELEASE_MS = 2_000;
const WAIT_STEP_MS = 20;

/** Another process has become the writer of the role. */
export class TakenOverError extends Error {
  constructor(role: string, epoch: bigint, by: Begun) {
    super(`another ${role} process has taken over (${nameOf(by.by)}, epoch ${by.epoch}; this one had epoch ${epoch})`);
    this.name = 'TakenOverError';
  }
}

export const LEASE_TIMES: LeaseTimes = {
  lookMs: LOOK_MS,
  leaseMs: LEASE_MS,
  handoverMs: HANDOVER_MS,
  silentMs: SILENT_MS,
  askMs: ASK_MS,
  releaseMs: RELEASE_MS,
};

export interface LeaseOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called each time the writer refuses. */
  readonly onStandby?: (writer: Begun) => void;
  /** For tests. */
  readonly times?: LeaseTimes;
  readonly self?: Candidate;
}

export class WriterLease {
  readonly epoch: bigint;
  /** The log for this role's writes. Rejects with TakenOverError, without writing, once another process has begun. */
  readonly log: EventLog;
  readonly #watch: MarkWatch;
  readonly #marks: RoleMarks;
  readonly #role: string;
  readonly #logger: Logger;
  readonly #times: LeaseTimes;
  readonly #self: Candidate;
  readonly #over = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #unsubscribe: () => void;
  /** Start of the newest check that found no newer process and no open ask, monotonic milliseconds. */
  #seenMs = Number.NEGATIVE_INFINITY;
  /** Newest ask with an answer in the log. */
  #answered: bigint;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #answering: Promise<void> | null = null;
  #isReleased = false;

  private constructor(watch: MarkWatch, role: string, epoch: bigint, options: LeaseOptions) {
    this.epoch = epoch;
    this.log = new FencedLog(watch.log, { role, epoch, check: () => this.check() }, (write) => this.#write(write));
    this.#watch = watch;
    this.#marks = watch.of(role);
    this.#role = role;
    this.#logger = options.logger;
    this.#times = options.times ?? LEASE_TIMES;
    this.#self = options.self ?? THIS_PROCESS;
    this.#answered = epoch;
    this.#unsubscribe = watch.onLook((beganMs) => this.#looked(beganMs));
  }

  /**
   * Resolves when this process is the writer and no earlier one writes any more, so that the log is complete for reading.
   * Stands by until then. Rejects when the signal aborts, or when the log fails for another reason than being away.
   */
  static async acquire(watch: MarkWatch, role: string, options: LeaseOptions): Promise<WriterLease> {
    const { logger, signal, times = LEASE_TIMES, self = THIS_PROCESS, onStandby = () => {} } = options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const silence = await awaitTurn({ watch, role, self, times, signal, onStandby });
        const lease = await WriterLease.#begin(watch, role, options, silence);
        if (lease !== null) return lease;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof LogAwayError)) throw error;
        logger.debug({ err: error }, 'the log is away; asking again');
        await delay(times.askMs, undefined, { signal });
      }
    }
  }

  /** Null when another process began at the same time and comes later in the log. */
  static async #begin(
    watch: MarkWatch,
    role: string,
    options: LeaseOptions,
    silence: Silence | null,
  ): Promise<WriterLease | null> {
    const { self = THIS_PROCESS, times = LEASE_TIMES } = options;
    const epoch = await watch.put(markRecord(role, 'began', null, self));
    const untilMs = performance.now() + times.handoverMs;
    const lease = new WriterLease(watch, role, epoch, options);
    try {
      await watch.fresh();
      await lease.#waitForPrevious(untilMs, silence);
    } catch (error) {
      await lease.release();
      throw error;
    }
    if (!lease.signal.aborted) return lease;
    await lease.release();
    return null;
  }

  /** Aborts with a TakenOverError when another process has begun. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves when this process may write to another system; rejects like `log`. */
  check(): Promise<void> {
    return this.#write(() => Promise.resolve());
  }

  /** Lets the next process begin at once. Call it after the last write; waits for open writes for up to RELEASE_MS. */
  async release(): Promise<void> {
    this.#unsubscribe();
    this.#isReleased = true;
    const ended = this.#markEnd();
    ended.catch(() => {}); // It may fail after the timeout.
    const isEnded = new AbortController();
    const late = delay(this.#times.releaseMs, undefined, { signal: isEnded.signal }).then(() => {
      throw new Error('the log does not answer');
    });
    late.catch(() => {}); // The end may come first.
    try {
      await Promise.race([ended, late]);
    } catch (error) {
      this.#logger.warn(
        { err: error, epoch: this.epoch },
        'end of writing not recorded; the next process waits a moment',
      );
    } finally {
      isEnded.abort();
    }
  }

  async #markEnd(): Promise<void> {
    await Promise.allSettled([...this.#underWay, this.#answering]);
    await this.#watch.put(markRecord(this.#role, 'ended', this.epoch, this.#self));
  }

  async #waitForPrevious(untilMs: number, silence: Silence | null): Promise<void> {
    const previous = this.#marks.before(this.epoch);
    if (previous === null) return;
    // The writer answered the ask and has written nothing since; it sees this mark before its next write.
    const isAnswered = silence?.ask != null && this.#marks.isRefused(silence.ask, this.epoch);
    if (silence?.writer === previous.epoch && !isAnswered) return;
    while (performance.now() < untilMs && !this.#marks.hasEnded(previous.epoch) && !this.signal.aborted) {
      await delay(WAIT_STEP_MS);
      await this.#watch.look();
    }
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    while (performance.now() - this.#seenMs > this.#times.leaseMs) {
      this.#assertHeld();
      await this.#answering;
      const beganMs = performance.now();
      await this.#watch.look();
      // A slower log is no takeover, but the next process waits only this long.
      const tookMs = performance.now() - beganMs;
      if (this.#seenMs >= beganMs && tookMs > this.#times.leaseMs && tookMs < this.#times.handoverMs) break;
    }
    this.#assertHeld();
    const written = write();
    this.#underWay.add(written);
    try {
      return await written;
    } catch (error) {
      if (error instanceof SupersededError) {
        await this.#watch.fresh();
        this.#assertHeld();
      }
      throw error;
    } finally {
      this.#underWay.delete(written);
    }
  }

  #assertHeld(): void {
    this.#over.signal.throwIfAborted();
    if (this.#isReleased) throw new Error(`${this.#role} has released its lease`);
  }

  #looked(beganMs: number): void {
    const newer = this.#marks.after(this.epoch);
    if (newer !== null && !this.#over.signal.aborted) {
      this.#over.abort(new TakenOverError(this.#role, this.epoch, newer));
    }
    if (this.#over.signal.aborted) return;
    const { newestAsk } = this.#marks;
    if (newestAsk > this.#answered) this.#answering ??= this.#answer(newestAsk);
    else if (beganMs >= this.#answeredMs) this.#seenMs = beganMs;
  }

  /** Writes nothing until the answer is in the log and everything before it is read. The next check retries a failure. */
  async #answer(upTo: bigint): Promise<void> {
    try {
      await this.#watch.put(markRecord(this.#role, 'keeps', upTo, this.#self));
      this.#answered = upTo;
      this.#answeredMs = performance.now();
    } catch (error) {
      this.#logger.debug({ err: error }, 'answer not written; retrying');
    } finally {
      this.#answering = null;
    }
  }
}

/** Runs a step that writes, or rejects without running it. */
type Allow = <T>(write: () => Promise<T>) => Promise<T>;

/** Reads go through, writes need permission. */
class FencedLog extends ForwardingLog {
  readonly #fence: Fence;
  readonly #allow: Allow;
  readonly #fenced = new Set<string>();

  constructor(log: EventLog, fence: Fence, allow: Allow) {
    super(log);
    this.#fence = fence;
    this.#allow = allow;
  }

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.#allow(() => super.append(topic, records));
  }

  override commit(group: string, step: Commit): Promise<void> {
    return this.#allow(() => super.commit(group, { ...step, fence: this.#fence }));
  }

  /** An empty commit before the first load as the writer: a late commit of an earlier writer has no effect behind it. */
  override async load(group: string, as: GroupUse = 'writer'): Promise<GroupState> {
    if (as === 'writer' && !this.#fenced.has(group)) {
      await this.commit(group, {});
      this.#fenced.add(group);
    }
    return super.load(group, as);
  }

  override forget(group: string): Promise<void> {
    return this.#allow(() => super.forget(group));
  }
}
