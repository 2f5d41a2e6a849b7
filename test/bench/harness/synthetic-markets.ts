// Busy markets from a seed: real book engines with orders, fills, cancels and oracle moves near the touch. Their changes have the
// shape of a live market, and reach servers through the log, without a chain.

import { BookEngine, type BookMessage } from '../../../processors/book/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  encodeMessage,
  type MarketView,
  marketKey,
  type OrderState,
} from '../../../schemas/index.ts';
import { seededRandom } from '../../support/platform/chance.ts';
import { MAKER_KEYS } from '../../support/processors/book/book-flow.ts';
import { ammOf, marketOf, oracleOf } from '../../support/processors/book/messages.ts';

const MID_PRICE = 100_000_000;
const TICK = 100;
const FIRST_SLOT = 300_000_000;
const ORDER_SIZE = 5_000_000_000;
/** Of the AMM, base 1e9: as in `ammOf`. */
const RESERVE = 1_000_000_000_000_000n;

export interface Flow {
  /** Number of resting orders with fixed prices. */
  readonly orders: number;
  /** Mean distance of an order from the mid price, in ticks. */
  readonly meanDistanceTicks: number;
  /** Orders per side, a tick apart, whose prices follow the oracle, as the AMM's levels then do; 0: the mid price stands. */
  readonly quotes: number;
}

const WIDE: Flow = { orders: 1_200, meanDistanceTicks: 120, quotes: 0 };
/** As real ones are: most orders come and go within the twenty levels that clients see. */
export const BUSY_AT_THE_TOUCH: Flow = { orders: 400, meanDistanceTicks: 10, quotes: 4 };
const FOLLOWS_ORACLE = 100;

interface Resting {
  readonly orderId: number;
  readonly isLong: boolean;
  readonly price: number;
  filled: number;
}

export class SyntheticMarket {
  readonly marketIndex: number;
  readonly symbol: string;
  readonly key: string;
  readonly #engine: BookEngine;
  readonly #random: () => number;
  readonly #resting: Resting[] = [];
  #nextOrderId = 1;
  #slot = FIRST_SLOT;
  #oracle = BigInt(MID_PRICE);
  readonly #flow: Flow;

  constructor(marketIndex: number, flow = WIDE) {
    this.marketIndex = marketIndex;
    this.#flow = flow;
    this.symbol = `M${marketIndex}-PERP`;
    const ref = { marketType: 'perp', marketIndex } as const;
    this.key = marketKey(ref);
    this.#engine = new BookEngine(ref);
    this.#random = seededRandom(marketIndex + 1);
    const amm = flow.quotes > 0 ? ammOf({ curveUpdateIntensity: FOLLOWS_ORACLE }) : ammOf();
    this.#apply(marketOf({ slot: this.#slot, symbol: this.symbol, amm }));
    this.moveOracle();
    for (let made = 0; made < flow.orders; made += 1) this.#place();
    for (let ticks = 1; ticks <= flow.quotes; ticks += 1) {
      for (const isLong of [true, false]) {
        const offset = isLong ? -ticks * TICK : ticks * TICK;
        this.#write({ orderId: this.#nextOrderId++, isLong, price: 0, filled: 0 }, offset);
      }
    }
  }

  get slot(): number {
    return this.#slot;
  }

  marketView(): MarketView {
    const view = this.#engine.marketView();
    if (view === null) throw new Error('the market has no account');
    return view;
  }

  snapshot(): BookViewSnapshot {
    return this.#engine.snapshot();
  }

  nextSlot(): void {
    this.#slot += 1;
  }

  /** One change of one order; repeats until the published book changes. */
  change(): BookViewDiff {
    for (;;) {
      const dice = this.#random();
      const diff = dice < 0.4 ? this.#fill() : dice < 0.7 ? this.#place() : this.#cancel();
      if (diff) return diff;
    }
  }

  /** A step of the oracle price, which moves the AMM's levels. */
  moveOracle(): BookViewDiff | null {
    this.#oracle += BigInt(Math.floor((this.#random() - 0.5) * 4)) * BigInt(TICK);
    return this.#apply(oracleOf({ slot: this.#slot, oracleSlot: BigInt(this.#slot), price: this.#oracle }));
  }

