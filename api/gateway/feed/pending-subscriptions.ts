// Brings subscribers into streams without a gap: snapshot or backfill, then the live messages. A pending subscription waits for
// one thing at a time, which resumes it: its stream's tick, the client's reading, a log read, or gathered changes.

import { type Logger, SlicedWork } from '../../../platform/index.ts';
import type { Steps } from '../../../processors/book/index.ts';
import type { BookVersion } from '../../../schemas/index.ts';
import type { FeedStream } from './feed-stream.ts';
import { LOG_READ_COST_MIN, RESUME_WAIT_MS } from './limits.ts';
import type { LogHistory, Older } from './log-history.ts';
import type { FeedMetrics } from './metrics.ts';
import type { SubscriberOf } from './subscriber.ts';

/** A subscription waits for one of these: the stream's next message, the client's reading, missed changes, or nothing more. */
type Step = 'stream' | 'client' | 'changes' | 'over';

interface PendingSubscription<S extends FeedStream<O, G>, O, G> {
  readonly subscriber: SubscriberOf<S>;
  readonly stream: S;
  /** Book version that the client holds; null when it needs a snapshot. */
  version: BookVersion | null;
  /** True while the answer to the client's resume is due. */
  awaitsAnswer: boolean;
  /** End of waiting, monotonic milliseconds: for changes, or for a gateway that is behind the client. */
  deadlineMs: number;
  older: O | null;
  /** The backfill as far as it is gathered. */
  backfill: G | null;
  waitsFor: Step;
  /** The current log read or gathering. */
  work: object | null;
  /** True while it keeps the changes in its market's ring from being dropped. */
  pinsRing: boolean;
  /** Cancelled or finished: nothing more may reach the client. */
  isOver: boolean;
}

export interface PendingSubscriptionsOptions<S extends FeedStream<O, G>, O extends Older, G> {
  /** Member `channel` of answers. */
  readonly channel: string;
  readonly history: LogHistory<O>;
  readonly metrics: FeedMetrics;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Sends a frame to all active subscribers of a stream. */
  readonly publish: (stream: S, frame: Buffer) => void;
  /** Makes a subscriber active in a stream. */
  readonly activate: (subscriber: SubscriberOf<S>, stream: S) => void;
}

export class PendingSubscriptions<S extends FeedStream<O, G>, O extends Older, G> {
  readonly #options: PendingSubscriptionsOptions<S, O, G>;
  readonly #bySubscriber = new Map<SubscriberOf<S>, Map<S, PendingSubscription<S, O, G>>>();
  readonly #byStream = new Map<S, Set<PendingSubscription<S, O, G>>>();
  readonly #byReader = new Map<SubscriberOf<S>, Set<PendingSubscription<S, O, G>>>();
  /** Resumes, ordered by deadline. */
  readonly #deadlines = new Set<PendingSubscription<S, O, G>>();
  #timer: NodeJS.Timeout | null = null;
  /** All backfills share one slice per turn of the loop. */
  readonly #gathering: SlicedWork;

  constructor(options: PendingSubscriptionsOptions<S, O, G>) {
    this.#options = options;
    this.#gathering = new SlicedWork(options.clock);
  }

  /** Starts a subscription, which may become active at once. A repeated resume goes on with the deadline and the read that it has. */
  start(subscriber: SubscriberOf<S>, stream: S, version: BookVersion | null): void {
    const earlier = this.#bySubscriber.get(subscriber)?.get(stream);
    if (earlier?.awaitsAnswer && isSame(earlier.version, version)) return;
    this.cancel(subscriber, stream);
    const pending: PendingSubscription<S, O, G> = {
      subscriber,
      stream,
      version,
      awaitsAnswer: version !== null,
      deadlineMs: this.#options.clock() + RESUME_WAIT_MS,
      older: null,
      backfill: null,
      waitsFor: 'over',
      work: null,
      pinsRing: false,
      isOver: false,
    };
    const ofSubscriber = this.#bySubscriber.get(subscriber) ?? new Map<S, PendingSubscription<S, O, G>>();
    this.#bySubscriber.set(subscriber, ofSubscriber);
    ofSubscriber.set(stream, pending);
    this.#run(pending);
    if (pending.awaitsAnswer) this.#awaitDeadline(pending);
  }

  cancel(subscriber: SubscriberOf<S>, stream: S): void {
    const pending = this.#bySubscriber.get(subscriber)?.get(stream);
    if (pending) this.#forget(pending);
  }

