// What clients say, taken in so that nobody's messages hold up the others: in a turn of the loop clients are heard for a
// moment only, what is left waits and is taken one message per client in turn. Clients that have said little lately (brisk)
// go first; those that say much get a small share of the time, so that published changes pass between them. Nobody is answered
// faster than it reads.

import { Allowance } from './allowance.ts';
import type { Connection } from './connection.ts';
import {
  BEHIND_A_LOOK,
  BEHIND_LOOK_MS,
  BULK_FEW_SLICE_MS,
  BULK_PAUSE_MS,
  BULK_SLICE_MS,
  BULK_WITHOUT_PAUSE,
  TURN_SLICE_MS,
  WAITING_BYTES_MAX,
  WAITING_MESSAGES_MAX,
  WAITING_MESSAGES_SCARCE,
  WAITING_RATE,
  WAITING_REPEATS_SCARCE,
} from './limits.ts';
import { TextQueue } from './text-queue.ts';

/**
 * Leaving a channel is never put off: it is how a client gets to have less to read. Streams of the book channel wait by
 * themselves until what was sent is read (feed/joins.ts).
 */
const NEVER_PUT_OFF = /unsubscribe|"book"/i;
/** What a waiting message takes in memory beside its text, about. */
const MESSAGE_OVERHEAD_BYTES = 64;

export interface InboxOptions {
  readonly handle: (connection: Connection, text: string) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface Waiting {
  readonly connection: Connection;
  readonly texts: TextQueue;
  /** The newest of them, and how often in a row it was said. */
  last: string;
  repeats: number;
  bytes: number;
}

export class Inbox {
  readonly #handle: InboxOptions['handle'];
  readonly #clock: () => number;
  readonly #waiting = new Map<Connection, Waiting>();
  /** In the order in which they are served. */
  readonly #brisk = new Set<Waiting>();
  readonly #bulk = new Set<Waiting>();
  /** Those that have to read first. */
  readonly #behind = new Set<Waiting>();
  readonly #rate = new Allowance(WAITING_RATE);
  #bytes = 0;
  #turnBeganMs: number | null = null;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lookTimer: NodeJS.Timeout | null = null;

  constructor({ handle, clock = () => performance.now() }: InboxOptions) {
    this.#handle = handle;
    this.#clock = clock;
  }

