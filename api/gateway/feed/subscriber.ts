// What one connection holds of the `book` channel.

import { Allowance } from '../allowance.ts';
import type { Connection } from '../connection.ts';
import { LOG_ALLOWANCE } from './limits.ts';
import type { BookSubscription } from './request.ts';
import type { Stream } from './stream.ts';

export class Subscriber {
  readonly connection: Connection;
  /** Subscriptions to every market, by the choices they were made with. */
  readonly wildcards = new Map<string, BookSubscription>();
  /** Changes that may be read back from the log for it. */
  readonly reads = new Allowance(LOG_ALLOWANCE);
  /** True when the connection is gone: nothing may be registered for it any more. */
  isClosed = false;
  readonly #streams = new Map<string, Stream>();
  /** How many of them are of each market. */
  readonly #kinds = new Map<string, number>();
  readonly #joined = new Map<string, Stream>();
  #signature: string | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Streams asked for, by name; those not in `joined` have not begun yet. */
  get streams(): ReadonlyMap<string, Stream> {
    return this.#streams;
  }

  /** Streams asked for of one market. */
  kindsOf(marketKey: string): number {
    return this.#kinds.get(marketKey) ?? 0;
  }

  /** Takes a stream in; false when it was held already. */
  hold(stream: Stream): boolean {
    if (this.#streams.has(stream.name)) return false;
    this.#streams.set(stream.name, stream);
    this.#kinds.set(stream.market.key, this.kindsOf(stream.market.key) + 1);
    return true;
  }

  /** Forgets a held stream. */
  release(stream: Stream): void {
    this.leave(stream);
    if (!this.#streams.delete(stream.name)) return;
    const left = this.kindsOf(stream.market.key) - 1;
    if (left > 0) this.#kinds.set(stream.market.key, left);
    else this.#kinds.delete(stream.market.key);
  }

  /** Streams that bring their messages to this connection, by name in order. */
  get joined(): ReadonlyMap<string, Stream> {
    return this.#joined;
  }

  /** Equal for connections that hold the same streams. */
  get signature(): string {
    this.#signature ??= [...this.#joined.keys()].sort().join();
    return this.#signature;
  }

  join(stream: Stream): void {
    this.#joined.set(stream.name, stream);
    this.#signature = null;
  }

  leave(stream: Stream): void {
    this.#joined.delete(stream.name);
    this.#signature = null;
  }
}
