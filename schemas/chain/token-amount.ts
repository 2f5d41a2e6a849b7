// Tokens of a scaled balance in a spot market (docs/internals/accounts.md, "Units"), in decimals of the mint.

import { ceilDiv } from './whole.ts';

/** Of a scaled balance (9) and of cumulative interest (10). */
const BALANCE_DECIMALS = 19;

/** Units of balance times interest in one unit of the token. */
const unitOf = (decimals: number): bigint => 10n ** BigInt(Math.max(0, BALANCE_DECIMALS - decimals));

/** Tokens of a deposit, rounded down. */
export function tokenAmount(scaledBalance: bigint, cumulativeInterest: bigint, decimals: number): bigint {
  return (scaledBalance * cumulativeInterest) / unitOf(decimals);
}

/** Tokens of a debt, rounded up; never negative. */
export function debtAmount(scaledBalance: bigint, cumulativeInterest: bigint, decimals: number): bigint {
  return ceilDiv(scaledBalance * cumulativeInterest, unitOf(decimals));
}
