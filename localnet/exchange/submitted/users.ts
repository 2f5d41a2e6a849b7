// Opening accounts on request of a wallet.

import { exchangeAddress, keyBytes, text, userAddress } from '../keys.ts';
import { addGuest, addStats } from '../population.ts';
import { emit, enterExchange, leave, mention, type Transaction, touch } from '../transaction.ts';
import { statsOf } from '../world.ts';
import { type Call, expectKey } from './context.ts';
import { alreadyInUse, constraint, exchangeError } from './errors.ts';
import { payRent } from './wallets.ts';

export function initializeUserStats(call: Call): void {
  const { tx, accounts } = call;
  const authority = accounts.authority ?? '';
  expectKey(call, 'user_stats', exchangeAddress(text('user_stats'), keyBytes(authority)));
  if (tx.world.stats.has(authority)) throw alreadyInUse(accounts.user_stats ?? '');
  enterExchange(tx, 'InitializeUserStats');
  const stats = addStats(tx.world, authority, false);
  payRent(call, stats);
  touch(tx, stats, tx.world.state);
  mention(tx, authority);
  leave(tx);
}

export function initializeUser(call: Call): void {
  const { tx, accounts, args } = call;
  const authority = accounts.authority ?? '';
  const subAccountId = args.sub_account_id as number;
  expectKey(call, 'user', userAddress(authority, subAccountId));
  const stats = tx.world.stats.get(authority);
  if (!stats || stats.key !== accounts.user_stats) throw constraint('AccountNotInitialized', 'user_stats');
  if (tx.world.traderIds.has(`${authority}/${subAccountId}`)) throw alreadyInUse(accounts.user ?? '');
  if (subAccountId !== stats.account.number_of_sub_accounts_created) throw exchangeError('InvalidUserSubAccountId');
  const stored = openGuest(tx, authority, subAccountId, args.name as readonly number[]);
  payRent(call, stored);
}

/** Opens a sub-account and records it. The wallet's statistics must exist. */
export function openGuest(tx: Transaction, authority: string, subAccountId: number, name: readonly number[]) {
  enterExchange(tx, 'InitializeUser');
  const trader = addGuest(tx.world, authority, subAccountId, name);
  const stats = statsOf(tx.world, trader);
  touch(tx, trader, stats, tx.world.state);
  mention(tx, authority);
  emit(tx, 'NewUserRecord', {
    ts: BigInt(tx.now),
    user_authority: authority,
    user: trader.key,
    sub_account_id: subAccountId,
    name: trader.account.name,
    referrer: stats.account.referrer,
  });
  leave(tx);
  return trader;
}
