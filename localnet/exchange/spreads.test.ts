import { describe, expect, it } from 'vitest';
import { askPrice, bidPrice, fillFromAmm, reservePrice } from './amm.ts';
import { createExchange } from './index.ts';
import type { PerpMarket } from './markets.ts';
import { updateSpreads } from './spreads.ts';
import type { World } from './world.ts';

const SLOT = 1_010;

/** The listed market with an offset (HYPE-PERP). */
function listed(): { market: PerpMarket; price: bigint } {
  const exchange = createExchange({ seed: 3, genesisTime: 1_760_000_000 });
  const market = (exchange.snapshot() as World).perps[3]?.account;
  if (!market) throw new Error('no market');
  const { amm } = market;
  return { market, price: reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier) };
}

/** Gives a market premiums above the oracle by minute, hour and day. */
function withPremium(market: PerpMarket, price: bigint, sign: 1n | -1n): void {
  const { market_stats: stats } = market;
  const history = stats.historical_oracle_data;
  stats.last_mark_price_twap = history.last_oracle_price_twap + (sign * price) / 1_000n;
  stats.last_mark_price_twap_5min = history.last_oracle_price_twap_5min + (sign * price) / 1_000n;
  stats.last_24h_avg_funding_rate = sign * price;
}

describe('the spreads of the vAMM', () => {
  it('set the ask above and the bid below the reserve price by their shares', () => {
    const { market, price } = listed();
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect(Number(askPrice(market.amm)) / Number(price) - 1).toBeCloseTo(market.amm.long_spread / 1e6, 5);
    expect(1 - Number(bidPrice(market.amm)) / Number(price)).toBeCloseTo(market.amm.short_spread / 1e6, 5);
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([200, 200]);
  });

  it.each(['long', 'short'] as const)('widen on the side that the vAMM has filled: %s', (side) => {
    const { market } = listed();
    const { amm } = market;
    fillFromAmm(amm, amm.sqrt_k / 500n, side);
    const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
    updateSpreads(market, price, price / 2_000n, SLOT);
    const { long_spread: long, short_spread: short } = amm;
    if (side === 'long') expect(long).toBeGreaterThan(2 * short);
    else expect(short).toBeGreaterThan(2 * long);
  });

  it('widen with a volatile mark and with the recent share of volume of a side', () => {
    const { market, price } = listed();
    market.market_stats.mark_std = price / 50n;
    market.market_stats.volume_24h = 1_000n;
    market.market_stats.long_intensity_volume = 500n;
    updateSpreads(market, price, price / 2_000n, SLOT);
    // (2 % + 0.1 %) / 4 / 2, and half of it, since half of the volume was bought.
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([1_312, 200]);
  });

  it('widen after losses since the last funding', () => {
    const { market, price } = listed();
    market.amm.net_revenue_since_last_funding = -30_000_000n;
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([440, 440]);
  });

  it('follow the premium in proportion when the inventory agrees', () => {
    const { market, price } = listed();
    const { amm } = market;
    fillFromAmm(amm, amm.sqrt_k / 500n, 'long');
    withPremium(market, price, 1n);
    market.market_stats.last_reference_price_offset = -500;
    updateSpreads(market, price, price / 2_000n, SLOT);
    // The inventory is 9.75 % of the depth, less a dead band of 2 %: 77 % of a bound of 500.
    expect(amm.reference_price_offset).toBe(387);
    expect(market.market_stats.last_reference_price_offset).toBe(387);
    fillFromAmm(amm, amm.sqrt_k / 500n, 'long');
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect(amm.reference_price_offset).toBe(500);
  });

  it('ask at least and bid at most the oracle price, wherever the curve is', () => {
    for (const parts of [970n, 990n, 999n, 1_001n, 1_010n, 1_030n]) {
      const { market, price } = listed();
      const { amm } = market;
      fillFromAmm(amm, amm.sqrt_k / 500n, 'long');
      withPremium(market, price, 1n);
      const oracle = (price * parts) / 1_000n;
      updateSpreads(market, oracle, price / 2_000n, SLOT);
      expect(askPrice(amm)).toBeGreaterThanOrEqual(oracle);
      expect(bidPrice(amm)).toBeLessThanOrEqual(oracle);
    }
  });

  it('keep a distance to the oracle on the far side', () => {
    const { market, price } = listed();
    updateSpreads(market, (price * 1_002n) / 1_000n, price / 2_000n, SLOT);
    expect(market.amm.long_spread).toBeGreaterThan(2_000);
    expect(askPrice(market.amm)).toBeGreaterThan((price * 1_002n) / 1_000n);
    expect(market.amm.short_spread).toBe(200);
  });

  it('stay at the reserve price when premium and inventory disagree', () => {
    const { market, price } = listed();
    fillFromAmm(market.amm, market.amm.sqrt_k / 500n, 'long');
    withPremium(market, price, -1n);
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect(market.amm.reference_price_offset).toBe(0);
  });
});