  cancelAll(subscriber: SubscriberOf<S>): void {
    for (const pending of [...(this.#bySubscriber.get(subscriber)?.values() ?? [])]) this.#forget(pending);
  }

  /** Call when a stream has moved. */
  moved(stream: S): void {
    for (const pending of [...(this.#byStream.get(stream) ?? [])]) this.#run(pending);
  }

  /** Call when a client has read some of its unread bytes. */
  drained(subscriber: SubscriberOf<S>): void {
    for (const pending of [...(this.#byReader.get(subscriber) ?? [])]) {
      if (subscriber.connection.hasBackpressure) return;
      this.#run(pending);
    }
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const subscriber of [...this.#bySubscriber.keys()]) this.cancelAll(subscriber);
  }

  /** Advances a subscription to its next wait. */
  #run(pending: PendingSubscription<S, O, G>): void {
    if (pending.isOver) return;
    this.#removeFromSets(pending);
    const step = this.#nextStep(pending);
    if (pending.isOver) return; // Sending closed a lagging client.
    if (step === 'over') {
      this.#forget(pending);
      return;
    }
    pending.waitsFor = step;
    if (step === 'stream') addTo(this.#byStream, pending.stream, pending);
    else if (step === 'client') addTo(this.#byReader, pending.subscriber, pending);
  }

  #forget(pending: PendingSubscription<S, O, G>): void {
    pending.isOver = true;
    this.#removeFromSets(pending);
    this.#deadlines.delete(pending);
    this.#unpinRing(pending);
    const ofSubscriber = this.#bySubscriber.get(pending.subscriber);
    ofSubscriber?.delete(pending.stream);
    if (ofSubscriber?.size === 0) this.#bySubscriber.delete(pending.subscriber);
  }

  #removeFromSets(pending: PendingSubscription<S, O, G>): void {
    if (pending.waitsFor === 'stream') removeFrom(this.#byStream, pending.stream, pending);
    else if (pending.waitsFor === 'client') removeFrom(this.#byReader, pending.subscriber, pending);
    pending.waitsFor = 'over';
  }

  #awaitDeadline(pending: PendingSubscription<S, O, G>): void {
    if (pending.isOver) return;
    this.#deadlines.add(pending);
    this.#timer ??= setTimeout(() => this.#passDeadlines(), RESUME_WAIT_MS);
  }

  #passDeadlines(): void {
    this.#timer = null;
    const nowMs = this.#options.clock();
    for (const pending of [...this.#deadlines]) {
      if (pending.deadlineMs > nowMs) {
        this.#timer = setTimeout(() => this.#passDeadlines(), Math.ceil(pending.deadlineMs - nowMs));
        return;
      }
      this.#deadlines.delete(pending);
      if (pending.waitsFor === 'stream' || pending.waitsFor === 'changes') this.#run(pending);
    }
  }

  #nextStep(pending: PendingSubscription<S, O, G>): Step {
    const { subscriber, stream } = pending;
    if (stream.isDirty) return 'stream';
    if (subscriber.connection.hasBackpressure) return 'client';
    return pending.version === null ? this.#sendSnapshot(pending) : this.#resume(pending, pending.version);
  }

  #sendSnapshot(pending: PendingSubscription<S, O, G>): Step {
    const { subscriber, stream } = pending;
    const frame = stream.snapshot();
    if (!frame) return 'stream';
    subscriber.connection.sendLong([frame]);
    if (!subscriber.connection.hasBackpressure) return this.#activate(pending);
    // A large book: the subscription resumes from here once the client has read it.
    return this.#awaitRead(pending);
  }

  /** Waits until the client has read the sent frames, then continues with a backfill from there. */
  #awaitRead(pending: PendingSubscription<S, O, G>): 'client' {
    pending.version = pending.stream.sent;
    pending.older = null;
    pending.backfill = null;
    this.#extendDeadline(pending);
    return 'client';
  }

  #extendDeadline(pending: PendingSubscription<S, O, G>): void {
    pending.deadlineMs = this.#options.clock() + RESUME_WAIT_MS;
    this.#deadlines.delete(pending); // Keeps insertion order equal to the order of deadlines.
    this.#awaitDeadline(pending);
  }

  #resume(pending: PendingSubscription<S, O, G>, version: BookVersion): Step {
    const { stream, subscriber } = pending;
    const caughtUp = stream.catchUp(version);
    if (caughtUp) this.#options.publish(stream, caughtUp);
    const older = this.#older(pending, version);
    const result = stream.backfill(version, older, pending.backfill);
    if (result.is === 'frames') {
      this.#answer(pending, version, true, result.frames);
      if (result.until !== undefined) return this.#continueFrom(pending, { ...version, seq: result.until });
      return subscriber.connection.hasBackpressure ? this.#awaitRead(pending) : this.#activate(pending);
    }
    if (result.is === 'lost' || this.#options.clock() >= pending.deadlineMs) return this.#failResume(pending, version);
    if (result.is === 'wait') return 'stream';
    this.#pinRing(pending);
    if (result.is === 'gather') {
      pending.backfill = result.backfill;
      this.#awaitSteps(pending, stream.gather(result.backfill, version, older));
      return 'changes';
    }
    // `older` reached into the ring, but the ring has since dropped that part too: publishing outpaces reading.
    return older === null && this.#read(pending, version) ? 'changes' : this.#failResume(pending, version);
  }

  /** More frames follow: in a later turn, once the client has read these. */
  #continueFrom(pending: PendingSubscription<S, O, G>, version: BookVersion): Step {
    pending.version = version;
    this.#extendDeadline(pending);
    if (pending.subscriber.connection.hasBackpressure) return 'client';
    this.#awaitSteps(pending, nextSlice());
    return 'changes';
  }

  #failResume(pending: PendingSubscription<S, O, G>, version: BookVersion): Step {
    this.#answer(pending, version, false, []);
    pending.version = null;
    return this.#sendSnapshot(pending);
  }

  #answer(
    pending: PendingSubscription<S, O, G>,
    { epoch, seq }: BookVersion,
    recovered: boolean,
    frames: readonly Buffer[],
  ): void {
    const { stream, subscriber } = pending;
    const { name, streamId } = stream;
    const answer = { channel: this.#options.channel, type: 'resumed', stream: name, streamId, recovered, epoch, seq };
    subscriber.connection.sendLong(pending.awaitsAnswer ? [JSON.stringify(answer), ...frames] : frames);
    this.#unpinRing(pending);
    if (pending.awaitsAnswer) this.#options.metrics.resumes.inc({ outcome: recovered ? 'recovered' : 'lost' });
    pending.awaitsAnswer = false;
  }

  #activate({ subscriber, stream }: PendingSubscription<S, O, G>): 'over' {
    if (!subscriber.isClosed) this.#options.activate(subscriber, stream);
    return 'over';
  }

  #pinRing(pending: PendingSubscription<S, O, G>): void {
    if (!pending.pinsRing) pending.stream.market.ring.pin();
    pending.pinsRing = true;
  }

  #unpinRing(pending: PendingSubscription<S, O, G>): void {
    if (pending.pinsRing) pending.stream.market.ring.unpin();
    pending.pinsRing = false;
    pending.work = null;
  }

