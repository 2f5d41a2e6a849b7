// Who holds which channel, and how the frames of one tick reach each holder in one write.

import type { Connection } from './connection.ts';

export class Fanout {
  readonly #holders = new Map<string, Set<Connection>>();

  /** Registers; repeating changes nothing. */
  add(name: string, connection: Connection): void {
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders);
    holders.add(connection);
  }

  remove(name: string, connection: Connection): void {
    const holders = this.#holders.get(name);
    if (!holders) return;
    holders.delete(connection);
    if (holders.size === 0) this.#holders.delete(name);
  }

  has(name: string): boolean {
    return this.#holders.has(name);
  }

  /** Sends each frame to the holders of its channel, all frames of one connection together, in the given order. */
  send(frames: readonly { readonly name: string; readonly frame: Buffer }[]): void {
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
}
