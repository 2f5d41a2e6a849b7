// Trigger orders: they sleep until the oracle passes their price, then fill like any taker.

import { abs, floorTo, max } from './amounts.ts';
import { timeAfter } from './clock.ts';
import type { Direction, Order } from './model.ts';
import { actionRecord, addOpenInterest, beginAuction, placeOrder, touchTrader } from './orders.ts';
import { baseOf } from './positions.ts';
import { baseWorth } from './quoting.ts';
import { below, between, chance, uniform } from './random.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { type OrderKey, orderAt, perpAt, perpPrice, type Trader, type World } from './world.ts';

/** Distance of trigger prices from the price, as shares. */
const NEAREST = 0.000_5;
const FURTHEST = 0.008;
const AUCTION_SLOTS = 3;
const FILLER_REWARD = 10_000n;
/** Shortest and longest lifetime of a trigger order in seconds. */
const LIFE_SECONDS: readonly [number, number] = [60, 900];

/** Places a reduce-only stop or target for a position, or an entry order without one. */
export function placeTrigger(tx: Transaction, trader: Trader): void {
  const { rng } = tx.world;
  const marketIndex = chance(rng, 0.7) ? trader.homeMarket : below(rng, tx.world.perps.length);
  const position = baseOf(trader, marketIndex);
  const guards = position !== 0n && chance(rng, 0.8);
  const direction: Direction = guards ? (position > 0n ? 'short' : 'long') : chance(rng, 0.5) ? 'long' : 'short';
  const above = chance(rng, 0.5);
  const oracle = Number(perpPrice(tx.world, marketIndex));
  const shift = (NEAREST + uniform(rng) * (FURTHEST - NEAREST)) * (above ? 1 : -1);
  const isLimit = chance(rng, 0.4);
  const slip = direction === 'long' ? 1.002 : 0.998;
  const { order_step_size: step, order_tick_size: tick, market_stats: stats } = perpAt(tx.world, marketIndex).account;
  const triggerPrice = onTick(oracle * (1 + shift), tick);
  enterExchange(tx, 'PlacePerpOrder');
  placeOrder(tx, trader, {
    marketIndex,
    orderType: isLimit ? 'triggerLimit' : 'triggerMarket',
    direction,
    base: guards
      ? max(stats.min_order_size, floorTo(abs(position), step))
      : baseWorth(tx, marketIndex, 200 + uniform(rng) * 5_000),
    price: isLimit ? onTick(Number(triggerPrice) * slip, tick) : 0n,
    triggerPrice,
    triggerCondition: above ? 'above' : 'below',
    reduceOnly: guards,
    maxTs: chance(rng, 0.5) ? timeAfter(tx.world, between(rng, ...LIFE_SECONDS)) : 0,
  });
  leave(tx);
}

function onTick(price: number, tick: bigint): bigint {
  return max(tick, floorTo(BigInt(Math.round(price)), tick));
}

function isMet(world: World, order: Order): boolean {
  const oracle = perpPrice(world, order.market_index);
  return order.trigger_condition === 'above' ? oracle >= order.trigger_price : oracle <= order.trigger_price;
}

/** Sleeping orders whose trigger price is reached. */
export function dueTriggers(world: World): OrderKey[] {
  return [...world.triggers].filter((key) => isMet(world, orderAt(world, key).order));
}

/** Triggers an order: changes its condition, counts it as open interest and starts its auction. */
export function trigger(tx: Transaction, key: OrderKey, filler: Trader): void {
  const { trader, index, order } = orderAt(tx.world, key);
  enterExchange(tx, 'TriggerOrder');
  tx.world.triggers.delete(key);
  order.trigger_condition = order.trigger_condition === 'above' ? 'triggeredAbove' : 'triggeredBelow';
  order.slot = BigInt(tx.slot);
  addOpenInterest(trader, order, 1n);
  beginAuction(tx, trader, index, AUCTION_SLOTS);
  touchTrader(tx, trader);
  touch(tx, filler);
  emit(tx, 'OrderActionRecord', {
    ...actionRecord(tx, trader, order, 'trigger', 'none'),
    filler: filler.key,
    filler_reward: FILLER_REWARD,
    trigger_price: perpPrice(tx.world, order.market_index),
  });
  leave(tx);
}
