// One process at a time writes for a role. A process that starts puts a mark into topic `writers`; the offset of the mark is
// its epoch, so the log itself says who came last, on every adapter and without comparing and setting anything. Who came
// before sees the mark and ends; who came last waits until the other can write nothing more, and only then reads what is there.
//
// A process looks for newer marks every LOOK_MS, and begins a write only within LEASE_MS of the beginning of a look that found
// none. The newer one begins HANDOVER_MS after its mark, or when the older says that it has ended. What can still slip in later is
// a write that was under way for longer than HANDOVER_MS - LEASE_MS: a broker that was away, a process that was stopped in
// between. Kafka's own fence (a transactional producer) would refuse that too, but kafkajs fences a producer only inside
// transactions, and each append in one costs the broker several requests more. Whoever holds a lease must bear such a write.

import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeMessage, encodeMessage, SchemaError, TOPICS, type Topic, type WriterMark } from '../../schemas/index.ts';
import type { Logger } from '../runtime/context.ts';
import { PassingLog } from './passing.ts';
import type { Appended, Commit, EventLog, LogRecord, NewRecord } from './port.ts';

const LOOK_MS = 200;
const LEASE_MS = 500;
const HANDOVER_MS = 1_000;
/** A log that is away does not hold up the end of a process: the next one waits HANDOVER_MS then. */
const RELEASE_MS = 2_000;
const WAIT_STEP_MS = 20;
const READ_RECORDS = 100;

type Mark = 'began' | 'ended';

/** Another process writes for the role now: this one must end. */
export class TakenOverError extends Error {
  constructor(role: string, epoch: bigint, by: WriterMark | null, byEpoch: bigint) {
    const who = by === null ? 'of another version' : `pid ${by.pid} on ${by.host}`;
    super(
      `another ${role} process has taken over (${who}, epoch ${byEpoch}; this one had epoch ${epoch}): ` +
        `only one may write, so this one ends`,
    );
    this.name = 'TakenOverError';
  }
}

export interface LeaseTimes {
  readonly lookMs: number;
  readonly leaseMs: number;
  readonly handoverMs: number;
  readonly releaseMs: number;
}

const TIMES: LeaseTimes = { lookMs: LOOK_MS, leaseMs: LEASE_MS, handoverMs: HANDOVER_MS, releaseMs: RELEASE_MS };

export class WriterLease {
  readonly epoch: bigint;
  /** The log to write through: rejects with TakenOverError, and writes nothing, once another process is known to have begun. */
  readonly log: EventLog;
  readonly #plain: EventLog;
  readonly #role: string;
  readonly #logger: Logger;
  readonly #times: LeaseTimes;
  readonly #over = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #ended = new Set<bigint>();
  #previous: bigint | null = null;
  #next = 0n;
  /** Beginning of the newest look that found nobody, monotonic milliseconds. */
  #seenMs = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;

