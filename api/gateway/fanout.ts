// Who holds which channel, and how the frames of one tick reach each holder in one write.

import type { Connection } from './connection.ts';
import { type Clock, WritingTurn } from './turn.ts';

interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

export class Fanout {
  readonly #holders = new Map<string, Set<Connection>>();
  /** Those with frames kept for them, longest waiting first. */
  readonly #queue = new Set<Connection>();
  readonly #clock: Clock;
  #turn: NodeJS.Immediate | null = null;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Registers; repeating changes nothing. */
  add(name: string, connection: Connection): void {
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders);
    holders.add(connection);
  }

  /** From now on the connection gets nothing of the channel. */
  remove(name: string, connection: Connection): void {
    if (this.#queue.has(connection)) connection.forget(name);
    const holders = this.#holders.get(name);
    if (!holders) return;
    holders.delete(connection);
    if (holders.size === 0) this.#holders.delete(name);
  }

  has(name: string): boolean {
    return this.#holders.has(name);
  }

  /** Sends each frame to the holders of its channel, all frames of one connection together, in the given order. */
  send(frames: readonly Frame[]): void {
    const [only] = frames;
    if (only && frames.length === 1) {
      // A closing connection leaves the set while it is walked, which a Set allows.
      for (const connection of this.#holders.get(only.name) ?? []) connection.send([only.frame]);
      return;
    }
    const byConnection = new Map<Connection, Buffer[]>();
    for (const { name, frame } of frames) {
      for (const connection of this.#holders.get(name) ?? []) {
        const list = byConnection.get(connection);
        if (list) list.push(frame);
        else byConnection.set(connection, [frame]);
      }
    }
    for (const [connection, list] of byConnection) connection.send(list);
  }

  /**
   * As `send`, for frames that each replace the one before of their channel: a few holders are served now, the others in the
   * next turns of the loop, between what is more urgent. A holder whose turn has not come when the next frame of a channel
   * does gets only that. What a connection is sent meanwhile comes behind what it waits for.
   */
  sendInTurns(frames: readonly Frame[]): void {
    for (const { name, frame } of frames) {
      for (const connection of this.#holders.get(name) ?? []) {
        connection.keep(name, frame);
        this.#queue.add(connection);
      }
    }
    if (!this.#turn) this.#serve();
  }

  /** Nobody is served any more. */
  stop(): void {
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
    this.#queue.clear();
  }

  #serve(): void {
    this.#turn = null;
    const turn = new WritingTurn(this.#clock);
    for (const connection of this.#queue) {
      this.#queue.delete(connection);
      connection.sendWaiting();
      if (!turn.isOver()) continue;
      if (this.#queue.size > 0) this.#turn = setImmediate(() => this.#serve());
      return;
    }
  }
}
