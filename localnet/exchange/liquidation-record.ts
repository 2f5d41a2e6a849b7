// The record of all liquidations: it always has all six parts, and its type selects one.

import { max } from './amounts.ts';
import { healthOf } from './margin.ts';
import { USER_BANKRUPT } from './model.ts';
import type { RecordData } from './records.ts';
import { emit, type Transaction } from './transaction.ts';
import type { Trader } from './world.ts';

export type LiquidationKind =
  | 'liquidatePerp'
  | 'liquidateSpot'
  | 'liquidateBorrowForPerpPnl'
  | 'liquidatePerpPnlForDeposit'
  | 'perpBankruptcy'
  | 'spotBankruptcy';

const PARTS: Readonly<Record<LiquidationKind, string>> = {
  liquidatePerp: 'liquidate_perp',
  liquidateSpot: 'liquidate_spot',
  liquidateBorrowForPerpPnl: 'liquidate_borrow_for_perp_pnl',
  liquidatePerpPnlForDeposit: 'liquidate_perp_pnl_for_deposit',
  perpBankruptcy: 'perp_bankruptcy',
  spotBankruptcy: 'spot_bankruptcy',
};

export interface LiquidationHead {
  readonly marginFreed: bigint;
  readonly canceledOrderIds?: readonly number[];
}

/** Emits the record after a step, with the account's health after it. */
export function emitLiquidation(
  tx: Transaction,
  trader: Trader,
  liquidator: Trader,
  kind: LiquidationKind,
  head: LiquidationHead,
  part: RecordData,
): void {
  const { collateral, requirement } = healthOf(tx.world, trader);
  trader.account.liquidation_margin_freed += max(0n, head.marginFreed);
  emit(tx, 'LiquidationRecord', {
    ts: BigInt(tx.now),
    liquidation_type: kind,
    user: trader.key,
    liquidator: liquidator.key,
    margin_requirement: requirement,
    total_collateral: collateral,
    margin_freed: max(0n, head.marginFreed),
    liquidation_id: trader.account.next_liquidation_id - 1,
    bankrupt: (trader.account.status & USER_BANKRUPT) !== 0,
    canceled_order_ids: head.canceledOrderIds ?? [],
    [PARTS[kind]]: part,
    bit_flags: 0,
  });
}
