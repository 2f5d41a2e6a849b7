// /auctionParams: every parameter, and the derivation from a client's point of view.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../../platform/index.ts';
import { until } from '../../../test/support/api/stage.ts';
import { AuctionStage, book, level, NOW_MS } from '../../../test/support/orderbook/auction-stage.ts';
import { auctionSettings } from './settings.ts';

let stage: AuctionStage;

beforeEach(() => {
  stage = new AuctionStage();
});

afterEach(() => stage.stop());

describe('/auctionParams', () => {
  it('answers the published sample member by member', async () => {
    await stage.serve();
    expect((await stage.ask()).json()).toEqual({
      data: {
        params: {
          orderType: 'oracle',
          marketType: 'perp',
          userOrderId: 0,
          direction: 'long',
          baseAssetAmount: '1000000000',
          marketIndex: 0,
          reduceOnly: false,
          postOnly: 'none',
          bitFlags: 0,
          triggerPrice: null,
          triggerCondition: 'above',
          oraclePriceOffset: '979901',
          auctionDuration: 20,
          maxTs: null,
          auctionStartPrice: '-1000000',
          auctionEndPrice: '979901',
        },
        entryPrice: '101200000',
        bestPrice: '100000000',
        worstPrice: '102000000',
        oraclePrice: '100000000',
        markPrice: '99000000',
        priceImpact: 0.012,
        slippageTolerance: '0.0199999998',
        generatedAt: NOW_MS,
      },
    });
  });

  it('isOracleOrder=false gives a fixed price, absent without a slippage bound', async () => {
    await stage.serve();
    const options = { isOracleOrder: 'false', auctionStartPriceOffsetFrom: 'bestOffer', slippageTolerance: '5' };
    expect((await stage.data({ ...options, auctionStartPriceOffset: '-0.1' })).params).toMatchObject({
      orderType: 'market',
      price: '105000000',
      auctionStartPrice: '99900000',
      auctionEndPrice: '102102000',
      oraclePriceOffset: null,
    });
    const unbounded = await stage.data({ isOracleOrder: '0', allowInfSlippage: '1' });
    expect(unbounded.params).not.toHaveProperty('price');
    expect([unbounded.params.auctionEndPrice, unbounded.slippageTolerance]).toEqual(['102102000', '0.15']);
  });

  it('forceUpToSlippage takes the end to the full tolerance', async () => {
    await stage.serve();
    const options = { slippageTolerance: '5', auctionStartPriceOffsetFrom: 'bestOffer' };
    expect((await stage.data({ ...options, forceUpToSlippage: 'true' })).params.auctionEndPrice).toBe('5000000');
    expect((await stage.data({ ...options, forceUpToSlippage: 'TRUE' })).params.auctionEndPrice).toBe('2102000');
  });

  it('additionalEndPriceBuffer is raw: one unit is 0.000001', async () => {
    await stage.serve();
    const options = { direction: 'short', slippageTolerance: '1' };
    expect((await stage.data({ ...options, additionalEndPriceBuffer: '100000' })).params).toMatchObject({
      auctionStartPrice: '-1000000',
      auctionEndPrice: '-2190000',
    });
  });

  it('the order carries userOrderId, reduceOnly and auctionDuration (units of 400 ms, to 255)', async () => {
    await stage.serve();
    const most = { userOrderId: '255', auctionDuration: '255.9' };
    expect((await stage.data(most)).params).toMatchObject({ userOrderId: 255, auctionDuration: 255 });
    const options = { userOrderId: '42', reduceOnly: 'true', auctionDuration: '7' };
    expect((await stage.data(options)).params).toMatchObject({ userOrderId: 42, reduceOnly: true, auctionDuration: 7 });
    const empty = { userOrderId: '', reduceOnly: 'yes', auctionDuration: 'x' };
    expect((await stage.data(empty)).params).toMatchObject({ userOrderId: 0, reduceOnly: false, auctionDuration: 20 });
  });

  it('maxLeverageSelected replaces the base amount by maxLeverageOrderSize', async () => {
    await stage.serve();
    const size = { maxLeverageOrderSize: '18446744073709551615' };
    const selected = await stage.data({ ...size, maxLeverageSelected: 'true' });
    expect([selected.params.baseAssetAmount, selected.entryPrice]).toEqual(['18446744073709551615', '101200000']);
    expect((await stage.data(size)).params.baseAssetAmount).toBe('1000000000');
  });

  it('assetType=quote converts the amount into base at the entry price', async () => {
    await stage.serve();
    const { params, entryPrice } = await stage.data({ assetType: 'quote', amount: '50000000' });
    expect([entryPrice, params.baseAssetAmount]).toEqual(['100393700', '498039219']);
  });

  it('slippageTolerance is percent in requests and a fraction in answers; `dynamic` and non-numbers are dynamic', async () => {
    await stage.serve();
    expect((await stage.data({ slippageTolerance: '0.5' })).slippageTolerance).toBe('0.005');
    expect((await stage.data({ slippageTolerance: '0.000001' })).slippageTolerance).toBe('0.00000001');
    expect((await stage.data({ slippageTolerance: '500' })).slippageTolerance).toBe('0.99');
    for (const text of ['dynamic', '', 'abc']) {
      expect((await stage.data({ slippageTolerance: text })).slippageTolerance).toBe('0.0199999998');
    }
  });

  it('marketBased equals an absent value, and each explicit value overrides it', async () => {
    await stage.serve();
    const plain = (await stage.data({ slippageTolerance: '5' })).params;
    const based = { auctionStartPriceOffset: 'marketBased', auctionStartPriceOffsetFrom: 'marketBased' };
    expect((await stage.data({ slippageTolerance: '5', ...based })).params).toEqual(plain);
    const from = (await stage.data({ slippageTolerance: '5', auctionStartPriceOffsetFrom: 'oracle' })).params;
    expect([from.auctionStartPrice, from.auctionEndPrice]).toEqual(['0', '2102000']);
    const end = (await stage.data({ slippageTolerance: '5', auctionEndPriceOffset: '0.29' })).params;
    expect(end.auctionEndPrice).toBe(String(102_000_000 + 285_600 - 100_000_000)); // 0.29 counts 28
  });

  it('exceeding liquidity is not an error', async () => {
    await stage.serve();
    const { entryPrice, worstPrice, params } = await stage.data({ amount: '5000000000' });
    expect([entryPrice, worstPrice, params.baseAssetAmount]).toEqual(['105600000', '110000000', '5000000000']);
  });

  it('an empty or absent book estimates everything at the oracle', async () => {
    await stage.serve([book({ bids: [], asks: [] })]);
    for (const [marketIndex, price] of [
      ['0', '100000000'],
      ['20', '50000000'],
    ] as const) {
      expect(await stage.data({ marketIndex })).toMatchObject({
        entryPrice: price,
        bestPrice: price,
        worstPrice: price,
        oraclePrice: price,
        markPrice: price,
        priceImpact: 0,
      });
    }
  });

  it('a one-sided book has the oracle as mark and no price for the empty side', async () => {
    await stage.serve([book({ asks: [] })]);
    expect(await stage.data()).toMatchObject({
      entryPrice: '0',
      bestPrice: '9007199254740991',
      markPrice: '100000000',
      priceImpact: 1,
    });
  });

  it('any marketType but spot is perp', async () => {
    await stage.serve();
    expect((await stage.data({ marketType: 'whatever' })).params.marketType).toBe('perp');
    expect((await stage.ask({ marketType: 'SPOT', marketIndex: '0' })).statusCode).toBe(400);
  });
});

