// Opens and funds new accounts, flags idle ones and closes empty ones.

import { tokensOf } from './balances.ts';
import { cancelOrder } from './orders.ts';
import { addOther, markReferred, purseOf } from './population.ts';
import { depositTo, withdrawAll } from './savings.ts';
import { claimable, settlePnl } from './settlement.ts';
import { close, emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { perpAt, statsOf, type Trader, type World } from './world.ts';

/** Slots without an action after which an account without orders counts as idle. */
const IDLE_SLOTS = 600n;

/** Opens an account with its first deposit. A new wallet may have a referrer. */
export function openAccount(tx: Transaction, seed: number, referrer?: string): void {
  const { world } = tx;
  const trader = addOther(world, seed, world.traders.length);
  const user = trader.account;
  enterExchange(tx, 'InitializeUser');
  const stats = statsOf(world, trader);
  if (referrer !== undefined && user.sub_account_id === 0) markReferred(stats.account, referrer);
  touch(tx, trader, stats, world.state);
  emit(tx, 'NewUserRecord', {
    ts: BigInt(tx.now),
    user_authority: user.authority,
    user: trader.key,
    sub_account_id: user.sub_account_id,
    name: user.name,
    referrer: stats.account.referrer,
  });
  leave(tx);
  depositTo(tx, trader, 0, purseOf(trader.role));
}

/** Makers, vaults and wallets outside the simulation always keep their account. */
export function staysPut({ role }: Trader): boolean {
  return role === 'fixedMaker' || role === 'offsetMaker' || role === 'vault' || role === 'guest';
}

/** Whether an account can be closed: no order, no base, no debt, and only settleable P&L. */
export function canClose(world: World, trader: Trader): boolean {
  const { perp_positions: positions, open_orders: orders } = trader.account;
  if (orders > 0 || staysPut(trader)) return false;
  if (world.spots.some((spot) => tokensOf(trader, spot) < 0n)) return false;
  return positions.every((position) => {
    const perp = perpAt(world, position.market_index);
    return position.base_asset_amount === 0n && claimable(world, trader, perp) === position.quote_asset_amount;
  });
}

/** Settles and withdraws everything of an account and closes it. */
export function closeAccount(tx: Transaction, trader: Trader): void {
  const { world } = tx;
  for (const perp of world.perps) settlePnl(tx, trader, perp, 1n);
  for (const spot of world.spots) {
    if (tokensOf(trader, spot) > 0n) withdrawAll(tx, trader, spot);
  }
  const user = trader.account;
  const stats = statsOf(world, trader);
  enterExchange(tx, 'DeleteUser');
  trader.alive = false;
  stats.account.number_of_sub_accounts--;
  world.state.account.number_of_sub_accounts--;
  touch(tx, stats, world.state);
  close(tx, trader);
  emit(tx, 'DeleteUserRecord', {
    ts: BigInt(tx.now),
    user_authority: user.authority,
    user: trader.key,
    sub_account_id: user.sub_account_id,
    keeper: null,
  });
  leave(tx);
}

export function isIdle(trader: Trader, slot: number): boolean {
  const user = trader.account;
  return !user.idle && user.open_orders === 0 && user.last_active_slot + IDLE_SLOTS < BigInt(slot);
}

/** Flags an account after a long idle time. Readers filter such accounts out. */
export function markIdle(tx: Transaction, trader: Trader): void {
  enterExchange(tx, 'UpdateUserIdle');
  trader.account.idle = true;
  touch(tx, trader);
  leave(tx);
}

/** An administrator cancels all orders of an account that lacks collateral. */
export function forceCancel(tx: Transaction, trader: Trader, filler: Trader): void {
  enterExchange(tx, 'ForceCancelOrders');
  for (const [index, order] of trader.account.orders.entries()) {
    if (order && !order.reduce_only) cancelOrder(tx, trader, index, 'insufficientFreeCollateral', filler);
  }
  touch(tx, filler);
  leave(tx);
}
