// What one connection holds of the `book` channel. Most hold for hours what many others hold too, so what it holds is its own
// only while that changes.

import { Allowance } from '../allowance.ts';
import type { Connection } from '../connection.ts';
import { type Holding, NOTHING_HELD } from './holdings.ts';
import { LOG_ALLOWANCE } from './limits.ts';
import type { BookSubscription } from './request.ts';
import type { Stream } from './stream.ts';

/** A subscription to every market. */
export interface Wildcard extends BookSubscription {
  /** Equal for the same choices. */
  readonly name: string;
}

/** Streams by name, those asked for and those of them that have begun, and how many were asked for of each market. */
interface Draft {
  readonly held: Map<string, Stream>;
  readonly joined: Map<string, Stream>;
  readonly kinds: Map<string, number>;
}

const NO_WILDCARDS: readonly Wildcard[] = [];

export class Subscriber {
  readonly connection: Connection;
  wildcards = NO_WILDCARDS;
  /** True when the connection is gone: nothing may be registered for it any more. */
  isClosed = false;
  #holding = NOTHING_HELD;
  /** In place of what it shares, from a change on until it has joined all that it holds. */
  #draft: Draft | null = null;
  #reads: Allowance | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Changes that may be read back from the log for it. */
  get reads(): Allowance {
    this.#reads ??= new Allowance(LOG_ALLOWANCE);
    return this.#reads;
  }

  /** Streams asked for, by name; those not in `joined` have not begun yet. */
  get streams(): ReadonlyMap<string, Stream> {
    return this.#draft?.held ?? this.#holding.streams;
  }

  /** Streams that bring their messages to this connection, by name. */
  get joined(): ReadonlyMap<string, Stream> {
    return this.#draft?.joined ?? this.#holding.streams;
  }

  /** What it is served with: `joined` when that was last settled. */
  get holding(): Holding {
    return this.#holding;
  }

  /** Streams asked for of one market. */
  kindsOf(marketKey: string): number {
    return (this.#draft ?? this.#holding).kinds.get(marketKey) ?? 0;
  }

  /** Takes a stream in; false when it was held already. */
  hold(stream: Stream): boolean {
    if (this.streams.has(stream.name)) return false;
    const { held, kinds } = this.#change();
    held.set(stream.name, stream);
    kinds.set(stream.market.key, this.kindsOf(stream.market.key) + 1);
    return true;
  }

  /** Forgets a held stream that it has left. */
  release(stream: Stream): void {
    if (!this.streams.has(stream.name)) return;
    const { held, kinds } = this.#change();
    held.delete(stream.name);
    const left = this.kindsOf(stream.market.key) - 1;
    if (left > 0) kinds.set(stream.market.key, left);
    else kinds.delete(stream.market.key);
  }

  /** True when that changed something. */
  join(stream: Stream): boolean {
    if (this.joined.has(stream.name)) return false;
    this.#change().joined.set(stream.name, stream);
    return true;
  }

  /** True when that changed something. */
  leave(stream: Stream): boolean {
    return this.joined.has(stream.name) && this.#change().joined.delete(stream.name);
  }

  /** From now on it is served with `holding`, which has the streams that it has joined. */
  settle(holding: Holding): void {
    this.#holding = holding;
    if (this.#draft?.held.size === this.#draft?.joined.size) this.#draft = null;
  }

  /** Sets a wildcard in the place of the one with its name. */
  putWildcard(wildcard: Wildcard): void {
    this.wildcards = [...this.wildcards.filter(({ name }) => name !== wildcard.name), wildcard];
  }

  #change(): Draft {
    const { streams, kinds } = this.#holding;
    this.#draft ??= { held: new Map(streams), joined: new Map(streams), kinds: new Map(kinds) };
    return this.#draft;
  }
}