  private constructor(log: EventLog, role: string, epoch: bigint, logger: Logger, times: LeaseTimes) {
    this.epoch = epoch;
    this.log = new FencedLog(log, (write) => this.#write(write));
    this.#plain = log;
    this.#role = role;
    this.#logger = logger;
    this.#times = times;
  }

  /**
   * Takes over the role, and resolves when no earlier process writes any more: what is read from the log after this is all
   * that they left. Rejects when the log is away, or when somebody takes over meanwhile. `times` are replaced in tests.
   */
  static async take(log: EventLog, role: string, logger: Logger, times: LeaseTimes = TIMES): Promise<WriterLease> {
    await log.ensureTopics([TOPICS.writers]);
    const [appended] = await log.append(TOPICS.writers, [markRecord(role, 'began', null)]);
    const beganMs = performance.now();
    if (!appended) throw new Error('the log told no offset');
    const lease = new WriterLease(log, role, appended.first, logger, times);
    lease.#next = (await log.bounds(TOPICS.writers, 0)).earliest;
    await lease.#lookNow();
    await lease.#waitForPrevious(beganMs + times.handoverMs);
    lease.#timer = setInterval(() => void lease.#lookNow().catch(() => {}), times.lookMs).unref();
    return lease;
  }

  /** Aborts with a TakenOverError when another process has begun. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Lets the next process begin at once. Call it when nothing more is to be written; what is under way is waited for, within RELEASE_MS. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#isReleased = true;
    const told = this.#tellEnd();
    told.catch(() => {}); // when it is too late
    const isTold = new AbortController();
    const late = delay(this.#times.releaseMs, undefined, { signal: isTold.signal }).then(() => {
      throw new Error('the log does not answer');
    });
    late.catch(() => {}); // when it is not
    try {
      await Promise.race([told, late]);
    } catch (error) {
      this.#logger.warn({ err: error, epoch: this.epoch }, 'end not told; the next process waits a moment');
    } finally {
      isTold.abort();
    }
  }

  async #tellEnd(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#plain.append(TOPICS.writers, [markRecord(this.#role, 'ended', this.epoch)]);
  }

  async #waitForPrevious(untilMs: number): Promise<void> {
    if (this.#previous === null || this.#ended.has(this.#previous)) return;
    this.#logger.info(
      { epoch: this.epoch, previous: this.#previous },
      'the process before has not said that it ended: waiting until it writes nothing more',
    );
    while (performance.now() < untilMs && !this.#ended.has(this.#previous)) {
      await delay(WAIT_STEP_MS);
      await this.#lookNow();
    }
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    while (performance.now() - this.#seenMs > this.#times.leaseMs) {
      const beganMs = performance.now();
      await this.#lookNow();
      // A log that takes longer than that to answer is slow, not taken.
      if (performance.now() - beganMs > this.#times.leaseMs) break;
    }
    this.#over.signal.throwIfAborted();
    if (this.#isReleased) throw new Error(`${this.#role} has given up writing`);
    const written = write();
    this.#underWay.add(written);
    try {
      return await written;
    } finally {
      this.#underWay.delete(written);
    }
  }

  /** Rejects when the log cannot be read, or with a TakenOverError. Calls at once share a look. */
  #lookNow(): Promise<void> {
    this.#look ??= this.#read().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  async #read(): Promise<void> {
    this.#over.signal.throwIfAborted();
    const beganMs = performance.now();
    const { next } = await this.#plain.bounds(TOPICS.writers, 0);
    while (this.#next < next) {
      const records = await this.#plain.read(TOPICS.writers, 0, this.#next, READ_RECORDS);
      for (const record of records) {
        this.#hear(record);
        this.#next = record.offset + 1n;
      }
      if (records.length === 0) break;
    }
    this.#over.signal.throwIfAborted();
    this.#seenMs = beganMs;
  }

  #hear({ key, offset, value }: LogRecord): void {
    if (key === keyOf(this.#role, 'ended')) {
      const epoch = markIn(value)?.epoch ?? null;
      if (epoch !== null) this.#ended.add(BigInt(epoch));
    } else if (key === keyOf(this.#role, 'began')) {
      if (offset < this.epoch) this.#previous = offset;
      else if (offset > this.epoch) this.#over.abort(new TakenOverError(this.#role, this.epoch, markIn(value), offset));
    }
  }
}

/** Runs a step that writes, or rejects without running it. */
type Allow = <T>(write: () => Promise<T>) => Promise<T>;

/** Reading is free, writing goes through `allow`. */
class FencedLog extends PassingLog {
  readonly #allow: Allow;

  constructor(log: EventLog, allow: Allow) {
    super(log);
    this.#allow = allow;
  }

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.#allow(() => super.append(topic, records));
  }

  override commit(group: string, step: Commit): Promise<void> {
    return this.#allow(() => super.commit(group, step));
  }

  override forget(group: string): Promise<void> {
    return this.#allow(() => super.forget(group));
  }
}

/** Compaction keeps the newest of both marks of a role. */
function keyOf(role: string, mark: Mark): string {
  return `${role}/${mark}`;
}

function markRecord(role: string, mark: Mark, epoch: bigint | null): NewRecord {
  const value = { role, mark, epoch: epoch === null ? null : Number(epoch), host: hostname(), pid: process.pid };
  return { key: keyOf(role, mark), value: encodeMessage('WriterMark', value) };
}

/** Null for one that cannot be read: it counts all the same, by its key and offset. */
function markIn(value: Uint8Array): WriterMark | null {
  try {
    const message = decodeMessage(value);
    return message.name === 'WriterMark' ? message.value : null;
  } catch (error) {
    if (error instanceof SchemaError) return null;
    throw error;
  }
}
