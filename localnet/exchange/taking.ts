// Takers: orders that wait for the end of a short auction and then match the book, and cancellations.

import { abs, quoteOf } from './amounts.ts';
import { timeAfter } from './clock.ts';
import { fillTaker } from './fills.ts';
import { type Direction, ORDER_HAS_BUILDER, ORDER_SIGNED_MESSAGE } from './model.ts';
import { cancelOrder, edgesOf, placeOrder, restOrder, unfilled } from './orders.ts';
import { baseOf } from './positions.ts';
import { baseWorth } from './quoting.ts';
import { below, between, chance, pick, uniform } from './random.ts';
import { emitSignedMessage } from './signed-messages.ts';
import { computeBudget, enterExchange, enterThroughProxy, leave, type Transaction } from './transaction.ts';
import {
  type FoundOrder,
  type OrderKey,
  orderAt,
  orderKey,
  perpAt,
  perpPrice,
  type Role,
  type Trader,
  type World,
} from './world.ts';

/** Quote value of a taker's order by role, whole units: from the first figure to the sum. */
const WORTH: Readonly<Record<Role, readonly [number, number]>> = {
  fixedMaker: [200, 1_000],
  offsetMaker: [200, 1_000],
  taker: [150, 12_000],
  trigger: [200, 8_000],
  gambler: [20_000, 90_000],
  saver: [100, 2_000],
  vault: [500, 15_000],
  guest: [0, 0],
};
/** A larger position is only reduced, whole quote units. */
const POSITION_MAX: Readonly<Record<Role, number>> = {
  fixedMaker: 5_000_000,
  offsetMaker: 5_000_000,
  taker: 150_000,
  trigger: 100_000,
  gambler: 320_000,
  saver: 20_000,
  vault: 120_000,
  guest: 0,
};
const AUCTION_SLOTS_MIN = 2;
const AUCTION_SLOTS_MAX = 6;
/** Quote units of one arbitrage, and the price deviation (as a part) that triggers it. */
const ARBITRAGE_WORTH = 40_000;
const ARBITRAGE_MARGIN_PART = 10_000n;
/** Seconds until an unfilled market order expires. */
const MARKET_ORDER_SECONDS = 12;

/** Places a new taker order. */
export function placeTakerOrder(tx: Transaction, trader: Trader): void {
  const { rng } = tx.world;
  const marketIndex = chance(rng, 0.6) ? trader.homeMarket : below(rng, tx.world.perps.length);
  const position = baseOf(trader, marketIndex);
  const oracle = perpPrice(tx.world, marketIndex);
  const isFull = quoteOf(abs(position), oracle) > BigInt(POSITION_MAX[trader.role]) * 1_000_000n;
  const direction: Direction = (isFull ? position < 0n : chance(rng, 0.5)) ? 'long' : 'short';
  const closes = position !== 0n && position > 0n !== (direction === 'long');
  const [least, spread] = WORTH[trader.role];
  const u = uniform(rng);
  const base = baseWorth(tx, marketIndex, least + u * u * spread);
  const reduceOnly = closes && chance(rng, 0.4);
  const auctionSlots = between(rng, AUCTION_SLOTS_MIN, AUCTION_SLOTS_MAX);
  const isSigned = chance(rng, 0.1);
  const bitFlags = (isSigned ? ORDER_SIGNED_MESSAGE : 0) | (chance(rng, 0.05) ? ORDER_HAS_BUILDER : 0);
  const pricing = priceOf(tx, marketIndex, direction, oracle);
  computeBudget(tx);
  enterExchange(tx, isSigned ? 'PlaceSignedMsgTakerOrder' : 'PlacePerpOrder');
  const index = placeOrder(tx, trader, {
    marketIndex,
    direction,
    base,
    reduceOnly,
    auctionSlots,
    bitFlags,
    ...pricing,
  });
  const order = trader.account.orders[index];
  if (isSigned && order) emitSignedMessage(tx, trader, order);
  leave(tx);
}

type Pricing = Pick<Parameters<typeof placeOrder>[2], 'orderType' | 'price' | 'offset' | 'maxTs'>;

