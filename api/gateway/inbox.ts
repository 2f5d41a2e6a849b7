// Handles client messages in short slices, so that no client delays published changes or other clients. Messages beyond a slice
// wait in a queue per client, served round-robin. Light clients come first; heavy clients share a twentieth of the loop.

import { TokenBucket } from '../http/token-bucket.ts';
import type { Connection } from './connection.ts';
import {
  BACKPRESSURE_CHECK_CLIENTS,
  BACKPRESSURE_CHECK_MS,
  CROWDED_MESSAGES_MAX,
  CROWDED_REPEATS_MAX,
  HEAVY_CLIENTS_WITHOUT_PAUSE,
  HEAVY_FEW_SLICE_MS,
  HEAVY_PAUSE_MS,
  HEAVY_SLICE_MS,
  MESSAGE_SLICE_MS,
  QUEUE_RATE,
  QUEUED_BYTES_MAX,
  QUEUED_MESSAGES_MAX,
} from './limits.ts';
import { TextQueue } from './text-queue.ts';

/**
 * Unsubscribes are never deferred: they reduce a client's unread bytes. Streams of the sequenced channels apply backpressure
 * themselves (feed/pending-subscriptions.ts).
 */
const NEVER_DEFERRED = /unsubscribe|"(?:book|trades\.v2|account)"/i;
/** Approximate memory of a queued message beside its text. */
const MESSAGE_OVERHEAD_BYTES = 64;

export interface InboxOptions {
  readonly handle: (connection: Connection, text: string) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface ClientQueue {
  readonly connection: Connection;
  readonly texts: TextQueue;
  /** The newest queued text, and how often it came in a row. */
  last: string;
  repeats: number;
  bytes: number;
}

/**
 * Bounds the time of all clients together. A rate per connection cannot: each client may send 1,000 subscribes at once. Beside a
 * thousand such clients polite ones wait 190 ms (p99) without the inbox and 11 ms with it (docs/benchmarks/2026-11-24.md).
 */
export class Inbox {
  readonly #handle: InboxOptions['handle'];
  readonly #clock: () => number;
  readonly #queues = new Map<Connection, ClientQueue>();
  /** Queues of light and of heavy clients, in serving order. */
  readonly #light = new Set<ClientQueue>();
  readonly #heavy = new Set<ClientQueue>();
  /** Queues of clients that must read before their next answer. */
  readonly #backpressured = new Set<ClientQueue>();
  readonly #queueRate = new TokenBucket(QUEUE_RATE);
  #bytes = 0;
  #sliceBeganMs: number | null = null;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  #checkTimer: NodeJS.Timeout | null = null;
  /** Duration of the newest heavy slice, milliseconds. */
  #heavySliceMs = HEAVY_SLICE_MS;

  constructor({ handle, clock = () => performance.now() }: InboxOptions) {
    this.#handle = handle;
    this.#clock = clock;
  }

