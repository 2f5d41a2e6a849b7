// The expected events, orders, markets and vaults for tests, from the object model instead of bytes.

import type { TruthEvent, TruthMarket, TruthOrder, TruthVault } from '../ledger-types.ts';
import { NODE_OPEN, walk } from './clob.ts';
import { isOnClob } from './orders.ts';
import { truthOf } from './records.ts';
import type { Transaction } from './transaction.ts';
import { perpPrice, spotPrice, traderOf, type World } from './world.ts';

/** Keeps the records of a successful transaction: always their number, their content on request. */
export function recordTruth(world: World, tx: Transaction, signature: string, keepEvents: boolean): void {
  for (const [index, { name, data }] of tx.records.entries()) {
    world.eventCounts[name] = (world.eventCounts[name] ?? 0) + 1;
    if (!keepEvents) continue;
    const event: TruthEvent = { signature, index, slot: tx.slot, name, data: truthOf(name, data) };
    world.events.push(event);
  }
}

/**
 * Every open order. A book order appears once, as its node. Its size is the remaining size with no filled amount, because a
 * node has no filled amount; other fields come from the user's copy.
 */
export function restingOrders(world: World): TruthOrder[] {
  return [...userOrders(world), ...clobOrders(world)];
}

function userOrders(world: World): TruthOrder[] {
  const found: TruthOrder[] = [];
  for (const trader of world.traders) {
    for (const order of trader.account.orders) {
      if (!order || isOnClob(order)) continue;
      found.push({
        marketType: order.market_type,
        marketIndex: order.market_index,
        source: 'user',
        maker: trader.key,
        orderId: order.order_id,
        direction: order.direction,
        orderType: order.order_type,
        price: order.price.toString(),
        oraclePriceOffset: order.oracle_price_offset.toString(),
        baseAssetAmount: order.base_asset_amount.toString(),
        baseAssetAmountFilled: order.base_asset_amount_filled.toString(),
        triggerCondition: order.trigger_condition,
        postOnly: order.post_only,
        reduceOnly: order.reduce_only,
        placedSlot: Number(order.slot),
        bookOrderId: null,
      });
    }
  }
  return found;
}

function clobOrders(world: World): TruthOrder[] {
  const found: TruthOrder[] = [];
  for (const [marketIndex, clob] of world.clobs) {
    for (const ask of [false, true]) {
      for (const index of walk(clob, ask)) {
        const node = clob.nodes[index];
        if (!node || (node.bit_flags & NODE_OPEN) === 0) throw new Error('a closed node on a thread');
        const owner = traderOf(world, node.authority, node.sub_account_id);
        const shadow = owner.account.orders.find((order) => order?.order_id === node.client_order_id);
        found.push({
          marketType: 'perp',
          marketIndex,
          source: 'clob',
          maker: owner.key,
          orderId: node.client_order_id,
          direction: ask ? 'short' : 'long',
          orderType: 'limit',
          price: node.price.toString(),
          oraclePriceOffset: '0',
          baseAssetAmount: node.base_asset_amount.toString(),
          baseAssetAmountFilled: '0',
          triggerCondition: 'above',
          postOnly: shadow?.post_only ?? false,
          reduceOnly: shadow?.reduce_only ?? false,
          placedSlot: Number(node.placed_slot),
          bookOrderId: node.order_id.toString(),
        });
      }
    }
  }
  return found;
}

const PERP_BASE_DECIMALS = 9;

/** Every market in its current state, perps first. */
export function markets(world: World): TruthMarket[] {
  const perps = world.perps.map(({ account }): TruthMarket => {
    return {
      marketType: 'perp',
      marketIndex: account.market_index,
      symbol: symbolOf(account.name),
      status: account.status,
      decimals: PERP_BASE_DECIMALS,
      tickSize: String(account.order_tick_size),
      stepSize: String(account.order_step_size),
      minOrderSize: String(account.market_stats.min_order_size),
      oraclePrice: String(perpPrice(world, account.market_index)),
      openInterestLong: String(account.base_asset_amount_long),
      openInterestShort: String(account.base_asset_amount_short),
    };
  });
  const spots = world.spots.map(({ account }): TruthMarket => {
    return {
      marketType: 'spot',
      marketIndex: account.market_index,
      symbol: symbolOf(account.name),
      status: account.status,
      decimals: account.decimals,
      tickSize: String(account.order_tick_size),
      stepSize: String(account.order_step_size),
      minOrderSize: String(account.min_order_size),
      oraclePrice: String(spotPrice(world, account.market_index)),
      openInterestLong: '0',
      openInterestShort: '0',
    };
  });
  return [...perps, ...spots];
}

/** Every vault in its current state, with its depositors. */
export function vaults(world: World): TruthVault[] {
  return world.vaults.map(({ vault: { key, account }, depositors }) => ({
    vault: key,
    name: symbolOf(account.name),
    manager: account.manager,
    user: account.user,
    spotMarketIndex: account.spot_market_index,
    totalShares: String(account.total_shares),
    userShares: String(account.user_shares),
    totalDeposits: String(account.total_deposits),
    totalWithdraws: String(account.total_withdraws),
    netDeposits: String(account.net_deposits),
    managerTotalDeposits: String(account.manager_total_deposits),
    managerTotalWithdraws: String(account.manager_total_withdraws),
    managerNetDeposits: String(account.manager_net_deposits),
    maxTokens: String(account.max_tokens),
    managementFee: String(account.management_fee),
    profitShare: account.profit_share,
    hurdleRate: account.hurdle_rate,
    redeemPeriod: Number(account.redeem_period),
    permissioned: account.permissioned,
    depositors: depositors.map(({ key: depositor, account: one }) => ({
      depositor,
      authority: one.authority,
      shares: String(one.vault_shares),
      totalDeposits: String(one.total_deposits),
      totalWithdraws: String(one.total_withdraws),
      netDeposits: String(one.net_deposits),
    })),
  }));
}

function symbolOf(name: readonly number[]): string {
  return Buffer.from(name).toString('utf8').trim();
}
