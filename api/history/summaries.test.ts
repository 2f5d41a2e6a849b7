import { describe, expect, it } from 'vitest';
import { marketSummary, registry } from '../../test/support/api/history-stage.ts';
import { marketView } from '../../test/support/api/market-views.ts';
import { MarketSummaries, priceChange, summaryBody } from './summaries.ts';

describe('market summaries', () => {
  it('have the required members in human units', () => {
    expect(summaryBody(marketView({ status: 'fundingPaused' }), marketSummary())).toMatchObject({
      marketIndex: 0,
      symbol: 'SOL-PERP',
      marketType: 'perp',
      oraclePrice: 81.12233,
      volume24h: 450.6,
      openInterest: 2.5,
      fundingRate: 0.00790517,
      fundingRate24hAvg: 0.00790517,
      status: 'fundingpaused',
    });
  });

  it('have the predecessor’s extra members', () => {
    expect(summaryBody(marketView(), marketSummary())).toMatchObject({
      baseVolume24h: 3,
      trades24h: 2,
      price: 150.2,
      price24hAgo: 150,
      priceChange24h: 0.2,
      priceChange24hPercent: 0.13,
      priceHigh24h: 151,
      priceLow24h: 149.5,
      oracleHigh24h: 151.1,
      oracleLow24h: 149.4,
      markPrice: 150.2,
      openInterestLong: 2,
      openInterestShort: -2.5,
      fundingRateLong: -0.00790517,
      fundingRateShort: 0.00790517,
    });
  });

  it('are zero, not absent, for a market without fills, funding or samples', () => {
    const spot = marketView({ marketType: 'spot', marketIndex: 1, symbol: 'SOL', oraclePrice: null });
    expect(summaryBody(spot, null)).toMatchObject({
      oraclePrice: 0,
      volume24h: 0,
      openInterest: 0,
      fundingRate: 0,
      fundingRate24hAvg: 0,
      price: null,
      ts: null,
    });
  });

  it('use the open interest of the market account before the first sample', () => {
    expect(summaryBody(marketView(), marketSummary({ sampleSlot: 0 })).openInterest).toBe(1.5);
  });

  it('show a new oracle price at once, however old the market account is', () => {
    const old = marketView({ slot: 50, oraclePrice: 149_000_000n });
    expect(summaryBody(old, marketSummary()).oraclePrice).toBe(149);
  });

  it('show the oracle price of the newest fill or sample for a market without a readable oracle', () => {
    expect(summaryBody(marketView({ oraclePrice: null }), marketSummary()).oraclePrice).toBe(150.18);
  });

  it('round the change in percent to two decimals, either way', () => {
    const change = (lastFillPrice: bigint) =>
      priceChange(marketSummary({ lastFillPrice, fillPrice24hAgo: 3_000_000n }));
    expect([change(3_000_200n)?.percent, change(2_999_800n)?.percent]).toEqual([1n, -1n]);
    expect([change(3_000_100n)?.percent, priceChange(marketSummary({ fillPrice24hAgo: null }))]).toEqual([0n, null]);
  });

  it('change only after a market or a summary changes', () => {
    const markets = registry();
    const summaries = new MarketSummaries(markets);
    const first = summaries.text();
    expect([summaries.text(), summaries.isBuilt]).toEqual([first, false]);
    summaries.put(marketSummary());
    expect(JSON.parse(summaries.text())[0].price).toBe(150.2);
    markets.put(marketView({ slot: 101, status: 'settlement' }));
    expect(summaries.list().map(({ status }) => status)).toEqual(['settlement', 'active', 'active', 'active']);
  });
});
