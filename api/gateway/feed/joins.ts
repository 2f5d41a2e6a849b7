// How subscribers enter streams: snapshot or resume, then the live messages, with nothing missing in between. A join waits
// for one thing at a time, which wakes it: its stream, the client that has much unread, changes that are read from the log, or
// changes that are gathered a moment in each turn.

import { type Logger, SlicedWork } from '../../../platform/index.ts';
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
  /** Monotonic milliseconds until which it may wait for changes, or for us to come to where the client is. */
  deadlineMs: number;
  older: OlderDiffs | null;
  /** As far as it was gathered. */
  filling: Filling | null;
  waitsFor: Step;
  /** The read or gathering under way for it. */
  work: object | null;
  /** While it is filled the ring of its market is held. */
  isHolding: boolean;
  /** Cancelled: what is still under way for it must not reach the client. */
  isOver: boolean;
}

export interface JoinsOptions {
  readonly history: LogHistory;
  readonly metrics: FeedMetrics;
  readonly logger: Logger;
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
  /** Resumes, in the order of their deadlines. */
  readonly #deadlines = new Set<Join>();
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
      work: null,
      isHolding: false,
      isOver: false,
    };
    const joins = this.#waiting.get(subscriber) ?? new Map<Stream, Join>();
    this.#waiting.set(subscriber, joins);
    joins.set(stream, join);
    this.#run(join);
    if (join.isAsked) this.#awaitDeadline(join);
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
    this.#deadlines.delete(join);
    this.#letGo(join);
    const joins = this.#waiting.get(join.subscriber);
    joins?.delete(join.stream);
    if (joins?.size === 0) this.#waiting.delete(join.subscriber);
  }

  #leaveSets(join: Join): void {
    if (join.waitsFor === 'stream') take(this.#byStream, join.stream, join);
    else if (join.waitsFor === 'client') take(this.#byClient, join.subscriber, join);
    join.waitsFor = 'over';
  }

  #awaitDeadline(join: Join): void {
    if (join.isOver) return;
    this.#deadlines.add(join);
    this.#timer ??= setTimeout(() => this.#passDeadlines(), RESUME_WAIT_MS);
  }

  #passDeadlines(): void {
    this.#timer = null;
    const nowMs = this.#options.clock();
    for (const join of [...this.#deadlines]) {
      if (join.deadlineMs > nowMs) {
        this.#timer = setTimeout(() => this.#passDeadlines(), Math.ceil(join.deadlineMs - nowMs));
        return;
      }
      this.#deadlines.delete(join);
      if (join.waitsFor === 'stream' || join.waitsFor === 'changes') this.#run(join);
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
    return this.#goOn(join);
  }

  /** What was sent is being read: the client is then brought on from there. */
  #goOn(join: Join): 'client' {
    join.position = join.stream.sent;
    join.older = null;
    join.filling = null;
    join.deadlineMs = this.#options.clock() + RESUME_WAIT_MS;
    this.#deadlines.delete(join); // so that insertion order is that of deadlines
    this.#awaitDeadline(join);
    return 'client';
  }

  #resume(join: Join, position: BookPosition): Step {
    const { stream, subscriber } = join;
    this.#catchUp(stream, position);
    const older = this.#older(join, position);
    const fill = stream.fill(position, older, join.filling);
    if (typeof fill === 'object' && !(fill instanceof Filling)) {
      this.#answer(join, position, true, fill);
      return isLagging(subscriber) ? this.#goOn(join) : this.#enter(join);
    }
    if (fill === 'lost' || this.#options.clock() >= join.deadlineMs) return this.#lose(join, position);
    if (fill === 'wait') return 'stream';
    this.#hold(join);
    if (fill instanceof Filling) {
      join.filling = fill;
      this.#awaitGathered(join, stream.gather(fill, position, older));
      return 'changes';
    }
    // What was read reached into the ring, which has lost even that: more is published than can be read.
    return older === null && this.#read(join, position) ? 'changes' : this.#lose(join, position);
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
    this.#letGo(join);
    if (join.isAsked) this.#options.metrics.resumes.inc({ outcome: recovered ? 'recovered' : 'lost' });
    join.isAsked = false;
  }

  #enter({ subscriber, stream }: Join): 'over' {
    if (!subscriber.isClosed) this.#options.enter(subscriber, stream);
    return 'over';
  }

  #hold(join: Join): void {
    if (!join.isHolding) join.stream.market.ring.hold();
    join.isHolding = true;
  }

  #letGo(join: Join): void {
    if (join.isHolding) join.stream.market.ring.release();
    join.isHolding = false;
    join.work = null;
  }

  #older(join: Join, { epoch, seq }: BookPosition): OlderDiffs | null {
    const { key, ring } = join.stream.market;
    if (seq >= ring.baseSeq) return null;
    join.older ??= this.#options.history.kept(key, epoch, seq, ring.baseSeq);
    return join.older;
  }

  /** Reads what is missing from the log; false when the client has had too much read. */
  #read(join: Join, { epoch, seq }: BookPosition): boolean {
    const { history, metrics, clock } = this.#options;
    const { key, ring } = join.stream.market;
    const { seq: until, offset: untilOffset } = ring.seam();
    const wanted = { key, epoch, after: seq, until, untilOffset };
    if (history.isMissing(wanted)) {
      const { reads } = join.subscriber;
      const cost = Math.max(LOG_READ_COST_MIN, until - seq);
      if (!reads.has(cost, clock())) return false;
      reads.spend(cost, clock());
    }
    metrics.logReads.inc();
    const work = {};
    join.work = work;
    void history
      .read(wanted, () => join.work === work)
      .then((older) => {
        if (join.work !== work) return;
        join.older = older;
        if (older === null) join.position = this.#giveUp(join);
        this.#run(join);
      });
    return true;
  }

  #awaitGathered(join: Join, gathering: Steps<void>): void {
    const work = {};
    join.work = work;
    const goOn = (): void => {
      if (join.work === work) this.#run(join);
    };
    const giveUp = (error: unknown): void => {
      this.#options.logger.error({ stream: join.stream.name, error }, 'missed changes could not be gathered');
      if (join.work !== work) return;
      join.position = this.#giveUp(join);
      this.#run(join);
    };
    void this.#gathering.run(gathering, () => join.work === work).then(goOn, giveUp);
  }

  /** What is missing is not to be had: the client is told, and the next step is a snapshot. */
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