  /** Takes a message at once or lets it wait; false when the client has too many waiting, which are then kept no longer. */
  take(connection: Connection, text: string): boolean {
    const waiting = this.#waiting.get(connection);
    if (waiting) return this.#put(waiting, text, this.#clock());
    const nowMs = this.#clock();
    if (connection.isBrisk(nowMs) && !(connection.isBehind && mayBePutOff(text)) && this.#hasTime(nowMs)) {
      this.#handle(connection, text);
      return true;
    }
    const first: Waiting = { connection, texts: new TextQueue(), last: '', repeats: 0, bytes: 0 };
    this.#waiting.set(connection, first);
    if (!this.#put(first, text, nowMs)) return false;
    this.#line(first, nowMs);
    return true;
  }

  /** Drops what a connection that is gone still has waiting. */
  forget(connection: Connection): void {
    const waiting = this.#waiting.get(connection);
    if (!waiting) return;
    this.#waiting.delete(connection);
    this.#brisk.delete(waiting);
    this.#bulk.delete(waiting);
    this.#behind.delete(waiting);
    this.#bytes -= waiting.bytes;
  }

  stop(): void {
    if (this.#immediate) clearImmediate(this.#immediate);
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#lookTimer) clearTimeout(this.#lookTimer);
    this.#waiting.clear();
    this.#brisk.clear();
    this.#bulk.clear();
    this.#behind.clear();
    this.#bytes = 0;
  }

  #put(waiting: Waiting, text: string, nowMs: number): boolean {
    const bytes = waitingBytes(text);
    waiting.repeats = text === waiting.last ? waiting.repeats + 1 : 1;
    if (!this.#hasRoom(waiting, bytes, nowMs)) {
      this.forget(waiting.connection);
      return false;
    }
    waiting.texts.push(text);
    waiting.last = text;
    waiting.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** True when one more message of a client may wait; takes it into account. */
  #hasRoom({ texts, repeats, bytes: heldBytes }: Waiting, bytes: number, nowMs: number): boolean {
    const isFull = this.#bytes + bytes > WAITING_BYTES_MAX;
    if (isFull && heldBytes + bytes > WAITING_BYTES_MAX / this.#waiting.size) return false;
    if (this.#rate.take(nowMs)) return texts.length < WAITING_MESSAGES_MAX;
    return texts.length < WAITING_MESSAGES_SCARCE && repeats <= WAITING_REPEATS_SCARCE;
  }

  /** True while clients may be heard in this turn of the loop, which ends when the engine has read its sockets. */
  #hasTime(nowMs: number): boolean {
    if (this.#turnBeganMs !== null) return nowMs - this.#turnBeganMs < TURN_SLICE_MS;
    this.#turnBeganMs = nowMs;
    this.#serveSoon();
    return true;
  }

  /** Puts a client at the end of its line. */
  #line(waiting: Waiting, nowMs: number): void {
    if (mustRead(waiting)) {
      this.#behind.add(waiting);
      this.#lookLater();
      return;
    }
    if (waiting.connection.isBrisk(nowMs)) {
      this.#brisk.add(waiting);
      this.#serveSoon();
      return;
    }
    this.#bulk.add(waiting);
    if (this.#isBulkSmall(nowMs)) this.#serveSoon();
    else this.#serveLater();
  }

  /** Lines up again who has read meanwhile. */
  #look(): void {
    this.#lookTimer = null;
    let left = Math.min(this.#behind.size, BEHIND_A_LOOK);
    for (const waiting of this.#behind) {
      this.#behind.delete(waiting);
      this.#line(waiting, this.#clock()); // at the end of those behind, when it still is
      left -= 1;
      if (left === 0) break;
    }
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#behind.size > 0) this.#lookTimer ??= setTimeout(() => this.#look(), BEHIND_LOOK_MS);
  }

  /** True while few say much and not many did lately. */
  #isBulkSmall(nowMs: number): boolean {
    return this.#bulk.size <= BULK_WITHOUT_PAUSE && this.#rate.has(WAITING_RATE.burst / 2, nowMs);
  }

  #serveSoon(): void {
    this.#immediate ??= setImmediate(() => {
      this.#immediate = null;
      this.#turnBeganMs = null;
      this.#serve(this.#brisk, TURN_SLICE_MS);
      if (this.#isBulkSmall(this.#clock())) this.#serve(this.#bulk, BULK_FEW_SLICE_MS);
      this.#goOn();
    });
  }

  #serveLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#serve(this.#bulk, BULK_SLICE_MS);
      this.#goOn();
    }, BULK_PAUSE_MS);
  }

  #goOn(): void {
    const isSmall = this.#isBulkSmall(this.#clock());
    if (this.#brisk.size > 0 || (this.#bulk.size > 0 && isSmall)) this.#serveSoon();
    if (this.#bulk.size > 0 && !isSmall) this.#serveLater();
  }

  /** Takes one message of each client in turn until the time is over. */
  #serve(line: Set<Waiting>, sliceMs: number): void {
    const untilMs = this.#clock() + sliceMs;
    for (const waiting of line) {
      line.delete(waiting);
      if (!mustRead(waiting)) this.#serveOne(waiting);
      const nowMs = this.#clock();
      if (this.#waiting.get(waiting.connection) === waiting) this.#line(waiting, nowMs);
      if (nowMs >= untilMs) return;
    }
  }

  #serveOne(waiting: Waiting): void {
    const { connection, texts } = waiting;
    const text = texts.shift();
    if (texts.length === 0) this.forget(connection);
    else {
      waiting.bytes -= waitingBytes(text);
      this.#bytes -= waitingBytes(text);
    }
    this.#handle(connection, text);
  }
}

function mustRead({ connection, texts }: Waiting): boolean {
  return connection.isBehind && mayBePutOff(texts.first);
}

function mayBePutOff(text: string): boolean {
  return !NEVER_PUT_OFF.test(text);
}

/** What a text takes while it waits. */
export function waitingBytes(text: string): number {
  return text.length + MESSAGE_OVERHEAD_BYTES;
}