function priceOf(tx: Transaction, marketIndex: number, direction: Direction, oracle: bigint): Pricing {
  const { rng } = tx.world;
  const kind = uniform(rng);
  const sign = direction === 'long' ? 1 : -1;
  const maxTs = timeAfter(tx.world, MARKET_ORDER_SECONDS);
  if (kind < 0.5) return { orderType: 'market', maxTs };
  if (kind < 0.65) {
    return { orderType: 'oracle', offset: BigInt(sign * Math.max(1, Math.round(Number(oracle) * 0.001))), maxTs };
  }
  // Some limits cross by a little; others rest at once.
  const shift = sign * (uniform(rng) * 0.001 - 0.000_3);
  const tick = Number(tx.world.perps[marketIndex]?.account.order_tick_size ?? 1n);
  const price = Math.max(tick, Math.floor((Number(oracle) * (1 + shift)) / tick) * tick);
  return {
    orderType: 'limit',
    price: BigInt(price),
    maxTs: chance(rng, 0.6) ? timeAfter(tx.world, between(rng, 30, 240)) : 0,
  };
}

/** Orders whose auction has ended, oldest first. */
export function dueAuctions(world: World): OrderKey[] {
  return [...world.auctions].filter(([, due]) => due <= world.slot).map(([key]) => key);
}

/** Fills an order after its auction. The rest rests, waits for its expiry or is cancelled. */
export function fillDueOrder(tx: Transaction, key: OrderKey, filler: Trader): void {
  const found = orderAt(tx.world, key);
  const throughProxy = chance(tx.world.rng, 0.2);
  computeBudget(tx);
  if (throughProxy) enterThroughProxy(tx, 'FillPerpOrder');
  else enterExchange(tx, 'FillPerpOrder');
  const { base, done } = fillTaker(tx, found, filler === found.trader ? null : filler);
  if (!done) settleRemainder(tx, found, base, filler);
  leave(tx);
  if (throughProxy) leave(tx);
}

function settleRemainder(tx: Transaction, found: FoundOrder, filledNow: bigint, filler: Trader): void {
  const { trader, index, order } = found;
  if (order.reduce_only && filledNow === 0n) {
    cancelOrder(tx, trader, index, 'reduceOnlyOrderIncreasedPosition', filler);
  } else if (order.order_type === 'limit' || order.order_type === 'triggerLimit') {
    restOrder(tx, trader, index, filledNow > 0n);
  } else if (filledNow > 0n && chance(tx.world.rng, 0.3)) {
    cancelOrder(tx, trader, index, 'marketOrderFilledToLimitPrice');
  }
}

/** A trader cancels one of its orders, if it has one. */
export function cancelSomething(tx: Transaction, trader: Trader): void {
  const open: number[] = [];
  for (const [index, order] of trader.account.orders.entries()) {
    if (order && unfilled(order) > 0n) open.push(index);
  }
  const index = pick(tx.world.rng, open);
  if (index === undefined) return;
  enterExchange(tx, 'CancelOrder');
  cancelOrder(tx, trader, index);
  leave(tx);
}

/**
 * An arbitrage bot takes quotes that the oracle has left behind. It places an order and fills it in the same transaction,
 * through its own program, and keeps nothing open.
 */
export function arbitrage(tx: Transaction, trader: Trader, marketIndex: number, direction: Direction): void {
  const oracle = perpPrice(tx.world, marketIndex);
  const { order_tick_size: tick } = perpAt(tx.world, marketIndex).account;
  enterThroughProxy(tx, 'PlaceAndTakePerpOrder');
  const index = placeOrder(tx, trader, {
    marketIndex,
    orderType: 'limit',
    direction,
    base: baseWorth(tx, marketIndex, ARBITRAGE_WORTH),
    price: oracle - (oracle % tick),
    immediateOrCancel: true,
    auctionSlots: 1,
  });
  if (index >= 0) {
    const { done } = fillTaker(tx, orderAt(tx.world, orderKey(trader, index)), null);
    if (!done) cancelOrder(tx, trader, index);
  }
  leave(tx);
  leave(tx);
}

/** Direction of an arbitrage: against a bid above the oracle, or an ask below it. */
export function arbitrageSide(world: World, marketIndex: number): Direction | null {
  const { bid, ask } = edgesOf(world, marketIndex);
  const oracle = perpPrice(world, marketIndex);
  const margin = oracle / ARBITRAGE_MARGIN_PART;
  if (bid !== null && bid > oracle + margin) return 'short';
  return ask !== null && ask < oracle - margin ? 'long' : null;
}
