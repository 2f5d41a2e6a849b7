// /auctionParams: the error rows, and the answers to any other input.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuctionStage, book, DEFAULT_QUERY } from '../../../test/support/orderbook/auction-stage.ts';

let stage: AuctionStage;

beforeEach(() => {
  stage = new AuctionStage();
});

afterEach(() => stage.stop());

describe('/auctionParams errors', () => {
  it.each(Object.keys(DEFAULT_QUERY))('400 when %s is missing or empty', async (name) => {
    await stage.serve();
    for (const value of [undefined, '']) {
      const answer = await stage.ask({
        [name]: value,
        direction: value === '' && name !== 'direction' ? 'up' : undefined,
      });
      expect([answer.statusCode, answer.body]).toEqual([
        400,
        'Bad Request: marketIndex, marketType, direction, amount, and assetType are required',
      ]);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });

  it('answer a `marketIndex` that is no number with 400 as text', async () => {
    await stage.serve();
    const answer = await stage.ask({ marketIndex: 'abc', direction: 'up' });
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: marketIndex must be a valid number']);
  });

  it.each(['LONG', 'up', ' long'])(
    'answer a `direction` other than `long` and `short` with 400 as text (%s)',
    async (direction) => {
      await stage.serve();
      const answer = await stage.ask({ direction, assetType: 'x' });
      expect([answer.statusCode, answer.body]).toEqual([
        400,
        'Bad Request: direction must be either "long" or "short"',
      ]);
    },
  );

  it.each(['BASE', 'x'])(
    'answer an `assetType` other than `base` and `quote` with 400 as text (%s)',
    async (assetType) => {
      await stage.serve();
      const answer = await stage.ask({ assetType, marketIndex: '99' });
      expect([answer.statusCode, answer.body]).toEqual([
        400,
        'Bad Request: assetType must be either "base" or "quote"',
      ]);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

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
    [
      'a fixed price falls to nothing',
      { isOracleOrder: 'false', auctionStartPriceOffset: '100' },
      'value out of range',
    ],
    ['auctionDuration is above 255', { auctionDuration: '256' }, 'value out of range'],
    ['auctionDuration is negative', { auctionDuration: '-1' }, 'value out of range'],
    ['userOrderId is above 255', { userOrderId: '256' }, 'value out of range'],
    ['userOrderId is negative', { userOrderId: '-7' }, 'value out of range'],
  ])('answer values that give no order with 400 as JSON (%s)', async (_what, query, text) => {
    await stage.serve();
    const answer = await stage.ask(query);
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: `Cannot create valid auction parameters: ${text}` },
    ]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('answer an amount in quote with 400 as JSON while the needed side is empty', async () => {
    await stage.serve([book({ asks: [] })]);
    const answer = await stage.ask({ assetType: 'quote' });
    expect(answer.json()).toEqual({ error: 'Cannot create valid auction parameters: could not fetch prices' });
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

  it('never answers a 5xx, and every order is complete', async () => {
    await stage.serve([
      book(),
      book({ marketIndex: 13, asks: [] }),
      book({ marketIndex: 20, oracle: null, mmOracle: null }),
    ]);
    await stage.fills(-9_999_999_999n, 0);
    let made = 0;
    await fc.assert(
      fc.asyncProperty(request, async (query) => {
        const answer = await stage.ask(query as Record<string, string>);
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
