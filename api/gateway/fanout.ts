// Subscribers of each channel. All frames of a tick reach a connection in one write.

import type { Connection } from './connection.ts';
import { type Clock, WriteSlice } from './write-slice.ts';

interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

export class Fanout {
  readonly #subscribers = new Map<string, Set<Connection>>();
  /** Connections with queued frames, longest waiting first. */
  readonly #queue = new Set<Connection>();
  readonly #clock: Clock;
  #immediate: NodeJS.Immediate | null = null;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Subscribes a connection; repeating changes nothing. */
  add(name: string, connection: Connection): void {
    const subscribers = this.#subscribers.get(name) ?? new Set();
    this.#subscribers.set(name, subscribers);
    subscribers.add(connection);
  }

  /** Unsubscribes a connection and drops its queued frame of the channel. */
  remove(name: string, connection: Connection): void {
    if (this.#queue.has(connection)) connection.dropQueued(name);
    const subscribers = this.#subscribers.get(name);
    if (!subscribers) return;
    subscribers.delete(connection);
    if (subscribers.size === 0) this.#subscribers.delete(name);
  }

  has(name: string): boolean {
    return this.#subscribers.has(name);
  }

  /** Sends each frame to the subscribers of its channel: all frames of one connection together, in the given order. */
  send(frames: readonly Frame[]): void {
    const [only] = frames;
    if (only && frames.length === 1) {
      // A closing connection leaves this Set during the loop, which a Set allows.
      for (const connection of this.#subscribers.get(only.name) ?? []) connection.send([only.frame]);
      return;
    }
    const byConnection = new Map<Connection, Buffer[]>();
    for (const { name, frame } of frames) {
      for (const connection of this.#subscribers.get(name) ?? []) {
        const list = byConnection.get(connection);
        if (list) list.push(frame);
        else byConnection.set(connection, [frame]);
      }
    }
    for (const [connection, list] of byConnection) connection.send(list);
  }

  /**
   * Like `send`, for frames that replace the previous one of their channel. Serves connections in slices over several turns of
   * the loop, between more urgent work. A connection not yet served gets only the newest frame of a channel.
   */
  sendLatest(frames: readonly Frame[]): void {
    for (const { name, frame } of frames) {
      for (const connection of this.#subscribers.get(name) ?? []) {
        connection.queueFrame(name, frame);
        this.#queue.add(connection);
      }
    }
    if (!this.#immediate) this.#drain();
  }

  /** Ends sending; queued frames are dropped. */
  stop(): void {
    if (this.#immediate) clearImmediate(this.#immediate);
    this.#immediate = null;
    this.#queue.clear();
  }

  #drain(): void {
    this.#immediate = null;
    const slice = new WriteSlice(this.#clock);
    for (const connection of this.#queue) {
      this.#queue.delete(connection);
      connection.sendQueued();
      if (!slice.isOver()) continue;
      if (this.#queue.size > 0) this.#immediate = setImmediate(() => this.#drain());
      return;
    }
  }
}
