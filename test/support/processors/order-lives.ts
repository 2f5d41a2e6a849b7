// Random lives of orders on one market: records with their slots, the states of their accounts, and the chain's counts.

import bs58 from 'bs58';
import type { AccountStateOrder, ChainEvent, StreamCounter, UserOrders } from '../../../schemas/index.ts';

const SIZE = 1_000n;
const PRICE = 7n;
/** Orders that an account has open at most: few, so that they are filled often. */
const OPEN_MAX = 3;

/** One thing that happens. Numbers select from what is open. */
export interface Turn {
  readonly does: 'place' | 'fill' | 'cancel' | 'wait';
  readonly account: number;
  readonly maker: number;
  readonly order: number;
  readonly base: number;
}

export type LifeInput =
  | { readonly is: 'event'; readonly slot: number; readonly event: ChainEvent }
  | { readonly is: 'state'; readonly slot: number; readonly state: UserOrders }
  | { readonly is: 'count'; readonly slot: number; readonly count: StreamCounter };

type Order = { -readonly [K in keyof AccountStateOrder]: AccountStateOrder[K] };

export const userOf = (account: number): Uint8Array => new Uint8Array(32).fill(account + 1);

/** Everything that the chain has of the lives, in its order. Two turns share a slot. */
export function lifeOf(turns: readonly Turn[]): readonly LifeInput[] {
  const life = new Life();
  for (const turn of turns) life.turn(turn);
  return life.inputs;
}

class Life {
  readonly inputs: LifeInput[] = [];
  readonly #open = new Map<number, Order[]>();
  readonly #nextIds = new Map<number, number>();
  #turns = 0;
  #fillId = 0;

  turn({ does, account, maker, order, base }: Turn): void {
    this.#turns += 1;
    if (does === 'place') this.#place(account);
    else if (does === 'cancel') this.#cancel(account, order);
    else if (does === 'fill') this.#fill(account, maker, order, BigInt(base));
  }

  get #slot(): number {
    return 100 + Math.floor(this.#turns / 2);
  }

  #place(account: number): void {
    const open = this.#open.get(account) ?? [];
    if (open.length >= OPEN_MAX) return;
    const orderId = (this.#nextIds.get(account) ?? 0) + 1;
    this.#nextIds.set(account, orderId);
    const order = newOrder(orderId, this.#slot);
    this.#open.set(account, [...open, order]);
    this.#event('OrderRecord', placing(account, order));
    const subject = bs58.encode(userOf(account));
    this.#count({ subject, stream: 'orders', lastId: orderId, fromId: orderId - 1 });
    this.#states([account]);
  }

  #cancel(account: number, at: number): void {
    const order = this.#orderOf(account, at);
    if (!order) return;
    this.#close(account, order);
    this.#event('OrderActionRecord', { ...HEAD, action: 'cancel', ...side('maker', account, order) });
    this.#states([account]);
  }