  /** Handles a message at once or queues it. False when the client's queue is full; its queued messages are then dropped. */
  receive(connection: Connection, text: string): boolean {
    const queue = this.#queues.get(connection);
    if (queue) return this.#enqueue(queue, text, this.#clock());
    const nowMs = this.#clock();
    if (connection.isLight(nowMs) && !(connection.hasBackpressure && mayBeDeferred(text)) && this.#hasTime(nowMs)) {
      this.#handle(connection, text);
      return true;
    }
    const first: ClientQueue = { connection, texts: new TextQueue(), last: '', repeats: 0, bytes: 0 };
    this.#queues.set(connection, first);
    if (!this.#enqueue(first, text, nowMs)) return false;
    this.#schedule(first, nowMs);
    return true;
  }

  /** Drops the queued messages of a closed connection. */
  forget(connection: Connection): void {
    const queue = this.#queues.get(connection);
    if (!queue) return;
    this.#queues.delete(connection);
    this.#light.delete(queue);
    this.#heavy.delete(queue);
    this.#backpressured.delete(queue);
    this.#bytes -= queue.bytes;
  }

  stop(): void {
    if (this.#immediate) clearImmediate(this.#immediate);
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#checkTimer) clearTimeout(this.#checkTimer);
    this.#queues.clear();
    this.#light.clear();
    this.#heavy.clear();
    this.#backpressured.clear();
    this.#bytes = 0;
  }

  #enqueue(queue: ClientQueue, text: string, nowMs: number): boolean {
    const bytes = queuedBytes(text);
    queue.repeats = text === queue.last ? queue.repeats + 1 : 1;
    if (!this.#hasRoom(queue, bytes, nowMs)) {
      this.forget(queue.connection);
      return false;
    }
    queue.texts.push(text);
    queue.last = text;
    queue.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** True when the client may queue one more message; charges it against QUEUE_RATE. */
  #hasRoom({ texts, repeats, bytes: queuedByClient }: ClientQueue, bytes: number, nowMs: number): boolean {
    const isFull = this.#bytes + bytes > QUEUED_BYTES_MAX;
    if (isFull && queuedByClient + bytes > QUEUED_BYTES_MAX / this.#queues.size) return false;
    if (this.#queueRate.take(nowMs)) return texts.length < QUEUED_MESSAGES_MAX;
    return texts.length < CROWDED_MESSAGES_MAX && repeats <= CROWDED_REPEATS_MAX;
  }

  /** True while this turn of the loop has time left for messages. The next `setImmediate` starts a new slice. */
  #hasTime(nowMs: number): boolean {
    if (this.#sliceBeganMs !== null) return nowMs - this.#sliceBeganMs < MESSAGE_SLICE_MS;
    this.#sliceBeganMs = nowMs;
    this.#serveNextTurn();
    return true;
  }

  /** Appends a client's queue to its class: backpressured, light or heavy. */
  #schedule(queue: ClientQueue, nowMs: number): void {
    if (isDeferred(queue)) {
      this.#backpressured.add(queue);
      this.#checkLater();
      return;
    }
    if (queue.connection.isLight(nowMs)) {
      this.#light.add(queue);
      this.#serveNextTurn();
      return;
    }
    this.#heavy.add(queue);
    if (this.#mayServeHeavyNow(nowMs)) this.#serveNextTurn();
    else this.#serveAfterPause();
  }

  /** Reschedules clients that have read their answers. */
  #check(): void {
    this.#checkTimer = null;
    let left = Math.min(this.#backpressured.size, BACKPRESSURE_CHECK_CLIENTS);
    for (const queue of this.#backpressured) {
      this.#backpressured.delete(queue);
      this.#schedule(queue, this.#clock()); // A client that has still not read goes to the end.
      left -= 1;
      if (left === 0) break;
    }
    this.#checkLater();
  }

  #checkLater(): void {
    if (this.#backpressured.size > 0) this.#checkTimer ??= setTimeout(() => this.#check(), BACKPRESSURE_CHECK_MS);
  }

  /** True while few clients are heavy and few messages were queued lately. */
  #mayServeHeavyNow(nowMs: number): boolean {
    return this.#heavy.size <= HEAVY_CLIENTS_WITHOUT_PAUSE && this.#queueRate.has(QUEUE_RATE.burst / 2, nowMs);
  }

  #serveNextTurn(): void {
    this.#immediate ??= setImmediate(() => {
      this.#immediate = null;
      this.#sliceBeganMs = null;
      this.#serve(this.#light, MESSAGE_SLICE_MS);
      if (this.#mayServeHeavyNow(this.#clock())) this.#serve(this.#heavy, HEAVY_FEW_SLICE_MS);
      this.#scheduleNext();
    });
  }

  #serveAfterPause(): void {
    const pauseMs = HEAVY_PAUSE_MS * Math.max(1, this.#heavySliceMs / HEAVY_SLICE_MS);
    this.#timer ??= setTimeout(() => {
      const beganMs = this.#clock();
      this.#serve(this.#heavy, HEAVY_SLICE_MS);
      this.#heavySliceMs = this.#clock() - beganMs;
      this.#timer = null; // Cleared last: rescheduling inside `#serve` must not start a pause of the old length.
      this.#scheduleNext();
    }, pauseMs);
  }

  #scheduleNext(): void {
    const mayServeNow = this.#mayServeHeavyNow(this.#clock());
    if (this.#light.size > 0 || (this.#heavy.size > 0 && mayServeNow)) this.#serveNextTurn();
    if (this.#heavy.size > 0 && !mayServeNow) this.#serveAfterPause();
  }

  /** Handles one message per client in turn until the slice is over. */
  #serve(queues: Set<ClientQueue>, sliceMs: number): void {
    const untilMs = this.#clock() + sliceMs;
    for (const queue of queues) {
      queues.delete(queue);
      if (!isDeferred(queue)) this.#serveOne(queue);
      const nowMs = this.#clock();
      if (this.#queues.get(queue.connection) === queue) this.#schedule(queue, nowMs);
      if (nowMs >= untilMs) return;
    }
  }

  #serveOne(queue: ClientQueue): void {
    const { connection, texts } = queue;
    const text = texts.shift();
    if (texts.length === 0) this.forget(connection);
    else {
      queue.bytes -= queuedBytes(text);
      this.#bytes -= queuedBytes(text);
    }
    this.#handle(connection, text);
  }
}

function isDeferred({ connection, texts }: ClientQueue): boolean {
  return connection.hasBackpressure && mayBeDeferred(texts.first);
}

function mayBeDeferred(text: string): boolean {
  return !NEVER_DEFERRED.test(text);
}

/** Approximate memory of a queued text, bytes. */
export function queuedBytes(text: string): number {
  return text.length + MESSAGE_OVERHEAD_BYTES;
}
