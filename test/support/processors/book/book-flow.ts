// A seeded stream of order changes on one market, the same for every measured book. A third are fills of resting orders, a third
// new orders, a third cancels. So the number of resting orders stays about constant.

import type { BookOrders, OrderState } from '../../../../schemas/index.ts';
import { seededRandom } from '../../platform/chance.ts';

export const MARKET = { marketType: 'perp', marketIndex: 0 } as const;
export const MID_PRICE = 100_000_000;
const TICK = 100;
/** Prices per side. Orders lie uniformly on them, so that changes reach the far side of the book as often as the near. */
export const PRICE_LEVELS = 2_000;
export const ORDER_SIZE = 5_000_000_000;
const MAKERS = 500;
const FIRST_SLOT = 300_000_000;
const CHANGES_PER_SLOT = 2_000;

export type ChangeKind = 'place' | 'fill' | 'cancel';

export interface Change {
  readonly kind: ChangeKind;
  readonly orderId: number;
  readonly isLong: boolean;
  /** 1e6. */
  readonly price: number;
  /** Filled so far, base 1e9. */
  readonly filled: number;
  readonly placedSlot: number;
  readonly slot: number;
}

/** 32 random bytes per maker, like a real key. */
export const MAKER_KEYS: readonly Uint8Array[] = Array.from({ length: MAKERS }, (_, maker) => {
  const random = seededRandom(maker + 1);
  return Uint8Array.from({ length: 32 }, () => Math.floor(random() * 256));
});

export function makerOf(orderId: number): Uint8Array {
  return MAKER_KEYS[orderId % MAKERS] as Uint8Array;
}

interface Resting {
  readonly orderId: number;
  readonly isLong: boolean;
  readonly price: number;
  filled: number;
  readonly placedSlot: number;
}

export class BookFlow {
  readonly #random = seededRandom(7);
  readonly #resting: Resting[] = [];
  #nextOrderId = 1;
  #made = 0;

  /** The changes that fill the book. */
  fill(orders: number): Change[] {
    return Array.from({ length: orders }, () => this.#place());
  }

  /** The next changes; prices, sizes and kinds follow the seed. */
  next(count: number): Change[] {
    const target = this.#resting.length;
    return Array.from({ length: count }, () => {
      const dice = this.#random();
      if (dice < 1 / 3) return this.#partlyFill();
      const grows = this.#resting.length < target ? 0.8 : this.#resting.length > target ? 0.2 : 0.5;
      return this.#random() < grows ? this.#place() : this.#cancel();
    });
  }

  get #slot(): number {
    return FIRST_SLOT + Math.floor(this.#made++ / CHANGES_PER_SLOT);
  }

  #place(): Change {
    const orderId = this.#nextOrderId++;
    const isLong = this.#random() < 0.5;
    const distance = TICK * (1 + Math.floor(this.#random() * PRICE_LEVELS));
    const slot = this.#slot;
    const price = isLong ? MID_PRICE - distance : MID_PRICE + distance;
    const order = { orderId, isLong, price, filled: 0, placedSlot: slot };
    this.#resting.push(order);
    return { kind: 'place', ...order, slot };
  }

  #partlyFill(): Change {
    const order = this.#resting[Math.floor(this.#random() * this.#resting.length)] as Resting;
    order.filled += Math.floor((ORDER_SIZE - order.filled) * this.#random());
    return { kind: 'fill', ...order, slot: this.#slot };
  }

  #cancel(): Change {
    const at = Math.floor(this.#random() * this.#resting.length);
    const order = this.#resting[at] as Resting;
    const last = this.#resting.pop() as Resting;
    if (last !== order) this.#resting[at] = last;
    return { kind: 'cancel', ...order, slot: this.#slot };
  }
}

/** A change as ingest writes it to the log: one message of one account. */
export function messageOf(change: Change): BookOrders {
  const maker = makerOf(change.orderId);
  const isCancel = change.kind === 'cancel';
  return {
    ...MARKET,
    slot: change.slot,
    source: 'user',
    account: maker,
    upserts: isCancel ? [] : [orderOf(change, maker)],
    removals: isCancel ? [{ maker, orderId: change.orderId }] : [],
  };
}

function orderOf(change: Change, maker: Uint8Array): OrderState {
  return {
    maker,
    orderId: change.orderId,
    orderType: 'limit',
    direction: change.isLong ? 'long' : 'short',
    price: BigInt(change.price),
    baseAssetAmount: BigInt(ORDER_SIZE),
    baseAssetAmountFilled: BigInt(change.filled),
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: true,
    reduceOnly: false,
    auctionDurationSlots: 0,
    auctionStartPrice: 0n,
    auctionEndPrice: 0n,
    placedSlot: change.placedSlot,
    maxTs: 0n,
    bitFlags: 0,
    positionBaseAmount: 0n,
    bookOrderId: null,
  };
}
