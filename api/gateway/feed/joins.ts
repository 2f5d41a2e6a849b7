// How subscribers enter streams: snapshot or resume, then the live messages, with nothing missing in between. A join waits
// while its stream has untold changes, while older changes are read, and while the client has much unread.

import type { BookPosition } from '../../../schemas/index.ts';
import { JOIN_BUFFER_BYTES, JOIN_RETRY_MS, LOG_READ_COST_MIN, RESUME_WAIT_MS } from './limits.ts';
import type { LogHistory, OlderDiffs } from './log-history.ts';
import type { FeedMetrics } from './metrics.ts';
import type { Stream } from './stream.ts';
import type { Subscriber } from './subscriber.ts';

interface Join {
  readonly subscriber: Subscriber;
  readonly stream: Stream;
  /** Where the client stands; null when it needs a snapshot. */
  position: BookPosition | null;
  /** True when the client asked to resume and has not been answered. */
  isAsked: boolean;
  /** Monotonic milliseconds until which a client ahead of us is waited for. */
  readonly deadlineMs: number;
  older: OlderDiffs | null;
  isReading: boolean;
  /** Cancelled: what is still under way for it must not reach the client. */
  isOver: boolean;
}

export interface JoinsOptions {
  readonly history: LogHistory;
  readonly metrics: FeedMetrics;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Sends a message of a stream to all who have joined it. */
  readonly publish: (stream: Stream, frame: Buffer) => void;
  /** Adds a subscriber to those who have joined. */
  readonly enter: (subscriber: Subscriber, stream: Stream) => void;
}

