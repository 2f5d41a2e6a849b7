// Deposit and borrow rates of a spot market from its interest records (docs/internals/history-semantics.md, "Interest rates").

import { debtAmount, tokenAmount } from '../../schemas/index.ts';

const ONE = 1_000_000n;

/** Balances 1e9, cumulative interest 1e10, the rest 1e6. */
export interface InterestState {
  readonly depositBalance: bigint;
  readonly cumulativeDepositInterest: bigint;
  readonly borrowBalance: bigint;
  readonly cumulativeBorrowInterest: bigint;
  readonly optimalUtilization: bigint;
  readonly optimalBorrowRate: bigint;
  readonly maxBorrowRate: bigint;
}

/** Borrowed share of the deposits, 1e6, rounded down; 1 when there are borrows but no deposits. */
export function utilization(deposits: bigint, borrows: bigint): bigint {
  if (deposits === 0n) return borrows === 0n ? 0n : ONE;
  return (borrows * ONE) / deposits;
}

/** Yearly borrow rate, 1e6, rounded down: linear up to the optimal utilization, and linear again up to the maximum. */
export function borrowRate(used: bigint, state: InterestState): bigint {
  const { optimalUtilization: optimal, optimalBorrowRate: atOptimal, maxBorrowRate: maximum } = state;
  if (used <= optimal) return optimal === 0n ? atOptimal : (atOptimal * used) / optimal;
  if (optimal >= ONE) return maximum;
  return atOptimal + ((maximum - atOptimal) * (used - optimal)) / (ONE - optimal);
}

export interface Rates {
  /** Yearly, 1e6 = 100 %. */
  readonly deposit: bigint;
  readonly borrow: bigint;
  /** Tokens, mint decimals: deposits rounded down, debts up, as on chain. */
  readonly deposit_balance: bigint;
  readonly borrow_balance: bigint;
}

/** All four series at one record. `insuranceFactor` is the insurance fund's share of the interest, 1e6. */
export function ratesOf(state: InterestState, decimals: number, insuranceFactor: bigint): Rates {
  const deposits = tokenAmount(state.depositBalance, state.cumulativeDepositInterest, decimals);
  const borrows = debtAmount(state.borrowBalance, state.cumulativeBorrowInterest, decimals);
  const used = utilization(deposits, borrows);
  const borrow = borrowRate(used, state);
  const deposit = (borrow * used * (ONE - insuranceFactor)) / (ONE * ONE);
  return { deposit, borrow, deposit_balance: deposits, borrow_balance: borrows };
}
