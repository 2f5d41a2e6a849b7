// Who has joined which streams. Connections that have joined the same ones share what is noted of that, however many streams
// there are, and are served together: a client costs an entry, not one for each of its streams.

import type { Connection } from '../connection.ts';
import type { Stream } from './stream.ts';
import type { Subscriber } from './subscriber.ts';

interface Frame {
  readonly name: string;
  readonly frame: Buffer;
}

/** What connections hold that have joined the same streams. */
export class Holding {
  /** By name. */
  readonly streams: ReadonlyMap<string, Stream>;
  /** How many of them are of each market. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly members = new Set<Connection>();

  constructor(streams: ReadonlyMap<string, Stream>) {
    this.streams = streams;
    const kinds = new Map<string, number>();
    for (const { market } of streams.values()) kinds.set(market.key, (kinds.get(market.key) ?? 0) + 1);
    this.kinds = kinds;
  }
}

/** Of those who have joined nothing; it counts no members. */
export const NOTHING_HELD = new Holding(new Map());

export class Holdings {
  readonly #byKey = new Map<string, Holding>();
  readonly #byStream = new Map<string, Set<Holding>>();
  /** Those that joined or left streams since they were last served: several steps of one are taken as one. */
  readonly #unsettled = new Set<Subscriber>();

  /** From now on the subscriber gets the messages of the stream, which it holds. */
  join(subscriber: Subscriber, stream: Stream): void {
    if (subscriber.join(stream)) this.#unsettled.add(subscriber);
  }

  /** From now on it gets none of them; repeating changes nothing. */
  leave(subscriber: Subscriber, stream: Stream): void {
    if (subscriber.leave(stream)) this.#unsettled.add(subscriber);
  }

  /** A connection that is gone, or holds nothing any more. */
  forget(subscriber: Subscriber): void {
    this.#unsettled.delete(subscriber);
    this.#withdraw(subscriber);
  }

  /** Brings `holding` of all subscribers up to date. */
  settle(): void {
    for (const subscriber of this.#unsettled) {
      const holding = this.#of(subscriber.joined);
      if (holding !== subscriber.holding) {
        this.#withdraw(subscriber);
        if (holding !== NOTHING_HELD) holding.members.add(subscriber.connection);
      }
      subscriber.settle(holding);
    }
    this.#unsettled.clear();
  }

  /** Sends each frame to those who have joined its stream, all frames of one connection together, in the given order. */
  send(frames: readonly Frame[]): void {
    this.settle();
    const byHolding = new Map<Holding, Buffer[]>();
    for (const { name, frame } of frames) {
      for (const holding of this.#byStream.get(name) ?? []) {
        const list = byHolding.get(holding);
        if (list) list.push(frame);
        else byHolding.set(holding, [frame]);
      }
    }
    // A closing connection leaves the set while it is walked, which a Set allows.
    for (const [{ members }, list] of byHolding) for (const connection of members) connection.send(list);
  }

  #of(joined: ReadonlyMap<string, Stream>): Holding {
    if (joined.size === 0) return NOTHING_HELD;
    const key = keyOf(joined);
    const known = this.#byKey.get(key);
    if (known) return known;
    const holding = new Holding(new Map(joined));
    this.#byKey.set(key, holding);
    for (const name of holding.streams.keys()) {
      const holdings = this.#byStream.get(name) ?? new Set();
      this.#byStream.set(name, holdings);
      holdings.add(holding);
    }
    return holding;
  }

  /** Takes the connection out of what it was served with; the last one takes that along. */
  #withdraw({ holding, connection }: Subscriber): void {
    if (!holding.members.delete(connection) || holding.members.size > 0) return;
    this.#byKey.delete(keyOf(holding.streams));
    for (const name of holding.streams.keys()) {
      const holdings = this.#byStream.get(name);
      holdings?.delete(holding);
      if (holdings?.size === 0) this.#byStream.delete(name);
    }
  }
}

/** Equal for equal streams. */
function keyOf(streams: ReadonlyMap<string, Stream>): string {
  return Array.from(streams.values(), ({ streamId }) => streamId)
    .sort((left, right) => left - right)
    .join();
}
