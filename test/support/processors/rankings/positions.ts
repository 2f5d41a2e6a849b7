// Positions and markets for ranking tests.

import type { PositionMarket, PositionState } from '../../../../schemas/index.ts';

export const PERP = { marketType: 'perp', marketIndex: 0 } as const;

/** A 32-byte address of a user by number. */
const keyOf = (seed: number) => new Uint8Array(32).map((_, index) => (index < 2 ? (seed >> (8 * index)) & 0xff : 1));

/** A position of SOL-PERP that is empty but for the given members. */
export function position(user: number, members: Partial<PositionState> = {}): PositionState {
  return {
    ...PERP,
    slot: 1,
    user: keyOf(user),
    authority: keyOf(0),
    baseAssetAmount: 0n,
    quoteAssetAmount: 0n,
    quoteEntryAmount: 0n,
    quoteBreakEvenAmount: 0n,
    lastCumulativeFundingRate: 0n,
    openOrders: 0,
    ...members,
  };
}

/** SOL-PERP at 100 with empty pools, but for the given members. */
export function market(members: Partial<PositionMarket> = {}): PositionMarket {
  return {
    ...PERP,
    slot: 1,
    oraclePrice: 100_000_000n,
    cumulativeFundingRateLong: 0n,
    cumulativeFundingRateShort: 0n,
    netBaseAssetAmount: 0n,
    netQuoteAssetAmount: 0n,
    netUnsettledFundingPnl: 0n,
    pnlPoolScaledBalance: 0n,
    feePoolScaledBalance: 0n,
    quoteCumulativeDepositInterest: 10_000_000_000n,
    quoteDecimals: 6,
    ...members,
  };
}
