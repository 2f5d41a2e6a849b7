// /auctionParams: the error rows, every parameter, and the derivation as a client sees it.

import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, ConfigError, readConfig } from '../../../platform/index.ts';
import {
  type BookViewSnapshot,
  encodeMessage,
  type FillQualityCohort,
  marketKey,
  TOPICS,
} from '../../../schemas/index.ts';
import { marketView } from '../../testing/market-views.ts';
import { ORACLE, Stage, snapshot, until } from '../../testing/stage.ts';
import { BookReader } from '../../views/book-reader.ts';
import { FillQualityFollower } from '../../views/fill-quality.ts';
import { orderbookApp } from '../app.ts';
import { auctionSettings } from '../auction-settings.ts';

const NOW_MS = 1_783_268_433_645;
const level = (price: number, dlob: bigint, vamm = 0n) => ({ price, dlob, vamm });
const oracle = { ...ORACLE, price: 100_000_000n };

/** The book of the reference's estimates: mark 99, oracle 100. */
const book = (overrides: Partial<BookViewSnapshot> = {}): BookViewSnapshot =>
  snapshot({
    oracle,
    mmOracle: oracle,
    bids: [level(98_000_000, 0n, 1_000_000_000n), level(97_000_000, 500_000_000n)],
    asks: [
      level(100_000_000, 0n, 400_000_000n),
      level(102_000_000, 0n, 600_000_000n),
      level(110_000_000, 1_000_000_000n),
    ],
    bidOrders: [],
    askOrders: [],
    ...overrides,
  });

let stage: Stage;
let reader: BookReader;
let fillQuality: FillQualityFollower;
let app: FastifyInstance;
/** Wall clock of everything that is served here. */
let nowMs: number;

async function serve(books: readonly BookViewSnapshot[] = [book()], settings: Partial<Config> = {}): Promise<void> {
  await stage.markets([
    marketView(),
    marketView({ marketIndex: 13, symbol: 'MID-PERP' }),
    marketView({ marketIndex: 20, symbol: 'SMALL-PERP', oraclePrice: 50_000_000n }),
    marketView({ marketType: 'spot', marketIndex: 1, symbol: 'SOL', oraclePrice: null }),
  ]);
  await stage.books(...books);
  const context = stage.context(settings);
  reader = new BookReader({ ...context, clock: () => nowMs });
  fillQuality = new FillQualityFollower({ ...context, clock: () => nowMs });
  await Promise.all([reader.start(), fillQuality.start()]);
  if (books.length > 0) await until(() => reader.ready);
  const accounts = { read: async () => [] };
  const auction = auctionSettings(context.config);
  const services = { reader, accounts, slotStallMs: 5000, auction, fillQuality };
  app = await orderbookApp(services, pino({ level: 'silent' }));
}

/** Chain time, far from the wall clock: a replay, or a simulated cluster that runs ahead. */
const CHAIN_MS = NOW_MS - 86_400_000;

/** Means of all cohorts, told `ageMs` of chain time ago: another market's view says what the chain time is now. */
async function fills(buyMicroBps: bigint | null, ageMs: number): Promise<void> {
  const all: FillQualityCohort = {
    cohort: 'all',
    takerBuys: 1,
    takerBuyMicroBps: buyMicroBps,
    takerSells: 0,
    takerSellMicroBps: null,
  };
  const market = { marketType: 'perp', marketIndex: 0 } as const;
  const views = [
    { ...market, updatedAtMs: CHAIN_MS - ageMs, cohorts: [all] },
    { ...market, marketIndex: 13, updatedAtMs: CHAIN_MS, cohorts: [] },
  ];
  await stage.log.append(
    TOPICS.fillQualityViews,
    views.map((view) => ({ key: marketKey(view), value: encodeMessage('FillQualityView', view) })),
  );
  await until(() => fillQuality.recent(market) !== null);
}

const WANTED = { marketIndex: '0', marketType: 'perp', direction: 'long', amount: '1000000000', assetType: 'base' };

