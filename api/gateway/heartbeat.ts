// Sends `{channel:"heartbeat"}` to every connection each five seconds from its own connect, by one shared timer.

import type { Connection } from './connection.ts';
import { HEARTBEAT_MS } from './limits.ts';
import { type Clock, WriteSlice } from './write-slice.ts';

const FRAME = Buffer.from(JSON.stringify({ channel: 'heartbeat' }));

/** All intervals are equal, so insertion order is the order of due times. */
export class Heartbeat {
  readonly #queue = new Set<Connection>();
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  add(connection: Connection): void {
    connection.heartbeatDueMs = this.#clock() + HEARTBEAT_MS;
    this.#queue.add(connection);
    this.#schedule();
  }

  remove(connection: Connection): void {
    this.#queue.delete(connection);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#queue.clear();
  }

  #schedule(): void {
    if (this.#timer) return;
    const [first] = this.#queue;
    if (!first) return;
    this.#timer = setTimeout(() => this.#beat(), Math.max(0, first.heartbeatDueMs - this.#clock()));
  }

  #beat(): void {
    this.#timer = null;
    const nowMs = this.#clock();
    const slice = new WriteSlice(this.#clock);
    for (const connection of this.#queue) {
      if (connection.heartbeatDueMs > nowMs) break;
      this.#queue.delete(connection);
      connection.heartbeatDueMs = Math.max(connection.heartbeatDueMs + HEARTBEAT_MS, nowMs);
      this.#queue.add(connection);
      connection.send([FRAME]); // May close the connection and so remove it.
      // Many heartbeats due at once take several turns of the loop, so that book changes leave in between.
      if (slice.isOver()) break;
    }
    this.#schedule();
  }
}
