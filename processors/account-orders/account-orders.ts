// Order records of one partition of `events` in, numbered changes of accounts out. Pure: no clock, no log.

import bs58 from 'bs58';
import {
  type AccountOrder,
  type ChainEvent,
  type OpenOrders,
  type OrderChange,
  openOrdersChecksum,
  orderKey,
} from '../../schemas/index.ts';
import { Numbering } from '../trades/numbering.ts';
import { SeenEvents } from '../trades/seen.ts';
import { type OrderAction, orderActions } from './actions.ts';

/** An hour: orders of events that are more slots behind the newest one are history only, like fills (trades role). */
export const ORDER_AGE_SLOTS_MAX = 9_000;

interface Piece {
  readonly name: string;
  /** null deletes the piece. */
  readonly bytes: Uint8Array | null;
}

interface Account {
  readonly user: Uint8Array;
  /** By order key. */
  readonly orders: Map<string, AccountOrder>;
}

const NUMBERS = 'number:';
const SEEN = 'seen:';
const ENDED = 'ended:';
const ACCOUNTS = 'account:';

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
  readonly #accounts = new Map<string, Account>();
  /** Accounts changed since the last `takeChanges`, with the newest slot. */
  readonly #changed = new Map<string, { readonly user: Uint8Array; readonly slot: number }>();
  #unknown = 0;

  constructor(options: AccountOrdersOptions) {
    this.#options = options;
    this.#numbering = new Numbering(options.firstEpoch);
  }

  /** Actions on orders whose placing never came: they were placed before the log began. */
  get unknown(): number {
    return this.#unknown;
  }

  /** Applies an event; a repeated one changes nothing. Throws OrderActionError for a malformed record. */
  take(event: ChainEvent): OrderChange[] {
    this.#numbering.see(event.slot);
    if (event.slot < this.#numbering.newestSlot - ORDER_AGE_SLOTS_MAX) return [];
    const actions = orderActions(event);
    if (actions.length === 0 || !this.#seen.add(event.signature, event.eventIndex)) return [];
    return actions.flatMap((action) => this.#apply(event, action));
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
  takeState(changes: readonly OpenOrders[]): Piece[] {
    const named = (prefix: string, pieces: readonly Piece[]): Piece[] =>
      pieces.map(({ name, bytes }) => ({ name: prefix + name, bytes }));
    const accounts = changes.map((open) => ({
      name: nameOf(open.user),
      bytes: open.orders.length > 0 ? this.#options.encode(open) : null,
    }));
    return [
      ...named(NUMBERS, this.#numbering.takeChanges()),
      ...named(SEEN, this.#seen.takeChanges()),
      ...named(ENDED, this.#ended.takeChanges()),
      ...named(ACCOUNTS, accounts),
    ];
  }

  /** Restores pieces of `takeState`. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const all = [...pieces];
    const of = (prefix: string) =>
      all
        .filter(({ name }) => name.startsWith(prefix))
        .map(({ name, bytes }) => ({ name: name.slice(prefix.length), bytes }));
    this.#numbering.restore(of(NUMBERS));
    this.#seen.restore(of(SEEN));
    this.#ended.restore(of(ENDED));
    for (const { bytes } of of(ACCOUNTS)) {
      const { user, orders } = this.#options.decode(bytes);
      this.#accounts.set(nameOf(user), { user, orders: new Map(orders.map((order) => [orderKey(order), order])) });
    }
  }

  #apply(event: ChainEvent, action: OrderAction): OrderChange[] {
    const name = nameOf(action.user);
    const account = this.#accounts.get(name) ?? { user: action.user, orders: new Map<string, AccountOrder>() };
    const key = orderKey(action);
    const known = action.placed ?? account.orders.get(key);
    if (!known) {
      this.#unknown += 1;
      if (action.ends) this.#ended.add(action.user, action.orderId);
      return [];
    }
    if (action.placed && (account.orders.has(key) || this.#ended.has(action.user, action.orderId))) return [];
    const order = action.after(known);
    const isOpen = !action.ends && order.baseAssetAmountFilled < order.baseAssetAmount;
    if (isOpen) account.orders.set(key, order);
    else account.orders.delete(key);
    if (account.orders.size > 0) this.#accounts.set(name, account);
    else this.#accounts.delete(name);
    const { epoch, seq } = this.#numbering.next(name);
    this.#numbering.take(name);
    this.#changed.set(name, { user: action.user, slot: event.slot });
    return [
      {
        part: this.#options.part,
        epoch,
        seq,
        user: action.user,
        slot: event.slot,
        ts: action.ts,
        txSig: bs58.encode(event.signature),
        txSigIndex: event.eventIndex,
        cause: action.cause,
        explanation: action.explanation,
        fill: action.fill,
        isOpen,
        order,
        checksum: openOrdersChecksum(account.orders.values()),
      },
    ];
  }
}

function nameOf(user: Uint8Array): string {
  return bs58.encode(user);
}