  #older(pending: PendingSubscription<S, O, G>, { epoch, seq }: BookVersion): O | null {
    const { market } = pending.stream;
    const { ring } = market;
    if (seq >= ring.baseSeq) return null;
    pending.older ??= this.#options.history.cached(market, epoch, seq, ring.baseSeq);
    return pending.older;
  }

  /** Starts a log read of the missed changes; false when the client exceeds LOG_READ_RATE. */
  #read(pending: PendingSubscription<S, O, G>, { epoch, seq }: BookVersion): boolean {
    const { history, metrics, clock } = this.#options;
    const { key, partition, ring } = pending.stream.market;
    const { seq: until, offset: untilOffset } = ring.seam();
    const request = { key, partition, epoch, after: seq, until, untilOffset };
    if (history.needsRead(request)) {
      const { logReads } = pending.subscriber;
      const cost = Math.max(LOG_READ_COST_MIN, until - seq);
      if (!logReads.has(cost, clock())) return false;
      logReads.spend(cost, clock());
    }
    metrics.logReads.inc();
    const work = {};
    pending.work = work;
    void history
      .read(request, () => pending.work === work)
      .then((older) => {
        if (pending.work !== work) return;
        pending.older = older;
        if (older === null) pending.version = this.#giveUp(pending);
        this.#run(pending);
      });
    return true;
  }

  #awaitSteps(pending: PendingSubscription<S, O, G>, gathering: Steps<void>): void {
    const work = {};
    pending.work = work;
    const resume = (): void => {
      if (pending.work === work) this.#run(pending);
    };
    const giveUp = (error: unknown): void => {
      this.#options.logger.error({ stream: pending.stream.name, error }, 'cannot gather missed changes');
      if (pending.work !== work) return;
      pending.version = this.#giveUp(pending);
      this.#run(pending);
    };
    void this.#gathering.run(gathering, () => pending.work === work).then(resume, giveUp);
  }

  /** Answers that the resume is not recovered; a snapshot is the next step. */
  #giveUp(pending: PendingSubscription<S, O, G>): null {
    if (pending.version) this.#answer(pending, pending.version, false, []);
    return null;
  }
}

/** No work of its own: the caller goes on when a slice has time. */
function* nextSlice(): Steps<void> {
  yield;
}

function addTo<K, P>(sets: Map<K, Set<P>>, key: K, pending: P): void {
  const set = sets.get(key) ?? new Set<P>();
  sets.set(key, set);
  set.add(pending);
}

function removeFrom<K, P>(sets: Map<K, Set<P>>, key: K, pending: P): void {
  const set = sets.get(key);
  set?.delete(pending);
  if (set?.size === 0) sets.delete(key);
}

function isSame(one: BookVersion | null, other: BookVersion | null): boolean {
  return one !== null && other !== null && one.epoch === other.epoch && one.seq === other.seq;
}
