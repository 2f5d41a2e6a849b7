import { describe, expect, it } from 'vitest';
import { askPrice, bidPrice, fillFromAmm, reservePrice } from './amm.ts';
import { createExchange } from './index.ts';
import type { PerpMarket } from './markets.ts';
import { updateSpreads } from './spreads.ts';
import type { World } from './world.ts';

const SLOT = 1_010;

/** The market with an offset (HYPE-PERP) as it is listed. */
function listed(): { market: PerpMarket; price: bigint } {
  const exchange = createExchange({ seed: 3, genesisTime: 1_760_000_000 });
  const market = (exchange.snapshot() as World).perps[3]?.account;
  if (!market) throw new Error('no market');
  const { amm } = market;
  return { market, price: reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier) };
}

/** Users pay above the oracle, by the minute, the hour and the day. */
function withPremium(market: PerpMarket, price: bigint, sign: 1n | -1n): void {
  const { market_stats: stats } = market;
  const history = stats.historical_oracle_data;
  stats.last_mark_price_twap = history.last_oracle_price_twap + (sign * price) / 1_000n;
  stats.last_mark_price_twap_5min = history.last_oracle_price_twap_5min + (sign * price) / 1_000n;
  stats.last_24h_avg_funding_rate = sign * price;
}

describe('the spreads of the vAMM', () => {
  it('put the ask above and the bid below the reserve price by what they say', () => {
    const { market, price } = listed();
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect(Number(askPrice(market.amm)) / Number(price) - 1).toBeCloseTo(market.amm.long_spread / 1e6, 5);
    expect(1 - Number(bidPrice(market.amm)) / Number(price)).toBeCloseTo(market.amm.short_spread / 1e6, 5);
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([200, 200]);
  });

  it.each(['long', 'short'] as const)('are wider on the side that the vAMM has filled already: %s', (side) => {
    const { market } = listed();
    const { amm } = market;
    fillFromAmm(amm, amm.sqrt_k / 500n, side);
    const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
    updateSpreads(market, price, price / 2_000n, SLOT);
    const { long_spread: long, short_spread: short } = amm;
    if (side === 'long') expect(long).toBeGreaterThan(2 * short);
    else expect(short).toBeGreaterThan(2 * long);
  });

  it('are wider with a volatile mark and the more of the volume of the day a side had lately', () => {
    const { market, price } = listed();
    market.market_stats.mark_std = price / 50n;
    market.market_stats.volume_24h = 1_000n;
    market.market_stats.long_intensity_volume = 500n;
    updateSpreads(market, price, price / 2_000n, SLOT);
    // (2 % + 0.1 %) / 4 / 2, and half of it, since half of the volume was bought.
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([1_312, 200]);
  });

  it('are wider after losses since the last funding', () => {
    const { market, price } = listed();
    market.amm.net_revenue_since_last_funding = -30_000_000n;
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect([market.amm.long_spread, market.amm.short_spread]).toEqual([440, 440]);
  });

  it('go with the premium of a market whose inventory agrees, by steps at first', () => {
    const { market, price } = listed();
    const { amm } = market;
    fillFromAmm(amm, amm.sqrt_k / 500n, 'long');
    withPremium(market, price, 1n);
    updateSpreads(market, price, price / 2_000n, SLOT);
    const spread = amm.long_spread;
    expect(amm.reference_price_offset).toBe(50);
    amm.last_update_slot = BigInt(SLOT);
    updateSpreads(market, price, price / 2_000n, SLOT + 2);
    expect(amm.reference_price_offset).toBe(500);
    expect(market.market_stats.last_reference_price_offset).toBe(500);
    expect(amm.long_spread).toBe(spread - 50);
  });

  it('keep the side beyond the oracle clear of it', () => {
    const { market, price } = listed();
    updateSpreads(market, (price * 1_002n) / 1_000n, price / 2_000n, SLOT);
    expect(market.amm.long_spread).toBeGreaterThan(2_000);
    expect(askPrice(market.amm)).toBeGreaterThan((price * 1_002n) / 1_000n);
    expect(market.amm.short_spread).toBe(200);
  });

  it('stay where the reserve price is when premium and inventory disagree', () => {
    const { market, price } = listed();
    fillFromAmm(market.amm, market.amm.sqrt_k / 500n, 'long');
    withPremium(market, price, -1n);
    updateSpreads(market, price, price / 2_000n, SLOT);
    expect(market.amm.reference_price_offset).toBe(0);
  });
});
