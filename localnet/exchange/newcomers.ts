// Accounts come and go: new traders open and fund an account, idle ones are flagged, empty ones closed.

import { tokensOf } from './balances.ts';
import { cancelOrder } from './orders.ts';
import { addOther, purseOf } from './population.ts';
import { depositTo, withdrawAll } from './savings.ts';
import { close, emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { statsOf, type Trader } from './world.ts';

/** Slots without an own action after which an account without orders counts as idle. */
const IDLE_SLOTS = 600n;

/** A new account with its first deposit. */
export function openAccount(tx: Transaction, seed: number): void {
  const { world } = tx;
  const trader = addOther(world, seed, world.traders.length);
  const user = trader.account;
  enterExchange(tx, 'InitializeUser');
  const stats = statsOf(world, trader);
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

/** Whether an account could be closed: nothing open, no position, no debt. */
export function canClose(trader: Trader, tokens: readonly bigint[]): boolean {
  const { perp_positions: positions, open_orders: orders } = trader.account;
  const flat = positions.every(({ base_asset_amount: base, quote_asset_amount: quote }) => base === 0n && quote === 0n);
  return orders === 0 && flat && tokens.every((amount) => amount >= 0n);
}

/** Takes everything out of an account and closes it. */
export function closeAccount(tx: Transaction, trader: Trader): void {
  const { world } = tx;
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

/** Flags an account that has done nothing for long; readers filter such accounts out. */
export function markIdle(tx: Transaction, trader: Trader): void {
  enterExchange(tx, 'UpdateUserIdle');
  trader.account.idle = true;
  touch(tx, trader);
  leave(tx);
}

/** An administrator takes away all orders of an account that lacks collateral. */
export function forceCancel(tx: Transaction, trader: Trader, filler: Trader): void {
  enterExchange(tx, 'ForceCancelOrders');
  for (const [index, order] of trader.account.orders.entries()) {
    if (order && !order.reduce_only) cancelOrder(tx, trader, index, 'insufficientFreeCollateral', filler);
  }
  touch(tx, filler);
  leave(tx);
}
