import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY, fill, fundingRate, HistoryStage, NOW } from '../../../test/support/api/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

describe('/trades', () => {
  it('answers the rows of the market list by offset, newest first, each once', async () => {
    const fills = Array.from({ length: 5 }, () => fill());
    await stage.store('order_action', [...fills, fill({ market_index: 1 }), fill({ ts: NOW - 32 * DAY })]);
    await stage.store('order_action', fills.slice(0, 3));
    const ids = async (query: string) => {
      const { records, meta } = await stage.list(`/trades?symbol=sol-perp&${query}`);
      return [records.map(({ fillRecordId }) => Number(fillRecordId)), meta.nextPage];
    };
    expect(await ids('limit=2')).toEqual([[5, 4], 1]);
    expect(await ids('limit=2&pageIndex=1')).toEqual([[3, 2], 2]);
    expect(await ids('limit=2&pageIndex=2')).toEqual([[1], null]);
    expect(await ids('limit=2&pageIndex=3')).toEqual([[], null]);
    const [legacy, market] = [
      await stage.list('/trades?marketName=SOL-PERP'),
      await stage.list('/market/SOL-PERP/trades'),
    ];
    expect(legacy.records).toEqual(market.records);
  });

  it('gives 100 rows by default and up to 1000', async () => {
    await stage.store(
      'order_action',
      Array.from({ length: 1_001 }, () => fill()),
    );
    expect((await stage.list('/trades?symbol=SOL-PERP')).records).toHaveLength(100);
    expect((await stage.list('/trades?symbol=SOL-PERP&limit=1000')).records).toHaveLength(1_000);
    expect((await stage.list('/trades?symbol=SOL-PERP&limit=1000&pageIndex=1')).records).toHaveLength(1);
  });

  it.each([
    [''],
    ['symbol=NOPE'],
    ['symbol='],
    ['symbol=SOL-PERP&limit=0'],
    ['symbol=SOL-PERP&limit=1001'],
    ['symbol=SOL-PERP&limit=ten'],
    ['symbol=SOL-PERP&pageIndex=-1'],
    ['symbol=SOL-PERP&pageIndex=1.5'],
  ])('refuses "%s"', async (query) => {
    const answer = await stage.app.inject(`/trades?${query}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});

describe('/fundingRates', () => {
  it('answers the last 30 days, oldest first', async () => {
    const [a, b] = [fundingRate(), fundingRate()];
    await stage.store('funding_rate', [
      a,
      b,
      fundingRate({ ts: NOW - 30 * DAY - 1 }),
      fundingRate({ market_index: 1 }),
    ]);
    await stage.store('funding_rate', [a]);
    const answer = await stage.app.inject('/fundingRates?symbol=SOL-PERP');
    const body = answer.json<{ fundingRates: Record<string, unknown>[] }>();
    expect(Object.keys(body)).toEqual(['fundingRates']);
    expect(body.fundingRates.map(({ recordId }) => recordId)).toEqual(['2', '1']);
    expect(body.fundingRates[0]).toMatchObject({ fundingRate: '11857755', oraclePriceTwap: '150000000' });
  });

  it('gives the newest rows for a limit, at most 750', async () => {
    await stage.store(
      'funding_rate',
      Array.from({ length: 760 }, (_, index) => fundingRate({ ts: NOW - index })),
    );
    const ids = async (query: string) =>
      (await stage.app.inject(`/fundingRates?marketName=sol-perp${query}`))
        .json<{ fundingRates: { recordId: string }[] }>()
        .fundingRates.map(({ recordId }) => Number(recordId));
    expect(await ids('&limit=2')).toEqual([2, 1]);
    expect(await ids('')).toHaveLength(750);
  });

  it.each([[''], ['symbol=SOL'], ['symbol=NOPE'], ['symbol=SOL-PERP&limit=751'], ['symbol=SOL-PERP&limit=0']])(
    'refuses "%s"',
    async (query) => {
      const answer = await stage.app.inject(`/fundingRates?${query}`);
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
    },
  );
});
