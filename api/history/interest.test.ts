import { describe, expect, it } from 'vitest';
import { borrowRate, type InterestState, ratesOf, utilization } from './interest.ts';

/** 1,000 tokens deposited plus 10 % interest; 10 % a year at 80 % utilization, 100 % a year at full utilization. */
const state = (borrowBalance: bigint): InterestState => ({
  depositBalance: 1_000_000_000_000n,
  cumulativeDepositInterest: 11_000_000_000n,
  borrowBalance,
  cumulativeBorrowInterest: 10_000_000_000n,
  optimalUtilization: 800_000n,
  optimalBorrowRate: 100_000n,
  maxBorrowRate: 1_000_000n,
});

describe('interest rates of a spot market', () => {
  it('is linear up to the optimal point, and linear again up to the maximum', () => {
    const rates = [0n, 400_000n, 800_000n, 900_000n, 1_000_000n].map((used) => borrowRate(used, state(0n)));
    expect(rates).toEqual([0n, 50_000n, 100_000n, 550_000n, 1_000_000n]);
  });

  it('pays depositors the interest of borrowers less the insurance share', () => {
    expect(ratesOf(state(440_000_000_000n), 6, 100_000n)).toEqual({
      deposit: 18_000n,
      borrow: 50_000n,
      deposit_balance: 1_100_000_000n,
      borrow_balance: 440_000_000n,
    });
  });

  it('rounds deposits down and debts up, as the chain does', () => {
    const odd = { ...state(1n), depositBalance: 1n };
    expect(ratesOf(odd, 6, 0n)).toMatchObject({ deposit_balance: 0n, borrow_balance: 1n });
  });

  it('handles markets without deposits', () => {
    expect([utilization(0n, 0n), utilization(0n, 5n)]).toEqual([0n, 1_000_000n]);
  });
});