describe('/auctionParams versions', () => {
  it('version 1 is the default, and majors start at the mark, others at the best offer', async () => {
    await stage.serve([book(), book({ marketIndex: 20 })]);
    expect((await stage.data({ version: '1' })).params).toEqual((await stage.data()).params);
    expect((await stage.data({ version: 'x' })).params).toEqual((await stage.data()).params);
    expect((await stage.data({ marketIndex: '20' })).params).toMatchObject({ auctionStartPrice: '-100000' });
  });

  it('version 2 without fills derives as version 1 with a wider tolerance', async () => {
    await stage.serve();
    const { params, slippageTolerance } = await stage.data({ version: '2' });
    expect([params.auctionStartPrice, params.auctionDuration]).toEqual(['-1000000', 20]);
    expect(Number(slippageTolerance)).toBeCloseTo(0.02399999976, 12);
  });

  it('version 2 and above weigh the recent fills of a crossed book', async () => {
    const crossed = book({
      bids: [level(100_200_000, 2_000_000_000n)],
      asks: [level(100_100_000, 2_000_000_000n)],
    });
    await stage.serve([crossed]);
    const plain = { oraclePrice: '100000000', markPrice: '100100000' };
    expect(await stage.data({ version: '2' })).toMatchObject(plain);
    await stage.fills(3_250_000n, 1000);
    expect(await stage.data({ version: '1' })).toMatchObject(plain);
    const shifted = { oraclePrice: '100032500', markPrice: '100032500', entryPrice: '100132500' };
    expect(await stage.data({ version: '2' })).toMatchObject({
      ...shifted,
      params: { auctionStartPrice: '0', auctionEndPrice: '68500', oraclePriceOffset: '68500' },
    });
    expect(await stage.data({ version: '3' })).toMatchObject(shifted);
    expect(await stage.data({ version: '2', direction: 'short' })).toMatchObject({ oraclePrice: '100000000' });
  });

  it('version 2 ignores fills older than ten minutes of chain time, at any wall-clock time', async () => {
    await stage.serve([
      book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] }),
    ]);
    await stage.fills(3_250_000n, 600_001);
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice: '100000000' });
    await stage.fills(3_250_000n, 600_000);
    await until(() => stage.fillQuality.recent({ marketType: 'perp', marketIndex: 0 })?.ageMs === 600_000);
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice: '100032500' });
  });

  it('version 2 ignores fills that were not published again for ten minutes', async () => {
    await stage.serve([
      book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] }),
    ]);
    await stage.fills(3_250_000n, 0);
    stage.nowMs += 600_000;
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice: '100032500' });
    stage.nowMs += 1;
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice: '100000000' });
  });

  it.each([
    ['ignores fills that were made more than ten minutes of chain time before its start', 600, '100000000'],
    ['weighs fills that were made just before its start', 599, '100032500'],
  ])('version 2 %s', async (_, aheadS, oraclePrice) => {
    await stage.publishMeans(3_250_000n, 0);
    await stage.finalize(aheadS);
    await stage.serve([
      book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] }),
    ]);
    await until(() => stage.fillQuality.ready);
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice });
  });

  it('version 2 stops to weigh fills when the chain goes on without any', async () => {
    await stage.serve([
      book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] }),
    ]);
    await stage.fills(3_250_000n, 0);
    expect(await stage.data({ version: '2' })).toMatchObject({ oraclePrice: '100032500' });
    await stage.finalize(600);
    await until(async () => (await stage.data({ version: '2' })).oraclePrice === '100000000');
  });

  it('version 3 starts 0.05 % inside the best offer and lasts 5 units of 400 ms, in every market', async () => {
    await stage.serve([book(), book({ marketIndex: 20 })]);
    for (const marketIndex of ['0', '20']) {
      const { params } = await stage.data({ marketIndex, version: '3', slippageTolerance: '1' });
      expect(params).toMatchObject({ auctionStartPrice: '-50000', auctionEndPrice: '1000000', auctionDuration: 5 });
    }
    expect((await stage.data({ version: '3', auctionDuration: '9' })).params.auctionDuration).toBe(9);
  });
});

