// Order records of one partition of `events`, and the open orders of user accounts, in; numbered changes of accounts out. Pure: no
// clock, no log.

import bs58 from 'bs58';
import {
  type AccountOrder,
  type ChainEvent,
  type MarketRef,
  type OpenOrders,
  type OrderChange,
  openOrdersChecksum,
  orderKey,
  type UserOrders,
} from '../../schemas/index.ts';
import { piecesUnder, prefixed, type SavedPiece, type StatePiece } from '../follow/pieces.ts';
import { Numbering } from '../trades/numbering.ts';
import { SeenEvents } from '../trades/seen.ts';
import { type OrderAction, orderActions } from './actions.ts';
import { type Correction, Reconciliation } from './reconcile.ts';

/** An hour: orders of events that are more slots behind the newest one are history only, like fills (trades role). */
const ORDER_AGE_SLOTS_MAX = 9_000;

interface Account {
  readonly user: Uint8Array;
  /** By order key. */
  readonly orders: Map<string, AccountOrder>;
}

const NUMBERS = 'number:';
const SEEN = 'seen:';
const ENDED = 'ended:';
const CLOSED = 'closed:';
const WITHDRAWN = 'withdrawn:';
const RECONCILED = 'reconciled:';
const ACCOUNTS = 'account:';
const TIME = 'ts';
const NO_ORDERS: ReadonlyMap<string, AccountOrder> = new Map();

/** A change without its number and checksum. */
type Numberless = Omit<OrderChange, 'part' | 'epoch' | 'seq' | 'checksum'>;

export interface AccountOrdersOptions {
  /** Number of the partition. */
  readonly part: number;
  readonly firstEpoch: number;
  readonly encode: (orders: OpenOrders) => Uint8Array;
  /** Throws for bytes that are no open orders. */
  readonly decode: (bytes: Uint8Array) => OpenOrders;
}

export class AccountOrders {
  readonly #options: AccountOrdersOptions;
  readonly #numbering: Numbering;
  readonly #seen = new SeenEvents();
  /** Orders whose end came before their placing, which a backfill may bring later. */
  readonly #ended = new SeenEvents();
  /** Other orders that events have ended: a late state may still have them. */
  readonly #closed = new SeenEvents();
  /** Orders that states have ended. States may open them again, late events may not. */
  readonly #withdrawn = new SeenEvents();
  readonly #reconciliation: Reconciliation;
  #isIdle = true;
  /** Block time of the newest event, Unix seconds. */
  #ts = 0n;
  readonly #accounts = new Map<string, Account>();
  /** Accounts changed since the last `takeChanges`, with the newest slot. */
  readonly #changed = new Map<string, { readonly user: Uint8Array; readonly slot: number }>();
  #unknown = 0;

