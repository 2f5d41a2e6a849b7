// How subscribers enter streams: snapshot or resume, then the live messages, with nothing missing in between. A join waits
// for one thing at a time, which wakes it: its stream, the client that has much unread, changes that are read from the log, or
// changes that are gathered a moment in each turn.

import { SlicedWork } from '../../../platform/index.ts';
import type { Steps } from '../../../processors/book/index.ts';
import type { BookPosition } from '../../../schemas/index.ts';
import { Filling } from './filling.ts';
import { JOIN_BUFFER_BYTES, LOG_READ_COST_MIN, RESUME_WAIT_MS } from './limits.ts';
import type { LogHistory, OlderDiffs } from './log-history.ts';
import type { FeedMetrics } from './metrics.ts';
import type { Stream } from './stream.ts';
import type { Subscriber } from './subscriber.ts';

/** What a join waits for: `stream`, until it was told on; `client`, until it has read; `changes`; or nothing more, it is over. */
type Step = 'stream' | 'client' | 'changes' | 'over';

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
  /** As far as it was gathered. */
  filling: Filling | null;
  waitsFor: Step;
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
  readonly #byStream = new Map<Stream, Set<Join>>();
  readonly #byClient = new Map<Subscriber, Set<Join>>();
  /** Of clients that may be ahead of us, in the order of their deadlines. */
  readonly #ahead = new Set<Join>();
  #timer: NodeJS.Timeout | null = null;
  /** All fillings share a moment of each turn. */
  readonly #gathering: SlicedWork;

  constructor(options: JoinsOptions) {
    this.#options = options;
    this.#gathering = new SlicedWork(options.clock);
  }

  /** Begins a join, which may end at once. */
  start(subscriber: Subscriber, stream: Stream, position: BookPosition | null): void {
    this.cancel(subscriber, stream);
    const join: Join = {
      subscriber,
      stream,
      position,
      isAsked: position !== null,
      deadlineMs: this.#options.clock() + RESUME_WAIT_MS,
      older: null,
      filling: null,
      waitsFor: 'over',
      isOver: false,
    };
    const joins = this.#waiting.get(subscriber) ?? new Map<Stream, Join>();
    this.#waiting.set(subscriber, joins);
    joins.set(stream, join);
    this.#run(join);
  }

  cancel(subscriber: Subscriber, stream: Stream): void {
    const join = this.#waiting.get(subscriber)?.get(stream);
    if (join) this.#forget(join);
  }

  cancelAll(subscriber: Subscriber): void {
    for (const join of [...(this.#waiting.get(subscriber)?.values() ?? [])]) this.#forget(join);
  }

  /** To be called when a stream has moved. */
  moved(stream: Stream): void {
    for (const join of [...(this.#byStream.get(stream) ?? [])]) this.#run(join);
  }

  /** To be called when a client has read something. */
  drained(subscriber: Subscriber): void {
    for (const join of [...(this.#byClient.get(subscriber) ?? [])]) {
      if (isLagging(subscriber)) return;
      this.#run(join);
    }
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const subscriber of [...this.#waiting.keys()]) this.cancelAll(subscriber);
  }

  /** Goes on with a join as far as it comes now. */
  #run(join: Join): void {
    if (join.isOver) return;
    this.#leaveSets(join);
    const step = this.#advance(join);
    if (join.isOver) return; // the client was closed for what it has unread
    if (step === 'over') {
      this.#forget(join);
      return;
    }
    join.waitsFor = step;
    if (step === 'stream') put(this.#byStream, join.stream, join);
    else if (step === 'client') put(this.#byClient, join.subscriber, join);
  }

  #forget(join: Join): void {
    join.isOver = true;
    this.#leaveSets(join);
    this.#ahead.delete(join);
    const joins = this.#waiting.get(join.subscriber);
    joins?.delete(join.stream);
    if (joins?.size === 0) this.#waiting.delete(join.subscriber);
  }

  #leaveSets(join: Join): void {
    if (join.waitsFor === 'stream') take(this.#byStream, join.stream, join);
    else if (join.waitsFor === 'client') take(this.#byClient, join.subscriber, join);
    join.waitsFor = 'over';
  }

  /** A client that is ahead of us is not waited for beyond its deadline. */
  #awaitDeadline(join: Join): void {
    this.#ahead.add(join);
    this.#timer ??= setTimeout(() => this.#passDeadlines(), join.deadlineMs - this.#options.clock());
  }

  #passDeadlines(): void {
    this.#timer = null;
    const nowMs = this.#options.clock();
    for (const join of [...this.#ahead]) {
      if (join.deadlineMs > nowMs) {
        this.#timer = setTimeout(() => this.#passDeadlines(), Math.ceil(join.deadlineMs - nowMs));
        return;
      }
      this.#ahead.delete(join);
      this.#run(join);
    }
  }

  #advance(join: Join): Step {
    const { subscriber, stream } = join;
    if (stream.isDirty) return 'stream';
    if (isLagging(subscriber)) return 'client';
    return join.position === null ? this.#giveSnapshot(join) : this.#resume(join, join.position);
  }

  #giveSnapshot(join: Join): Step {
    const { subscriber, stream } = join;
    const frame = stream.snapshot();
    if (!frame) return 'stream';
    subscriber.connection.send([frame]);
    if (!isLagging(subscriber)) return this.#enter(join);
    // A large book: the stream begins when the client has read it, from where it then stands.
    join.position = stream.sent;
    return 'client';
  }

  #resume(join: Join, position: BookPosition): Step {
    const { stream, subscriber } = join;
    this.#catchUp(stream, position);
    const older = this.#older(join, position);
    const fill = stream.fill(position, older, join.filling);
    if (fill === 'wait' && this.#options.clock() < join.deadlineMs) {
      this.#awaitDeadline(join);
      return 'stream';
    }
    const reading = fill === 'older' ? this.#read(join, position) : null;
    if (reading) {
      this.#awaitRead(join, reading);
      return 'changes';
    }
    if (fill instanceof Filling) {
      join.filling = fill;
      this.#awaitGathered(join, stream.gather(fill, position, older));
      return 'changes';
    }
    if (fill === 'older' || fill === 'wait' || fill === 'lost') return this.#lose(join, position);
    join.filling = null;
    this.#answer(join, position, true, fill);
    if (!isLagging(subscriber)) return this.#enter(join);
    join.position = stream.sent;
    return 'client';
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

  #lose(join: Join, position: BookPosition): Step {
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

  #enter({ subscriber, stream }: Join): 'over' {
    if (!subscriber.isClosed) this.#options.enter(subscriber, stream);
    return 'over';
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
    void reading.then((older) => {
      if (join.isOver) return;
      join.older = older;
      if (older === null) join.position = this.#giveUp(join);
      this.#run(join);
    });
  }

  #awaitGathered(join: Join, gathering: Steps<void>): void {
    void this.#gathering
      .run(gathering, () => !join.isOver)
      .then(() => {
        if (!join.isOver) this.#run(join);
      });
  }

  /** The log does not hold what is missing: the client is told, and the next step is a snapshot. */
  #giveUp(join: Join): null {
    if (join.position) this.#answer(join, join.position, false, []);
    return null;
  }
}

function isLagging({ connection }: Subscriber): boolean {
  return connection.unreadBytes > JOIN_BUFFER_BYTES;
}

function put<K>(sets: Map<K, Set<Join>>, key: K, join: Join): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  set.add(join);
}

function take<K>(sets: Map<K, Set<Join>>, key: K, join: Join): void {
  const set = sets.get(key);
  set?.delete(join);
  if (set?.size === 0) sets.delete(key);
}
