import { describe, expect, it } from 'vitest';
import { fundingRate } from './funding.ts';
import type { PerpMarket } from './markets.ts';

function market(markTwap: bigint, tier = 'a', threshold = 5): PerpMarket {
  return {
    contract_tier: tier,
    funding_clamp_threshold: threshold,
    funding_ramp_slope: 1_000_000,
    market_stats: { last_mark_price_twap: markTwap, historical_oracle_data: { last_oracle_price_twap: 100_000_000n } },
  } as unknown as PerpMarket;
}

/** One part in 3333 of an oracle of 100. */
const CONSTANT_PART = 30_003n;
/** An hour's share of a day, in 1e9. */
const OFFSET_ONLY = (CONSTANT_PART * 1_000n) / 24n;

describe('the funding rate', () => {
  it('is only the constant part while the premium is in the dead zone', () => {
    expect(fundingRate(market(100_000_000n))).toBe(OFFSET_ONLY);
    expect(fundingRate(market(100_050_000n))).toBe(OFFSET_ONLY);
    expect(fundingRate(market(99_950_000n))).toBe(OFFSET_ONLY);
  });

  it('adds the premium beyond the dead zone', () => {
    expect(fundingRate(market(100_150_000n))).toBe(((100_000n + CONSTANT_PART) * 1_000n) / 24n);
    expect(fundingRate(market(99_850_000n))).toBe(((-100_000n + CONSTANT_PART) * 1_000n) / 24n);
  });

  it('is limited by the clamp of the tier', () => {
    expect(fundingRate(market(150_000_000n, 'a'))).toBe(((100_000_000n / 33n) * 1_000n) / 24n);
    expect(fundingRate(market(150_000_000n, 'c'))).toBe(((100_000_000n / 20n) * 1_000n) / 24n);
    expect(fundingRate(market(50_000_000n, 'speculative'))).toBe(((-100_000_000n / 10n) * 1_000n) / 24n);
  });
});