const ask = (overrides: Record<string, string | undefined> = {}) => {
  const pairs = Object.entries({ ...WANTED, ...overrides }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return app.inject({ method: 'GET', url: `/auctionParams?${new URLSearchParams(pairs)}` });
};

const data = async (overrides: Record<string, string> = {}) => {
  const answer = await ask(overrides);
  expect([answer.statusCode, answer.body]).toEqual([200, expect.stringMatching(/^{"data":/)]);
  return answer.json().data;
};

beforeEach(() => {
  nowMs = NOW_MS;
  stage = new Stage();
});

afterEach(async () => {
  await app.close();
  await fillQuality.stop();
  await reader.stop();
});

describe('/auctionParams errors', () => {
  it.each(Object.keys(WANTED))('400 when %s is missing or empty', async (name) => {
    await serve();
    for (const value of [undefined, '']) {
      const answer = await ask({ [name]: value, direction: value === '' && name !== 'direction' ? 'up' : undefined });
      expect([answer.statusCode, answer.body]).toEqual([
        400,
        'Bad Request: marketIndex, marketType, direction, amount, and assetType are required',
      ]);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });

  it('`marketIndex` not numeric: 400, plain text', async () => {
    await serve();
    const answer = await ask({ marketIndex: 'abc', direction: 'up' });
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: marketIndex must be a valid number']);
  });

  it.each(['LONG', 'up', ' long'])('`direction` not `long`/`short`: 400, plain text (%s)', async (direction) => {
    await serve();
    const answer = await ask({ direction, assetType: 'x' });
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: direction must be either "long" or "short"']);
  });

  it.each(['BASE', 'x'])('`assetType` not `base`/`quote`: 400, plain text (%s)', async (assetType) => {
    await serve();
    const answer = await ask({ assetType, marketIndex: '99' });
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: assetType must be either "base" or "quote"']);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it.each([
    ['no price is known', { marketType: 'spot', marketIndex: '1' }, 'could not fetch prices'],
    ['the market is unknown', { marketIndex: '99', amount: 'x' }, 'unknown market'],
    ['marketIndex is negative', { marketIndex: '-1' }, 'unknown market'],
    ['amount is no integer', { amount: '1.5' }, 'amounts must be raw integers'],
    ['amount is negative', { amount: '-5' }, 'amounts must be raw integers'],
    ['amount is beyond 64 bits', { amount: '18446744073709551616' }, 'value out of range'],
    ['the extra buffer is no integer', { additionalEndPriceBuffer: '1.5' }, 'amounts must be raw integers'],
    ['a reference price is unknown', { auctionEndPriceOffsetFrom: 'moon' }, 'unknown reference price'],
    ['a price leaves 64 bits', { slippageTolerance: '-1e30' }, 'value out of range'],
    ['an offset leaves every range', { auctionStartPriceOffset: '1e308' }, 'value out of range'],
    ['auctionDuration is above 255', { auctionDuration: '256' }, 'value out of range'],
    ['auctionDuration is negative', { auctionDuration: '-1' }, 'value out of range'],
    ['userOrderId is above 255', { userOrderId: '256' }, 'value out of range'],
    ['userOrderId is negative', { userOrderId: '-7' }, 'value out of range'],
  ])('derivation failure: 400, JSON { error: string } (%s)', async (_what, query, text) => {
    await serve();
    const answer = await ask(query);
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: `Cannot create valid auction parameters: ${text}` },
    ]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('derivation failure: 400, JSON { error: string } (quote cannot be valued: the needed side is empty)', async () => {
    await serve([book({ asks: [] })]);
    const answer = await ask({ assetType: 'quote' });
    expect(answer.json()).toEqual({ error: 'Cannot create valid auction parameters: could not fetch prices' });
  });
});

describe('/auctionParams', () => {
  it('answers the sample of the reference member by member', async () => {
    await serve();
    expect((await ask()).json()).toEqual({
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
    await serve();
    const options = { isOracleOrder: 'false', auctionStartPriceOffsetFrom: 'bestOffer', slippageTolerance: '5' };
    expect((await data({ ...options, auctionStartPriceOffset: '-0.1' })).params).toMatchObject({
      orderType: 'market',
      price: '105000000',
      auctionStartPrice: '99900000',
      auctionEndPrice: '102102000',
      oraclePriceOffset: null,
    });
    const unbounded = await data({ isOracleOrder: '0', allowInfSlippage: '1' });
    expect(unbounded.params).not.toHaveProperty('price');
    expect([unbounded.params.auctionEndPrice, unbounded.slippageTolerance]).toEqual(['102102000', '0.15']);
  });

  it('forceUpToSlippage takes the end to the full tolerance', async () => {
    await serve();
    const options = { slippageTolerance: '5', auctionStartPriceOffsetFrom: 'bestOffer' };
    expect((await data({ ...options, forceUpToSlippage: 'true' })).params.auctionEndPrice).toBe('5000000');
    expect((await data({ ...options, forceUpToSlippage: 'TRUE' })).params.auctionEndPrice).toBe('2102000');
  });

  it('additionalEndPriceBuffer is raw: one unit is 0.000001', async () => {
    await serve();
    const options = { direction: 'short', slippageTolerance: '1' };
    expect((await data({ ...options, additionalEndPriceBuffer: '100000' })).params).toMatchObject({
      auctionStartPrice: '-1000000',
      auctionEndPrice: '-2190000',
    });
  });

  it('userOrderId is stamped, reduceOnly and auctionDuration (units of 400 ms, to 255) are taken over', async () => {
    await serve();
    const most = { userOrderId: '255', auctionDuration: '255.9' };
    expect((await data(most)).params).toMatchObject({ userOrderId: 255, auctionDuration: 255 });
    const options = { userOrderId: '42', reduceOnly: 'true', auctionDuration: '7' };
    expect((await data(options)).params).toMatchObject({ userOrderId: 42, reduceOnly: true, auctionDuration: 7 });
    const empty = { userOrderId: '', reduceOnly: 'yes', auctionDuration: 'x' };
    expect((await data(empty)).params).toMatchObject({ userOrderId: 0, reduceOnly: false, auctionDuration: 20 });
  });

  it('maxLeverageSelected replaces the base amount by maxLeverageOrderSize', async () => {
    await serve();
    const size = { maxLeverageOrderSize: '18446744073709551615' };
    const selected = await data({ ...size, maxLeverageSelected: 'true' });
    expect([selected.params.baseAssetAmount, selected.entryPrice]).toEqual(['18446744073709551615', '101200000']);
    expect((await data(size)).params.baseAssetAmount).toBe('1000000000');
  });

  it('assetType=quote is turned into base at the entry price', async () => {
    await serve();
    const { params, entryPrice } = await data({ assetType: 'quote', amount: '50000000' });
    expect([entryPrice, params.baseAssetAmount]).toEqual(['100393700', '498039219']);
  });

  it('slippageTolerance is percent when asked for and a fraction in the answer; `dynamic` and no number are dynamic', async () => {
    await serve();
    expect((await data({ slippageTolerance: '0.5' })).slippageTolerance).toBe('0.005');
    expect((await data({ slippageTolerance: '0.000001' })).slippageTolerance).toBe('0.00000001');
    expect((await data({ slippageTolerance: '500' })).slippageTolerance).toBe('0.99');
    for (const text of ['dynamic', '', 'abc']) {
      expect((await data({ slippageTolerance: text })).slippageTolerance).toBe('0.0199999998');
    }
  });

  it('marketBased and absent mean the same, explicit values win one by one', async () => {
    await serve();
    const plain = (await data({ slippageTolerance: '5' })).params;
    const based = { auctionStartPriceOffset: 'marketBased', auctionStartPriceOffsetFrom: 'marketBased' };
    expect((await data({ slippageTolerance: '5', ...based })).params).toEqual(plain);
    const from = (await data({ slippageTolerance: '5', auctionStartPriceOffsetFrom: 'oracle' })).params;
    expect([from.auctionStartPrice, from.auctionEndPrice]).toEqual(['0', '2102000']);
    const end = (await data({ slippageTolerance: '5', auctionEndPriceOffset: '0.29' })).params;
    expect(end.auctionEndPrice).toBe(String(102_000_000 + 285_600 - 100_000_000)); // 0.29 counts 28
  });

  it('exceeding liquidity is not an error', async () => {
    await serve();
    const { entryPrice, worstPrice, params } = await data({ amount: '5000000000' });
    expect([entryPrice, worstPrice, params.baseAssetAmount]).toEqual(['105600000', '110000000', '5000000000']);
  });

  it('an empty or absent book estimates everything at the oracle', async () => {
    await serve([book({ bids: [], asks: [] })]);
    for (const [marketIndex, price] of [
      ['0', '100000000'],
      ['20', '50000000'],
    ] as const) {
      expect(await data({ marketIndex })).toMatchObject({
        entryPrice: price,
        bestPrice: price,
        worstPrice: price,
        oraclePrice: price,
        markPrice: price,
        priceImpact: 0,
      });
    }
  });

  it('a one-sided book has the oracle for a mark and no price for what is missing', async () => {
    await serve([book({ asks: [] })]);
    expect(await data()).toMatchObject({
      entryPrice: '0',
      bestPrice: '9007199254740991',
      markPrice: '100000000',
      priceImpact: 1,
    });
  });

  it('any marketType but spot is perp', async () => {
    await serve();
    expect((await data({ marketType: 'whatever' })).params.marketType).toBe('perp');
    expect((await ask({ marketType: 'SPOT', marketIndex: '0' })).statusCode).toBe(400);
  });
});

describe('/auctionParams versions', () => {
  it('version 1 is the default, and majors start at the mark, others at the best offer', async () => {
    await serve([book(), book({ marketIndex: 20 })]);
    expect((await data({ version: '1' })).params).toEqual((await data()).params);
    expect((await data({ version: 'x' })).params).toEqual((await data()).params);
    expect((await data({ marketIndex: '20' })).params).toMatchObject({ auctionStartPrice: '-100000' });
  });

  it('version 2 without fills derives as version 1 with a wider tolerance', async () => {
    await serve();
    const { params, slippageTolerance } = await data({ version: '2' });
    expect([params.auctionStartPrice, params.auctionDuration]).toEqual(['-1000000', 20]);
    expect(Number(slippageTolerance)).toBeCloseTo(0.02399999976, 12);
  });

  it('version 2 and above weigh the recent fills of a crossed book', async () => {
    const crossed = book({
      bids: [level(100_200_000, 2_000_000_000n)],
      asks: [level(100_100_000, 2_000_000_000n)],
    });
    await serve([crossed]);
    const plain = { oraclePrice: '100000000', markPrice: '100100000' };
    expect(await data({ version: '2' })).toMatchObject(plain);
    await fills(3_250_000n, 1000);
    expect(await data({ version: '1' })).toMatchObject(plain);
    const shifted = { oraclePrice: '100032500', markPrice: '100032500', entryPrice: '100132500' };
    expect(await data({ version: '2' })).toMatchObject({
      ...shifted,
      params: { auctionStartPrice: '0', auctionEndPrice: '68500', oraclePriceOffset: '68500' },
    });
    expect(await data({ version: '3' })).toMatchObject(shifted);
    expect(await data({ version: '2', direction: 'short' })).toMatchObject({ oraclePrice: '100000000' });
  });

  it('version 2 leaves out fills of more than ten minutes of chain time ago, wherever the wall clock stands', async () => {
    await serve([book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] })]);
    await fills(3_250_000n, 600_001);
    expect(await data({ version: '2' })).toMatchObject({ oraclePrice: '100000000' });
    await fills(3_250_000n, 600_000);
    await until(() => fillQuality.recent({ marketType: 'perp', marketIndex: 0 })?.ageMs === 600_000);
    expect(await data({ version: '2' })).toMatchObject({ oraclePrice: '100032500' });
  });

  it('version 2 leaves out fills that nobody told anew for ten minutes', async () => {
    await serve([book({ bids: [level(100_200_000, 2_000_000_000n)], asks: [level(100_100_000, 2_000_000_000n)] })]);
    await fills(3_250_000n, 0);
    nowMs += 600_000;
    expect(await data({ version: '2' })).toMatchObject({ oraclePrice: '100032500' });
    nowMs += 1;
    expect(await data({ version: '2' })).toMatchObject({ oraclePrice: '100000000' });
  });

  it('version 3 starts 0.05 % inside the best offer and lasts 5 units of 400 ms, in every market', async () => {
    await serve([book(), book({ marketIndex: 20 })]);
    for (const marketIndex of ['0', '20']) {
      const { params } = await data({ marketIndex, version: '3', slippageTolerance: '1' });
      expect(params).toMatchObject({ auctionStartPrice: '-50000', auctionEndPrice: '1000000', auctionDuration: 5 });
    }
    expect((await data({ version: '3', auctionDuration: '9' })).params.auctionDuration).toBe(9);
  });
});

describe('/auctionParams settings', () => {
  it('tiers, factors and bounds come from the configuration', async () => {
    await serve([book(), book({ marketIndex: 20 })], {
      majorMarkets: '20',
      midMajorMarkets: '',
      dynamicSlippageMultiplierMajor: 2,
      dynamicBaseSlippageNonMajor: 1,
      dynamicSlippageMax: 3.5,
    });
    // Half-way from the mark 99 to 102 is 1.515 %; the spread part is 1.8181818 %.
    expect(Number((await data({ marketIndex: '20' })).slippageTolerance)).toBeCloseTo(0.035, 12);
    const major = await data({ marketIndex: '20', slippageTolerance: '5' });
    expect(major.params.auctionStartPrice).toBe('-1000000');
    expect((await data()).params.auctionStartPrice).toBe('-100000');
    expect(Number((await data()).slippageTolerance)).toBeCloseTo(0.035, 12);
  });

  it('refuses lists that are no indexes and bounds the wrong way round', async () => {
    await serve();
    expect(() => auctionSettings(readConfig({}, { majorMarkets: '0,x' }))).toThrow(ConfigError);
    expect(() => auctionSettings(readConfig({}, { dynamicSlippageMin: 2, dynamicSlippageMax: 1 }))).toThrow(
      ConfigError,
    );
  });
});

describe('any input', () => {
  const number = fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '-0',
      '1',
      '18446744073709551615',
      '1e308',
      '-1e308',
      'Infinity',
      'NaN',
      'dynamic',
      '99.9',
    ),
    fc.double().map(String),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const raw = fc.oneof({ weight: 8, arbitrary: fc.nat().map(String) }, { weight: 1, arbitrary: number });
  const reference = fc.constantFrom('oracle', 'mark', 'best', 'bestOffer', 'entry', 'worst', 'marketBased', '', 'x');
  const byte = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 255 }).map(String) },
    { weight: 1, arbitrary: number },
  );
  const bool = fc.constantFrom('true', 'false', '1', '');
  const request = fc.record(
    {
      marketIndex: fc.constantFrom('0', '1', '13', '20', '20'),
      marketType: fc.constantFrom('perp', 'spot', 'x'),
      direction: fc.constantFrom('long', 'short'),
      assetType: fc.constantFrom('base', 'quote'),
      amount: raw,
      reduceOnly: bool,
      slippageTolerance: number,
      allowInfSlippage: bool,
      forceUpToSlippage: bool,
      isOracleOrder: bool,
      auctionDuration: byte,
      auctionStartPriceOffset: number,
      auctionEndPriceOffset: number,
      auctionStartPriceOffsetFrom: reference,
      auctionEndPriceOffsetFrom: reference,
      additionalEndPriceBuffer: raw,
      maxLeverageSelected: bool,
      maxLeverageOrderSize: raw,
      userOrderId: byte,
      version: fc.oneof(fc.constantFrom('1', '2', '3'), number),
    },
    { requiredKeys: [] },
  );

  it('never makes a 5xx, and every order it makes is whole', async () => {
    await serve([book(), book({ marketIndex: 13, asks: [] }), book({ marketIndex: 20, oracle: null, mmOracle: null })]);
    await fills(-9_999_999_999n, 0);
    let made = 0;
    await fc.assert(
      fc.asyncProperty(request, async (query) => {
        const answer = await ask(query as Record<string, string>);
        expect([200, 400]).toContain(answer.statusCode);
        if (answer.statusCode !== 200) return;
        made += 1;
        const { params } = answer.json().data;
        for (const text of [params.auctionStartPrice, params.auctionEndPrice, params.baseAssetAmount]) {
          expect(text).toMatch(/^-?\d+$/);
        }
        for (const value of [params.auctionDuration, params.userOrderId]) {
          expect(Number.isInteger(value) && value >= 0 && value <= 255).toBe(true);
        }
        expect(answer.json().data.slippageTolerance).toMatch(/^-?\d+(\.\d+)?$/);
      }),
      { numRuns: 1000 },
    );
    expect(made).toBeGreaterThan(100);
  });
});
