import { describe, expect, it } from 'vitest';
import { debtAmount, tokenAmount } from './token-amount.ts';

describe('tokens of a scaled balance', () => {
  it('are in decimals of the mint', () => {
    expect(tokenAmount(1_000_000_000_000n, 11_000_000_000n, 6)).toBe(1_100_000_000n);
    expect(tokenAmount(1_000_000_000_000n, 11_000_000_000n, 9)).toBe(1_100_000_000_000n);
  });

  it('round down for a deposit, up for a debt', () => {
    const [whole, more] = [10_000n, 10_001n];
    const interest = 10_000_000_000n;
    expect([whole, more].map((balance) => tokenAmount(balance, interest, 6))).toEqual([10n, 10n]);
    expect([whole, more].map((balance) => debtAmount(balance, interest, 6))).toEqual([10n, 11n]);
  });
});
