// A subscription to the orders of accounts: listeners are called for each change; iterators get those that wait for them.

import type { AccountErrorMessage } from '../../schemas/portable.ts';
import type { AccountChoice, AccountOrders, AccountReader, OrderChangeEvent } from './account-streams.ts';
import { Events } from './events.ts';
import type { StaleReason } from './live-book.ts';
import { WaitingReaders } from './waiting-readers.ts';

export interface AccountSnapshotEvent {
  readonly type: 'snapshot';
  /** Its open orders are new: changes before it are not delivered. */
  readonly orders: AccountOrders;
}

export interface AccountResumedEvent {
  readonly type: 'resumed';
  readonly orders: AccountOrders;
}

export interface AccountQueueEvent {
  readonly type: 'queue';
  /** Its `queue` is new. */
  readonly orders: AccountOrders;
}

export interface AccountStaleEvent {
  readonly type: 'stale';
  readonly orders: AccountOrders;
  readonly reason: StaleReason;
}

export type AccountEvent =
  | AccountSnapshotEvent
  | OrderChangeEvent
  | AccountResumedEvent
  | AccountQueueEvent
  | AccountStaleEvent;

export type AccountEvents = {
  /** The open orders of an account are known, or were replaced. */
  snapshot: AccountSnapshotEvent;
  change: OrderChangeEvent;
  /** Nothing is missing: the changes of a lost connection follow. */
  resumed: AccountResumedEvent;
  /** A queue position has changed. */
  queue: AccountQueueEvent;
  /** The orders may be behind or wrong. `resumed` or `snapshot` follows. */
  stale: AccountStaleEvent;
  /** The server rejects the request, and says why. */
  refused: AccountErrorMessage;
};

/** Events that one slow reader can have waiting. */
const WAITING_MAX = 10_000;

export class AccountSubscription extends Events<AccountEvents> implements AsyncIterable<AccountEvent>, AccountReader {
  readonly choice: AccountChoice & { readonly id: number };
  readonly #accounts = new Map<string, AccountOrders>();
  readonly #readers = new WaitingReaders<AccountEvent>();
  readonly #onClose: () => void;
  #isClosed = false;

  /** Made by `FeedClient.accountOrders`. */
  constructor(choice: AccountChoice & { readonly id: number }, onClose: () => void) {
    super();
    this.choice = choice;
    this.#onClose = onClose;
  }

  /** By account, base58. An account is missing until its first snapshot. */
  get accounts(): ReadonlyMap<string, AccountOrders> {
    return this.#accounts;
  }

  /** The orders of an account, or of the only one. Null until its first snapshot. */
  orders(account?: string): AccountOrders | null {
    const [only] = this.#accounts.values();
    return (account === undefined ? only : this.#accounts.get(account)) ?? null;
  }

  /** Ends the subscription, and every iterator of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#readers.close();
  }

  /**
   * Events from now on, with a `snapshot` of each account that is known already. A reader with 10,000 unread events gets a
   * `snapshot` of each account in their place. Ends with `close`.
   */
  [Symbol.asyncIterator](): AsyncGenerator<AccountEvent, void, undefined> {
    return this.#readers.iterate(() => this.#snapshots());
  }

  /** For the client: the orders of an account are known, or new. */
  snapshot(orders: AccountOrders): void {
    this.#accounts.set(orders.account, orders);
    const event: AccountSnapshotEvent = { type: 'snapshot', orders };
    this.emit('snapshot', event);
    this.#put(event);
  }

  /** For the client: an order has changed. */
  change(event: OrderChangeEvent): void {
    this.emit('change', event);
    this.#put(event);
  }

  /** For the client: an account continues without a loss. */
  resumed(orders: AccountOrders): void {
    // A subscription that began while the account was behind has had no snapshot of it.
    if (!this.#accounts.has(orders.account)) {
      this.snapshot(orders);
      return;
    }
    const event: AccountResumedEvent = { type: 'resumed', orders };
    this.emit('resumed', event);
    this.#put(event);
  }

  /** For the client: queue positions of an account are new. */
  queue(orders: AccountOrders): void {
    if (!this.#accounts.has(orders.account)) return;
    const event: AccountQueueEvent = { type: 'queue', orders };
    this.emit('queue', event);
    this.#put(event);
  }

  /** For the client: an account may be behind or wrong. */
  stale(orders: AccountOrders, reason: StaleReason): void {
    if (!this.#accounts.has(orders.account)) return;
    const event: AccountStaleEvent = { type: 'stale', orders, reason };
    this.emit('stale', event);
    this.#put(event);
  }

  /** For the client: the server rejected the request. */
  refuse(message: AccountErrorMessage): void {
    this.emit('refused', message);
  }

  #put(event: AccountEvent): void {
    this.#readers.put(event, WAITING_MAX, () => this.#snapshots());
  }

  #snapshots(): AccountEvent[] {
    return [...this.#accounts.values()].map((orders) => ({ type: 'snapshot', orders }));
  }
}
