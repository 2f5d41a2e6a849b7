import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fundingRate, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

describe('/market/{symbol}/fundingRates', () => {
  it('answers raw integers of any size and pages by cursor', async () => {
    await stage.store('funding_rate', [fundingRate(), fundingRate(), fundingRate({ market_index: 1 })]);
    const one = await stage.list('/market/SOL-PERP/fundingRates?limit=1');
    expect(one.records[0]).toEqual({
      ts: NOW - 3600,
      txSig: expect.any(String),
      txSigIndex: 0,
      txIndex: null,
      slot: 2001,
      recordId: '1',
      marketIndex: 0,
      symbol: 'SOL-PERP',
      fundingRate: '11857755',
      fundingRateLong: '11857755',
      fundingRateShort: '11857755',
      cumulativeFundingRateLong: '170141183460469231731687303715884105727',
      cumulativeFundingRateShort: '-5',
      oraclePriceTwap: '150000000',
      markPriceTwap: '150000001',
      baseAssetAmountWithAmm: '-1',
    });
    const two = await stage.list(`/market/SOL-PERP/fundingRates?limit=1&page=${one.meta.nextPage}`);
    expect([two.records.map(({ recordId }) => recordId), two.meta.nextPage]).toEqual([['2'], null]);
    expect((await stage.app.inject('/market/SOL-PERP/fundingRates?limit=751')).statusCode).toBe(400);
  });

  it('is for perp markets', async () => {
    const answer = await stage.app.inject('/market/SOL/fundingRates');
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'Symbol SOL is not a perp market']);
  });
});