export class Joins {
  readonly #options: JoinsOptions;
  readonly #waiting = new Map<Subscriber, Map<Stream, Join>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: JoinsOptions) {
    this.#options = options;
  }

  /** Begins a join, which may end at once. */
  start(subscriber: Subscriber, stream: Stream, position: BookPosition | null): void {
    const { clock } = this.#options;
    this.cancel(subscriber, stream);
    const isAsked = position !== null;
    const deadlineMs = clock() + RESUME_WAIT_MS;
    const join: Join = {
      subscriber,
      stream,
      position,
      isAsked,
      deadlineMs,
      older: null,
      isReading: false,
      isOver: false,
    };
    if (this.#advance(join) || subscriber.isClosed) return;
    const joins = this.#waiting.get(subscriber) ?? new Map<Stream, Join>();
    this.#waiting.set(subscriber, joins);
    joins.set(stream, join);
    this.#schedule();
  }

  cancel(subscriber: Subscriber, stream: Stream): void {
    const joins = this.#waiting.get(subscriber);
    const join = joins?.get(stream);
    if (join) join.isOver = true;
    joins?.delete(stream);
    if (joins?.size === 0) this.#waiting.delete(subscriber);
  }

  cancelAll(subscriber: Subscriber): void {
    for (const join of this.#waiting.get(subscriber)?.values() ?? []) join.isOver = true;
    this.#waiting.delete(subscriber);
  }

  /** To be called when streams have moved. */
  advance(): void {
    for (const [subscriber, joins] of this.#waiting) {
      for (const [stream, join] of joins) if (this.#advance(join)) joins.delete(stream);
      if (joins.size === 0) this.#waiting.delete(subscriber);
    }
    if (this.#waiting.size > 0) this.#schedule();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
  }

  #schedule(): void {
    if (this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.advance();
    }, JOIN_RETRY_MS);
  }

  /** True when the join is over. */
  #advance(join: Join): boolean {
    const { subscriber, stream } = join;
    if (join.isReading || stream.isDirty || subscriber.connection.unreadBytes > JOIN_BUFFER_BYTES) return false;
    return join.position === null ? this.#giveSnapshot(join) : this.#resume(join, join.position);
  }

  #giveSnapshot(join: Join): boolean {
    const { subscriber, stream } = join;
    const frame = stream.snapshot();
    if (!frame) return false;
    subscriber.connection.send([frame]);
    if (subscriber.connection.unreadBytes <= JOIN_BUFFER_BYTES) return this.#enter(join);
    // A large book: the stream begins when the client has read it, from where it then stands.
    join.position = stream.sent;
    return false;
  }

  #resume(join: Join, position: BookPosition): boolean {
    const { stream, subscriber } = join;
    this.#catchUp(stream, position);
    const fill = stream.fill(position, this.#older(join, position));
    if (fill === 'wait' && this.#options.clock() < join.deadlineMs) return false;
    const reading = fill === 'older' ? this.#read(join, position) : null;
    if (reading) {
      this.#awaitRead(join, reading);
      return false;
    }
    if (fill === 'older' || fill === 'wait' || fill === 'lost') return this.#lose(join, position);
    this.#answer(join, position, true, fill);
    if (subscriber.connection.unreadBytes <= JOIN_BUFFER_BYTES) return this.#enter(join);
    join.position = stream.sent;
    return false;
  }

  /** A client may have been told of a newer sequence than a stream that shows nothing of it. */
  #catchUp(stream: Stream, { epoch, seq }: BookPosition): void {
    const { sent } = stream;
    if (!sent || epoch !== sent.epoch || seq <= sent.seq) return;
    const head = stream.market.book()?.head;
    if (!head || seq > head.seq) return;
    const frame = stream.flush(true);
    if (frame) this.#options.publish(stream, frame);
  }

  #lose(join: Join, position: BookPosition): boolean {
    this.#answer(join, position, false, []);
    join.position = null;
    return this.#giveSnapshot(join);
  }

  #answer(join: Join, { epoch, seq }: BookPosition, recovered: boolean, frames: readonly Buffer[]): void {
    const { stream, subscriber } = join;
    const { name, streamId } = stream;
    const answer = { channel: 'book', type: 'resumed', stream: name, streamId, recovered, epoch, seq };
    subscriber.connection.send(join.isAsked ? [JSON.stringify(answer), ...frames] : frames);
    if (join.isAsked) this.#options.metrics.resumes.inc({ outcome: recovered ? 'recovered' : 'lost' });
    join.isAsked = false;
  }

  #enter({ subscriber, stream }: Join): true {
    if (!subscriber.isClosed) this.#options.enter(subscriber, stream);
    return true;
  }

  #older(join: Join, { epoch, seq }: BookPosition): OlderDiffs | null {
    const { key, ring } = join.stream.market;
    if (seq >= ring.baseSeq) return null;
    return join.older ?? this.#options.history.kept(key, epoch, seq, ring.baseSeq);
  }

  /** Reads what is missing from the log; null when the client has had too much read. */
  #read(join: Join, { epoch, seq }: BookPosition): Promise<OlderDiffs | null> | null {
    const { history, metrics, clock } = this.#options;
    const { key, ring } = join.stream.market;
    const { seq: until, offset: untilOffset } = ring.seam();
    const wanted = { key, epoch, after: seq, until, untilOffset };
    if (history.isMissing(wanted)) {
      const { reads } = join.subscriber;
      const cost = Math.max(LOG_READ_COST_MIN, until - seq);
      if (!reads.has(cost, clock())) return null;
      reads.spend(cost, clock());
    }
    metrics.logReads.inc();
    return history.read(wanted, () => !join.isOver);
  }

  #awaitRead(join: Join, reading: Promise<OlderDiffs | null>): void {
    join.isReading = true;
    void reading.then((older) => {
      if (join.isOver) return;
      join.isReading = false;
      join.older = older;
      if (older === null) join.position = this.#giveUp(join);
      this.advance();
    });
  }

  /** The log does not hold what is missing: the client is told, and the next step is a snapshot. */
  #giveUp(join: Join): null {
    if (join.position) this.#answer(join, join.position, false, []);
    return null;
  }
}
