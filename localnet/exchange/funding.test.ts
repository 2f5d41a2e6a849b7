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

/** The constant part at an oracle of 100: a five-thousandth, an hour's share of a day, in 1e9. */
const OFFSET_ONLY = (20_000n * 1_000n) / 24n;

describe('the funding rate', () => {
  it('is the constant part alone while the premium stays in the dead zone', () => {
    expect(fundingRate(market(100_000_000n))).toBe(OFFSET_ONLY);
    expect(fundingRate(market(100_050_000n))).toBe(OFFSET_ONLY);
    expect(fundingRate(market(99_950_000n))).toBe(OFFSET_ONLY);
  });

  it('counts what the premium exceeds the dead zone by', () => {
    expect(fundingRate(market(100_150_000n))).toBe(((100_000n + 20_000n) * 1_000n) / 24n);
    expect(fundingRate(market(99_850_000n))).toBe(((-100_000n + 20_000n) * 1_000n) / 24n);
  });

  it('stops at the clamp of the tier', () => {
    expect(fundingRate(market(150_000_000n, 'a'))).toBe(((100_000_000n / 33n) * 1_000n) / 24n);
    expect(fundingRate(market(150_000_000n, 'c'))).toBe(((100_000_000n / 20n) * 1_000n) / 24n);
    expect(fundingRate(market(50_000_000n, 'speculative'))).toBe(((-100_000_000n / 10n) * 1_000n) / 24n);
  });
});
