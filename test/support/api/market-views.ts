// Market descriptions for this room's tests.

import type { MarketView } from '../../../schemas/index.ts';

/** SOL-PERP, index 0, with members replaced. */
export function marketView(overrides: Partial<MarketView> = {}): MarketView {
  return {
    marketType: 'perp',
    marketIndex: 0,
    slot: 100,
    symbol: 'SOL-PERP',
    status: 'active',
    tickSize: 100n,
    stepSize: 10_000_000n,
    minOrderSize: 10_000_000n,
    decimals: 9,
    oraclePrice: 81_122_330n,
    openInterestBase: 1_500_000_000n,
    last24hAvgFundingRate: 0n,
    oracle: null,
    isLoading: false,
    ...overrides,
  };
}

/** Two perp markets and two spot markets. */
export const MARKETS: readonly MarketView[] = [
  marketView(),
  marketView({ marketIndex: 1, symbol: 'BTC-PERP', oraclePrice: 60_000_000_000n, openInterestBase: 0n }),
  marketView({ marketType: 'spot', marketIndex: 0, symbol: 'USDT', decimals: 6, oraclePrice: 1_000_000n }),
  marketView({ marketType: 'spot', marketIndex: 1, symbol: 'SOL', oraclePrice: null }),
];
