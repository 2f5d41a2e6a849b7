// Where the resting orders of accounts stand in the books, for clients that ask for it.

import { readKey } from '../../../platform/index.ts';
import type { AccountOrder, AccountQueueMessage, MarketRef, QueuePositionBody } from '../../../schemas/index.ts';
import type { PublishedBook } from '../../views/published-book.ts';
import type { Connection } from '../connection.ts';
import { QUEUE_INTERVAL_MS, QUEUE_SLICE_MS } from '../feed/record-limits.ts';

const SOURCES = ['user', 'clob'] as const;

export interface QueuePositionsOptions {
  readonly book: (market: MarketRef) => PublishedBook | null;
  /** Open orders of an account. */
  readonly orders: (account: string) => Iterable<AccountOrder>;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

interface Watched {
  readonly connections: Set<Connection>;
  /** Connections that still need the newest queue positions. */
  readonly behind: Set<Connection>;
  /** The newest positions, without the versions of the books. */
  known: string;
}

/** Sends positions that have changed, a whole account at a time. A slow client gets the newest ones. */
export class QueuePositions {
  readonly #options: QueuePositionsOptions;
  /** By account; the one looked at longest ago stands first. */
  readonly #watched = new Map<string, Watched>();
  readonly #accounts = new Map<Connection, Set<string>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: QueuePositionsOptions) {
    this.#options = options;
  }

  /** Number of accounts that a connection follows. */
  countOf(connection: Connection): number {
    return this.#accounts.get(connection)?.size ?? 0;
  }

  has(connection: Connection, account: string): boolean {
    return this.#accounts.get(connection)?.has(account) ?? false;
  }

  /** Sends the positions of an account now, and again whenever they have changed. */
  follow(connection: Connection, account: string): void {
    const positions = this.#positions(account);
    const watched = this.#watched.get(account) ?? {
      connections: new Set(),
      behind: new Set(),
      known: placesOf(positions),
    };
    this.#watched.set(account, watched);
    watched.connections.add(connection);
    const accounts = this.#accounts.get(connection) ?? new Set();
    this.#accounts.set(connection, accounts.add(account));
    this.#timer ??= setInterval(() => this.#look(), QUEUE_INTERVAL_MS).unref();
    // Last, because sending may close a lagging client, and closing must find all of this.
    connection.send([frameOf(account, positions)]);
  }

  leave(connection: Connection, account: string): void {
    const watched = this.#watched.get(account);
    if (!watched?.connections.delete(connection)) return;
    const accounts = this.#accounts.get(connection);
    accounts?.delete(account);
    if (accounts?.size === 0) this.#accounts.delete(connection);
    watched.behind.delete(connection);
    if (watched.connections.size === 0) this.#watched.delete(account);
    if (this.#watched.size === 0) this.stop();
  }

  closed(connection: Connection): void {
    for (const account of [...(this.#accounts.get(connection) ?? [])]) this.leave(connection, account);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Looks at accounts for a slice of time; the next call goes on with the others. */
  #look(): void {
    const { clock } = this.#options;
    const end = clock() + QUEUE_SLICE_MS;
    for (const [account, watched] of [...this.#watched]) {
      this.#watched.delete(account);
      this.#watched.set(account, watched);
      this.#publish(account, watched);
      if (clock() >= end) return;
    }
  }

  #publish(account: string, watched: Watched): void {
    const positions = this.#positions(account);
    const known = placesOf(positions);
    const { connections, behind } = watched;
    if (known !== watched.known) for (const connection of connections) behind.add(connection);
    watched.known = known;
    if (behind.size === 0) return;
    const frame = Buffer.from(frameOf(account, positions));
    for (const connection of [...behind]) {
      // A client that reads slowly gets the newest positions when it has read.
      if (connection.hasBackpressure) continue;
      behind.delete(connection);
      connection.send([frame]);
    }
  }

  #positions(account: string): QueuePositionBody[] {
    const { book, orders } = this.#options;
    const maker = readKey(account) ?? new Uint8Array(32);
    const positions: QueuePositionBody[] = [];
    for (const { marketType, marketIndex, orderId } of orders(account)) {
      const published = book({ marketType, marketIndex });
      const head = published?.view.head;
      if (!published || !head) continue;
      const { epoch, seq, slot } = head;
      for (const source of SOURCES) {
        const place = published.view.placeOf({ maker, orderId, source });
        if (!place) continue;
        const { price, size } = place.order;
        positions.push({
          marketType,
          marketIndex,
          orderId,
          source,
          side: place.side === 'bid' ? 'bids' : 'asks',
          price: String(price),
          size: String(size),
          sizeAhead: String(place.sizeAhead),
          ordersAhead: place.ordersAhead,
          book: { epoch, seq, slot },
        });
      }
    }
    return positions;
  }
}

/** Positions without the versions of the books, which change with every order of others. */
function placesOf(positions: readonly QueuePositionBody[]): string {
  return JSON.stringify(positions.map(({ book: _, ...place }) => place));
}

function frameOf(account: string, positions: readonly QueuePositionBody[]): string {
  return JSON.stringify({ channel: 'account', type: 'queue', account, positions } satisfies AccountQueueMessage);
}