  constructor(options: AccountOrdersOptions) {
    this.#options = options;
    this.#numbering = new Numbering(options.firstEpoch);
    this.#reconciliation = new Reconciliation({
      newestSlot: () => this.#numbering.newestSlot,
      open: (name) => this.#accounts.get(name)?.orders ?? NO_ORDERS,
      isEnded: (user, orderId) => this.#ended.has(user, orderId) || this.#closed.has(user, orderId),
      names: () => this.#accounts.keys(),
    });
  }

  /** Actions on orders whose placing never came: they were placed before the log began. */
  get unknown(): number {
    return this.#unknown;
  }

  /** True when `takePieces` has nothing to save that the next records do not bring again. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Applies an event; a repeated one changes nothing. Throws OrderActionError for a malformed record. */
  take(event: ChainEvent): OrderChange[] {
    this.#isIdle = false;
    this.#numbering.see(event.slot);
    if (event.slot < this.#numbering.newestSlot - ORDER_AGE_SLOTS_MAX) return [];
    const actions = orderActions(event);
    if (actions.length === 0 || !this.#seen.add(event.signature, event.eventIndex)) return [];
    for (const { ts } of actions) if (ts > this.#ts) this.#ts = ts;
    return actions.flatMap((action) => this.#apply(event, action));
  }

  /** Takes the open orders of an account. A later `reached` changes the orders that events lack. */
  takeState(state: UserOrders): void {
    this.#isIdle = false;
    this.#reconciliation.take(state);
  }

  /** A whole read of a market begins, or ends. */
  bracket(which: 'begin' | 'end', market: MarketRef, slot: number): void {
    this.#isIdle = false;
    this.#reconciliation[which](market, slot);
  }

  /** The states have reached a slot. Returns the changes whose event should long be there and is not. */
  reached(slot: number): OrderChange[] {
    this.#reconciliation.reached(slot);
    return this.#reconciliation.settle().map((correction) => this.#correct(correction));
  }

  /** Open orders of the accounts that changed since the last call. */
  takeChanges(): OpenOrders[] {
    const changes = [...this.#changed].map(([name, { user, slot }]) => {
      const orders = [...(this.#accounts.get(name)?.orders.values() ?? [])];
      const { epoch, seq } = this.#numbering.last(name);
      return { part: this.#options.part, epoch, seq, user, slot, orders };
    });
    this.#changed.clear();
    return changes;
  }

  /** Pieces of state after `changes` of `takeChanges`. */
  takePieces(changes: readonly OpenOrders[]): StatePiece[] {
    this.#isIdle = true;
    const accounts = changes.map((open) => ({
      name: nameOf(open.user),
      bytes: open.orders.length > 0 ? this.#options.encode(open) : null,
    }));
    return [
      ...prefixed(NUMBERS, this.#numbering.takeChanges()),
      ...prefixed(SEEN, this.#seen.takeChanges()),
      ...prefixed(ENDED, this.#ended.takeChanges()),
      ...prefixed(CLOSED, this.#closed.takeChanges()),
      ...prefixed(WITHDRAWN, this.#withdrawn.takeChanges()),
      ...prefixed(RECONCILED, this.#reconciliation.takeChanges()),
      { name: TIME, bytes: Buffer.from(String(this.#ts), 'utf8') },
      ...prefixed(ACCOUNTS, accounts),
    ];
  }

  /** Restores pieces of `takePieces`. */
  restore(pieces: Iterable<SavedPiece>): void {
    const all = [...pieces];
    const of = (prefix: string) => piecesUnder(prefix, all);
    this.#numbering.restore(of(NUMBERS));
    this.#seen.restore(of(SEEN));
    this.#ended.restore(of(ENDED));
    this.#closed.restore(of(CLOSED));
    this.#withdrawn.restore(of(WITHDRAWN));
    this.#reconciliation.restore(of(RECONCILED));
    for (const { bytes } of of(TIME)) this.#ts = BigInt(Buffer.from(bytes).toString('utf8'));
    for (const { bytes } of of(ACCOUNTS)) {
      const { user, orders } = this.#options.decode(bytes);
      this.#accounts.set(nameOf(user), { user, orders: new Map(orders.map((order) => [orderKey(order), order])) });
    }
  }

  #apply(event: ChainEvent, action: OrderAction): OrderChange[] {
    const { user, orderId, ts, cause, explanation, fill } = action;
    const name = nameOf(user);
    const open = this.#accounts.get(name)?.orders ?? NO_ORDERS;
    const key = orderKey(action);
    if (action.ends) this.#reconciliation.ended(name, key);
    const known = action.placed ?? open.get(key);
    if (!known) {
      this.#unknown += 1;
      if (action.ends) this.#ended.add(user, orderId);
      return [];
    }
    if (action.placed && (open.has(key) || this.#isOver(user, orderId))) return [];
    const order = action.after(known);
    const isOpen = !action.ends && order.baseAssetAmountFilled < order.baseAssetAmount;
    const { slot } = event;
    const source = { txSig: bs58.encode(event.signature), txSigIndex: event.eventIndex };
    const change = this.#change({ user, slot, ts, ...source, cause, explanation, fill, isOpen, order });
    this.#compare(name, change, action);
    return [change];
  }

  /** Whether a late placing of the order opens nothing. */
  #isOver(user: Uint8Array, orderId: number): boolean {
    return this.#ended.has(user, orderId) || this.#withdrawn.has(user, orderId);
  }

  /** Compares a change of an event with the states. */
  #compare(name: string, { user, order, slot, isOpen }: OrderChange, { placed }: OrderAction): void {
    if (!isOpen) {
      this.#reconciliation.ended(name, orderKey(order));
      this.#closed.add(user, order.orderId);
    } else if (placed) this.#reconciliation.placed({ name, user, order, slot });
    else this.#reconciliation.changed(name, order);
  }

  /** A change without a record. A late placing of an order that it closes opens nothing. */
  #correct({ user, slot, order, isOpen }: Correction): OrderChange {
    if (!isOpen) this.#withdrawn.add(user, order.orderId);
    const nothing = { txSig: '', txSigIndex: 0, explanation: 'none', fill: null };
    return this.#change({ user, slot, ts: this.#ts, ...nothing, cause: 'reconstructed', isOpen, order });
  }

  #change(change: Numberless): OrderChange {
    this.#isIdle = false;
    const { user, slot, order, isOpen } = change;
    const name = nameOf(user);
    const account = this.#accounts.get(name) ?? { user, orders: new Map<string, AccountOrder>() };
    if (isOpen) account.orders.set(orderKey(order), order);
    else account.orders.delete(orderKey(order));
    if (account.orders.size > 0) this.#accounts.set(name, account);
    else this.#accounts.delete(name);
    const { epoch, seq } = this.#numbering.next(name);
    this.#numbering.take(name);
    this.#changed.set(name, { user, slot });
    const checksum = openOrdersChecksum(account.orders.values());
    return { part: this.#options.part, epoch, seq, ...change, checksum };
  }
}

function nameOf(user: Uint8Array): string {
  return bs58.encode(user);
}
