// Accounts of the builder programme: who earns a share, and which builders a trader has approved.

import { exchangeAddress, keyBytes, NO_KEY, text } from '../keys.ts';
import type { Stored } from '../model.ts';
import { enterExchange, leave, mention, note, touch } from '../transaction.ts';
import { type Call, expectKey } from './context.ts';
import { alreadyInUse, constraint, exchangeError } from './errors.ts';
import type { EscrowAccount } from './guests.ts';
import { payRent } from './wallets.ts';

const ESCROW_ORDERS_MAX = 128;
const ESCROW_BUILDERS_MAX = 128;

function revenueShareKey(authority: string): string {
  return exchangeAddress(text('REV_SHARE'), keyBytes(authority));
}

export function revenueShareEscrowKey(authority: string): string {
  return exchangeAddress(text('REV_ESCROW'), keyBytes(authority));
}

export function initializeRevenueShare(call: Call): void {
  const { tx, accounts } = call;
  const authority = accounts.authority ?? '';
  const key = revenueShareKey(authority);
  expectKey(call, 'revenue_share', key);
  const { revenueShares } = tx.world.guests;
  if (revenueShares.has(key)) throw alreadyInUse(key);
  const account = { authority, totalReferrerRewards: 0n, totalBuilderRewards: 0n };
  const stored = { key, type: 'RevenueShare', grown: 0, account };
  revenueShares.set(key, stored);
  enterExchange(tx, 'InitializeRevenueShare');
  payRent(call, stored);
  touch(tx, stored);
  mention(tx, authority);
  leave(tx);
}

export function initializeRevenueShareEscrow(call: Call): void {
  const { tx, accounts, args } = call;
  const authority = accounts.authority ?? '';
  const key = revenueShareEscrowKey(authority);
  expectKey(call, 'escrow', key);
  const stats = tx.world.stats.get(authority);
  if (!stats || stats.key !== accounts.user_stats) throw constraint('AccountNotInitialized', 'user_stats');
  if (stats.account.number_of_sub_accounts_created === 0) throw exchangeError('UserNotFound');
  const orders = args.num_orders as number;
  if (orders === 0 || orders > ESCROW_ORDERS_MAX) {
    throw exchangeError('DefaultError', 'revenue share escrow must have 1 to 128 order slots');
  }
  const { escrows } = tx.world.guests;
  if (escrows.has(key)) throw alreadyInUse(key);
  const referrer = stats.account.referrer === '' ? NO_KEY : stats.account.referrer;
  const stored = { key, type: 'RevenueShareEscrow', grown: 0, account: { authority, referrer, orders, builders: [] } };
  escrows.set(key, stored);
  enterExchange(tx, 'InitializeRevenueShareEscrow');
  payRent(call, stored);
  touch(tx, stored, stats);
  leave(tx);
}

export function changeApprovedBuilder(call: Call): void {
  const { tx, args } = call;
  const escrow = escrowOf(call);
  const builder = args.builder as string;
  const maxFeeTenthBps = args.max_fee_tenth_bps as number;
  if (builder === escrow.account.authority) {
    throw exchangeError('DefaultError', 'Builder cannot be the same as the escrow authority');
  }
  const known = escrow.account.builders.find(({ authority }) => authority === builder);
  if (!known && escrow.account.builders.length >= ESCROW_BUILDERS_MAX) throw exchangeError('DefaultError');
  enterExchange(tx, 'ChangeApprovedBuilder');
  if (known) {
    note(tx, `Updated builder: ${builder} with max fee tenth bps: ${known.maxFeeTenthBps} -> ${maxFeeTenthBps}`);
    known.maxFeeTenthBps = args.add === true ? maxFeeTenthBps : 0;
  } else if (args.add === true) {
    note(tx, `Added builder: ${builder} with max fee tenth bps: ${maxFeeTenthBps}`);
    escrow.account.builders.push({ authority: builder, maxFeeTenthBps });
  } else {
    note(tx, `Tried to revoke builder: ${builder}, but it was not found`);
  }
  touch(tx, escrow);
  leave(tx);
}

function escrowOf(call: Call): Stored<EscrowAccount> {
  const authority = call.accounts.authority ?? '';
  expectKey(call, 'escrow', revenueShareEscrowKey(authority));
  const escrow = call.tx.world.guests.escrows.get(revenueShareEscrowKey(authority));
  if (!escrow) throw constraint('AccountNotInitialized', 'escrow');
  return escrow;
}