describe('/auctionParams settings', () => {
  it('tiers, factors and bounds come from the configuration', async () => {
    await stage.serve([book(), book({ marketIndex: 20 })], {
      majorMarkets: '20',
      midMajorMarkets: '',
      dynamicSlippageMultiplierMajor: 2,
      dynamicBaseSlippageNonMajor: 1,
      dynamicSlippageMax: 3.5,
    });
    // Half-way from the mark 99 to 102 is 1.515 %; the spread part is 1.8181818 %.
    expect(Number((await stage.data({ marketIndex: '20' })).slippageTolerance)).toBeCloseTo(0.035, 12);
    const major = await stage.data({ marketIndex: '20', slippageTolerance: '5' });
    expect(major.params.auctionStartPrice).toBe('-1000000');
    expect((await stage.data()).params.auctionStartPrice).toBe('-100000');
    expect(Number((await stage.data()).slippageTolerance)).toBeCloseTo(0.035, 12);
  });

  it('refuses lists without indexes, and a minimum above the maximum', async () => {
    await stage.serve();
    expect(() => auctionSettings(readConfig({}, { majorMarkets: '0,x' }))).toThrow(ConfigError);
    expect(() => auctionSettings(readConfig({}, { dynamicSlippageMin: 2, dynamicSlippageMax: 1 }))).toThrow(
      ConfigError,
    );
  });
});
