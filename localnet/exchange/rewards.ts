// Rewards for builders and referrers, and the status of accelerated referrals.

import { chance } from './random.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { statsOf, type Trader } from './world.ts';

/** Pays the builder's accrued reward. */
export function settleRevenueShare(tx: Transaction, marketIndex: number): void {
  const { builder } = tx.world;
  if (builder.pending <= 0n) return;
  enterExchange(tx, 'SettleMultiplePnls');
  const fee = builder.pending;
  builder.pending = 0n;
  builder.paid += fee;
  emit(tx, 'RevenueShareSettleRecord', {
    ts: BigInt(tx.now),
    builder: builder.authority,
    referrer: null,
    fee_settled: fee,
    market_index: marketIndex,
    market_type: 'perp',
    builder_sub_account_id: 0,
    builder_total_referrer_rewards: 0n,
    builder_total_builder_rewards: builder.paid,
  });
  leave(tx);
}

/** Pays a referrer's accrued reward. */
export function settleReferrer(tx: Transaction, referrer: string, marketIndex: number): void {
  const account = tx.world.referrers.get(referrer);
  if (!account || account.pending <= 0n) return;
  enterExchange(tx, 'SettleMultiplePnls');
  const fee = account.pending;
  account.pending = 0n;
  account.paid += fee;
  emit(tx, 'RevenueShareSettleRecord', {
    ts: BigInt(tx.now),
    builder: null,
    referrer,
    fee_settled: fee,
    market_index: marketIndex,
    market_type: 'perp',
    builder_sub_account_id: 0,
    builder_total_referrer_rewards: account.paid,
    builder_total_builder_rewards: 0n,
  });
  leave(tx);
}

/** Grants or revokes the accelerated rate of a trader's referrals. */
export function toggleAcceleratedReferral(tx: Transaction, trader: Trader): void {
  const stats = statsOf(tx.world, trader);
  const previous = stats.account.accelerated_referral_status;
  const next = previous === 0 ? 1 : 0;
  enterExchange(tx, 'UpdateAcceleratedReferralStatus');
  stats.account.accelerated_referral_status = next;
  touch(tx, stats);
  emit(tx, 'AcceleratedReferralStatusChangedRecordV0', {
    ts: BigInt(tx.now),
    authority: trader.account.authority,
    previous_status: previous,
    new_status: next,
    action: next === 0 ? 'adminRevoke' : chance(tx.world.rng, 0.5) ? 'adminGrant' : 'autoEnrollment',
  });
  leave(tx);
}
