// Priority fees of a market, as a provider answers them.

import type { FeeLevels } from '../../../schemas/index.ts';

export const FEE_LEVELS = {
  min: 0,
  low: 2,
  medium: 10_082.5,
  high: 100_000,
  veryHigh: 1_200_000,
  unsafeMax: 5_000_000,
} as const;
export const FEES: FeeLevels = { marketType: 'perp', marketIndex: 0, atMs: 1, ...FEE_LEVELS };
