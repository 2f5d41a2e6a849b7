// What one connection holds of the `book` channel.

import type { Connection } from '../connection.ts';
import type { BookSubscription } from './request.ts';
import type { Stream } from './stream.ts';

export class Subscriber {
  readonly connection: Connection;
  /** Streams asked for, by name; those not in `joined` have not begun yet. */
  readonly streams = new Map<string, Stream>();
  /** Subscriptions to every market, by the choices they were made with. */
  readonly wildcards = new Map<string, BookSubscription>();
  /** True when the connection is gone: nothing may be registered for it any more. */
  isClosed = false;
  readonly #joined = new Map<string, Stream>();
  #signature: string | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
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