  /** Moves the mid price by a tick or not: quotes follow, crossed orders go. Returns the changes. */
  stepMid(): BookViewDiff[] {
    this.#oracle += BigInt((Math.floor(this.#random() * 3) - 1) * TICK);
    const mid = Number(this.#oracle);
    const moved = this.#apply(oracleOf({ slot: this.#slot, oracleSlot: BigInt(this.#slot), price: this.#oracle }));
    const passed = this.#resting.filter(({ isLong, price }) => (isLong ? price >= mid : price <= mid));
    const gone = passed.map((order) => this.#remove(this.#resting.indexOf(order)));
    return [moved, ...gone].flatMap((diff) => diff ?? []);
  }

  /** A trade against the AMM, which moves its reserves and levels. */
  moveAmm(): BookViewDiff | null {
    const shift = BigInt(Math.floor((this.#random() - 0.5) * Number(RESERVE / 10_000n)));
    const amm = ammOf({
      baseAssetReserve: RESERVE + shift,
      quoteAssetReserve: (RESERVE * RESERVE) / (RESERVE + shift),
    });
    return this.#apply(marketOf({ slot: this.#slot, symbol: this.symbol, amm }));
  }

  #apply(message: BookMessage): BookViewDiff | null {
    if (message.name === 'BookSlot') return this.#engine.apply(message);
    const value = { ...message.value, marketIndex: this.marketIndex };
    return this.#engine.apply({ name: message.name, value } as BookMessage);
  }

  #place(): BookViewDiff | null {
    const orderId = this.#nextOrderId++;
    const isLong = this.#random() < 0.5;
    const distance = TICK * (1 + Math.floor(-Math.log(1 - this.#random()) * this.#flow.meanDistanceTicks));
    const mid = this.#flow.quotes > 0 ? Number(this.#oracle) : MID_PRICE;
    const order = { orderId, isLong, price: isLong ? mid - distance : mid + distance, filled: 0 };
    this.#resting.push(order);
    return this.#write(order);
  }

  #fill(): BookViewDiff | null {
    const order = this.#resting[Math.floor(this.#random() * this.#resting.length)];
    if (!order) return null;
    order.filled += Math.floor((ORDER_SIZE - order.filled) * this.#random());
    return this.#write(order);
  }

  #cancel(): BookViewDiff | null {
    if (this.#resting.length < this.#flow.orders) return null;
    return this.#remove(Math.floor(this.#random() * this.#resting.length));
  }

  #remove(at: number): BookViewDiff | null {
    const [order] = this.#resting.splice(at, 1);
    if (!order) return null;
    const maker = makerOf(order.orderId);
    return this.#orders(maker, [], [{ maker, orderId: order.orderId }]);
  }

  #write({ orderId, isLong, price, filled }: Resting, offset = 0): BookViewDiff | null {
    const maker = makerOf(orderId);
    const order: OrderState = {
      maker,
      orderId,
      orderType: 'limit',
      direction: isLong ? 'long' : 'short',
      price: BigInt(price),
      baseAssetAmount: BigInt(ORDER_SIZE),
      baseAssetAmountFilled: BigInt(filled),
      triggerPrice: 0n,
      triggerCondition: 'above',
      oraclePriceOffset: BigInt(offset),
      postOnly: true,
      reduceOnly: false,
      auctionDurationSlots: 0,
      auctionStartPrice: 0n,
      auctionEndPrice: 0n,
      placedSlot: this.#slot,
      maxTs: 0n,
      bitFlags: 0,
      positionBaseAmount: 0n,
      bookOrderId: null,
    };
    return this.#orders(maker, [order], []);
  }

  #orders(
    maker: Uint8Array,
    upserts: readonly OrderState[],
    removals: readonly { maker: Uint8Array; orderId: number }[],
  ): BookViewDiff | null {
    return this.#engine.applyOrders({
      marketType: 'perp',
      marketIndex: this.marketIndex,
      slot: this.#slot,
      source: 'user',
      account: maker,
      upserts,
      removals,
    });
  }
}

function makerOf(orderId: number): Uint8Array {
  return MAKER_KEYS[orderId % MAKER_KEYS.length] as Uint8Array;
}

/** The log's form of published changes. */
export function diffRecord(market: SyntheticMarket, diff: BookViewDiff): { key: string; value: Buffer } {
  return { key: market.key, value: encodeMessage('BookViewDiff', diff) };
}