  #fill(account: number, maker: number, at: number, wanted: bigint): void {
    const [taken, made] = [this.#orderOf(account, at), this.#orderOf(maker, at + 1)];
    if (!made || account === maker) return;
    const rest = (order: Order) => order.baseAssetAmount - order.baseAssetAmountFilled;
    const base = [wanted, rest(made), taken ? rest(taken) : wanted].reduce((least, one) => (one < least ? one : least));
    this.#fillId += 1;
    const sides: readonly (readonly ['taker' | 'maker', number, Order | undefined])[] = [
      ['taker', account, taken],
      ['maker', maker, made],
    ];
    for (const [, , order] of sides) {
      if (!order) continue;
      order.baseAssetAmountFilled += base;
      order.quoteAssetAmountFilled = (order.quoteAssetAmountFilled ?? 0n) + base * PRICE;
    }
    const amounts = { base_asset_amount_filled: base, quote_asset_amount_filled: base * PRICE };
    const orders = sides.map(([name, user, order]) => (order ? side(name, user, order) : {}));
    this.#event('OrderActionRecord', {
      ...HEAD,
      ...amounts,
      action: 'fill',
      fill_record_id: BigInt(this.#fillId),
      ...Object.assign({}, ...orders),
    });
    for (const [, user, order] of sides) if (order && rest(order) === 0n) this.#close(user, order);
    this.#count({ subject: 'perp-0', stream: 'fills', lastId: this.#fillId, fromId: this.#fillId - 1 });
    this.#states(sides.flatMap(([, user, order]) => (order ? [user] : [])));
  }

  #orderOf(account: number, at: number): Order | undefined {
    const open = this.#open.get(account) ?? [];
    return open[at % Math.max(1, open.length)];
  }

  #close(account: number, order: Order): void {
    this.#open.set(
      account,
      (this.#open.get(account) ?? []).filter((one) => one !== order),
    );
  }

  #event(name: string, data: ChainEvent['data']): void {
    const signature = new Uint8Array(64);
    new DataView(signature.buffer).setUint32(0, this.inputs.length);
    const slot = this.#slot;
    this.inputs.push({ is: 'event', slot, event: { name, signature, eventIndex: 0, slot, txIndex: null, data } });
  }

  #states(accounts: readonly number[]): void {
    const slot = this.#slot;
    for (const account of accounts) {
      const orders = (this.#open.get(account) ?? []).map((order) => ({ ...order }));
      const state = { marketType: 'perp', marketIndex: 0, slot, user: userOf(account), orders } as const;
      this.inputs.push({ is: 'state', slot, state });
    }
  }

  #count(count: Omit<StreamCounter, 'slot' | 'fromSlot'>): void {
    this.inputs.push({ is: 'count', slot: this.#slot, count: { ...count, slot: this.#slot, fromSlot: null } });
  }
}

/** The record of an order that account 0 places. */
export function placeRecord(orderId: number, slot: number): ChainEvent {
  const data = placing(0, newOrder(orderId, slot));
  return { name: 'OrderRecord', signature: new Uint8Array(64), eventIndex: 0, slot, txIndex: null, data };
}

/** A stored fill: the taker has no order, the maker is account 0, or has no order when `order` is null. */
export function fillRecord(id: number, slot: number, base: bigint, order: AccountStateOrder | null): ChainEvent {
  const amounts = { base_asset_amount_filled: base, quote_asset_amount_filled: base * PRICE };
  const data = {
    ...HEAD,
    ...amounts,
    action: 'fill',
    fill_record_id: BigInt(id),
    ...(order && side('maker', 0, order)),
  };
  const signature = new Uint8Array(64).fill(id);
  return { name: 'OrderActionRecord', signature, eventIndex: 0, slot, txIndex: null, data };
}

/** An open order of 1,000 at the price of 7. */
export function orderState(orderId: number, filled: bigint): AccountStateOrder {
  return { ...newOrder(orderId, 1), baseAssetAmountFilled: filled, quoteAssetAmountFilled: filled * PRICE };
}

const HEAD = { market_type: 'perp', market_index: 0 };

function newOrder(orderId: number, placedSlot: number): Order {
  return {
    marketType: 'perp',
    marketIndex: 0,
    orderId,
    userOrderId: 0,
    orderType: 'limit',
    direction: 'long',
    price: PRICE,
    baseAssetAmount: SIZE,
    baseAssetAmountFilled: 0n,
    quoteAssetAmountFilled: 0n,
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: true,
    reduceOnly: false,
    placedSlot,
    maxTs: 0n,
  };
}

function placing(account: number, { orderId, direction }: Order): ChainEvent['data'] {
  return {
    user: userOf(account),
    order_order_id: orderId,
    order_market_type: 'perp',
    order_market_index: 0,
    order_direction: direction,
    order_base_asset_amount_filled: 0n,
    order_quote_asset_amount_filled: 0n,
  };
}

function side(name: 'taker' | 'maker', account: number, order: Order): ChainEvent['data'] {
  return {
    [name]: userOf(account),
    [`${name}_order_id`]: order.orderId,
    [`${name}_order_direction`]: order.direction,
    [`${name}_order_base_asset_amount`]: order.baseAssetAmount,
    [`${name}_order_cumulative_base_asset_amount_filled`]: order.baseAssetAmountFilled,
    [`${name}_order_cumulative_quote_asset_amount_filled`]: order.quoteAssetAmountFilled,
  };
}
