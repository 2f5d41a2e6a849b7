import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChainFinality } from '../../../schemas/index.ts';
import { DAY, FINAL, fill, HistoryStage, type Listed, makeApp, NOW } from '../../../test/support/api/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

describe('/market/{symbol}/trades', () => {
  it('answers raw integers as text, with the implied price', async () => {
    await stage.store('order_action', [fill()]);
    const { success, records, meta } = await stage.list('/market/sol-perp/trades');
    expect([success, meta]).toEqual([true, { nextPage: null, finalBefore: FINAL.ts }]);
    expect(records[0]).toMatchObject({
      ts: NOW - 100,
      txSigIndex: 2,
      slot: 1001,
      action: 'fill',
      actionExplanation: 'orderFilledWithMatch',
      symbol: 'SOL-PERP',
      marketIndex: 0,
      marketType: 'perp',
      marketFilter: 'perp',
      fillRecordId: '1',
      baseAssetAmountFilled: '1500000000',
      quoteAssetAmountFilled: '225300000',
      takerFee: '78855',
      makerFee: '-5632',
      makerRebate: '-5632',
      takerOrderId: 3,
      takerOrderDirection: 'long',
      takerOrderBaseAssetAmount: '18446744073709551615',
      maker: null,
      makerOrderId: null,
      referrerReward: null,
      oraclePrice: '150180000',
      price: '150200000',
    });
    expect(records[0]?.txSig).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
    expect(records[0]?.taker).toMatch(/^[1-9A-HJ-NP-Za-km-z]{40,45}$/);
  });

  it('shows the maker fee as rebate, negative when paid to the maker, in JSON and CSV', async () => {
    const fees = ['-5632', '0', '17', null];
    await stage.store(
      'order_action',
      fees.map((maker_fee) => fill({ maker_fee })),
    );
    const { records } = await stage.list('/market/SOL-PERP/trades');
    expect(records.map(({ makerRebate }) => makerRebate)).toEqual(['0', '17', '0', '-5632']);
    const csv = await stage.app.inject('/market/SOL-PERP/trades/2026/6/15?format=csv');
    const [head = '', ...lines] = csv.body.trimEnd().split('\n');
    const column = head.split(',').indexOf('"makerRebate"');
    expect(lines.map((line) => line.split(',')[column])).toEqual(['"0"', '"17"', '"0"', '"-5632"']);
  });

  it('shows only fills of this market in the last 31 days, each once', async () => {
    const twice = fill();
    await stage.store('order_action', [
      twice,
      fill({ action: 'place', fill_record_id: null }),
      fill({ market_index: 1 }),
      fill({ market_type: 'spot' }),
      fill({ ts: NOW - 31 * DAY }),
      fill({ ts: NOW - 31 * DAY - 1 }),
    ]);
    await stage.store('order_action', [twice]);
    const { records } = await stage.list('/market/SOL-PERP/trades');
    expect(records.map(({ fillRecordId }) => fillRecordId)).toEqual(['1', '5']);
  });

  it('pages by cursor: fills that arrive between pages shift nothing', async () => {
    const ts = NOW - 50;
    await stage.store(
      'order_action',
      Array.from({ length: 25 }, () => fill({ ts, slot: '7' })),
    );
    const seen: unknown[] = [];
    let page: string | null = '';
    while (page !== null) {
      const next: Listed = await stage.list(`/market/SOL-PERP/trades?limit=10${page === '' ? '' : `&page=${page}`}`);
      seen.push(...next.records.map(({ fillRecordId }) => Number(fillRecordId)));
      page = next.meta.nextPage;
      await stage.store('order_action', [fill({ ts: NOW })]);
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index));
  });

  it('orders by time, slot and fill id, newest first, 20 by default', async () => {
    await stage.store('order_action', [
      fill({ ts: NOW - 5, slot: '9' }),
      fill({ ts: NOW - 5, slot: '9' }),
      fill({ ts: NOW - 5, slot: '8' }),
      fill({ ts: NOW - 4, slot: '1' }),
      ...Array.from({ length: 30 }, () => fill({ ts: NOW - 90 })),
    ]);
    const { records, meta } = await stage.list('/market/SOL-PERP/trades');
    expect(records.slice(0, 4).map(({ fillRecordId }) => fillRecordId)).toEqual(['4', '2', '1', '3']);
    expect(records).toHaveLength(20);
    expect(meta.nextPage).toEqual(expect.any(String));
  });

  it.each([['limit=0'], ['limit=51'], ['limit=1.5'], ['limit=abc'], ['limit='], ['page=nonsense'], ['page=']])(
    'refuses %s',
    async (query) => {
      const answer = await stage.app.inject(`/market/SOL-PERP/trades?${query}`);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ error: 'ValidationError', message: expect.any(String) });
    },
  );

  it('refuses the cursor of another market', async () => {
    await stage.store('order_action', [fill(), fill()]);
    const { meta } = await stage.list('/market/SOL-PERP/trades?limit=1');
    const answer = await stage.app.inject(`/market/BTC-PERP/trades?page=${meta.nextPage}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });

  it('names an unknown symbol', async () => {
    const answer = await stage.app.inject('/market/NOPE-PERP/trades');
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'ValidationError', message: 'Unknown symbol: NOPE-PERP' },
    ]);
  });
});

describe('/market/{symbol}/trades/{year}/{month}/{day}', () => {
  const first = Date.UTC(2026, 5, 14) / 1000;

  it('says whether the chain has finalized the day, in JSON and CSV', async () => {
    const path = '/market/SOL-PERP/trades/2026/6/14';
    const answersAt = async (finality: ChainFinality | null) => {
      const app = await makeApp(stage.clickhouse, undefined, { finality: () => finality });
      const { meta } = (await app.inject(path)).json<{ meta: { isFinal: boolean } }>();
      const { headers } = await app.inject(`${path}?format=csv`);
      await app.close();
      return [meta.isFinal, headers['x-final']];
    };
    expect(await answersAt(null)).toEqual([false, 'false']);
    expect(await answersAt({ slot: 9, ts: first + DAY - 1 })).toEqual([false, 'false']);
    expect(await answersAt({ slot: 9, ts: first + DAY })).toEqual([true, 'true']);
  });

  it('leaves out what the chain can still take back', async () => {
    const path = '/market/SOL-PERP/trades/2026/6/14';
    await stage.store('order_action', [fill({ ts: first + 10 }), fill({ ts: first + 20 })]);
    const app = await makeApp(stage.clickhouse, undefined, { finality: () => ({ slot: 9, ts: first + 20 }) });
    const { records, meta } = (await app.inject(path)).json<{ records: { ts: number }[]; meta: object }>();
    const csv = (await app.inject(`${path}?format=csv`)).body;
    await app.close();
    expect(records.map(({ ts }) => ts)).toEqual([first + 10]);
    expect(meta).toMatchObject({ totalRecords: 1, isFinal: false });
    expect(csv.trimEnd().split('\n')).toHaveLength(2);
  });

  it('answers one day in UTC, with its totals', async () => {
    await stage.store('order_action', [
      fill({ ts: first - 1 }),
      fill({ ts: first }),
      fill({ ts: first + DAY - 1 }),
      fill({ ts: first + DAY }),
    ]);
    const { records, meta } = await stage.list('/market/SOL-PERP/trades/2026/6/14');
    expect(records.map(({ fillRecordId }) => fillRecordId)).toEqual(['3', '2']);
    expect(meta).toEqual({ records: 2, totalRecords: 2, totalPages: 1, currentPage: 1, nextPage: null, isFinal: true });
    expect((await stage.list('/market/SOL-PERP/trades/2026/06/15')).meta.includesLatest).toBe(true);
    expect((await stage.list('/market/SOL-PERP/trades/2024/2/29')).meta).toEqual({
      records: 0,
      totalRecords: 0,
      totalPages: 0,
      currentPage: 1,
      nextPage: null,
      isFinal: true,
    });
  });

  it('pages through a long day', async () => {
    await stage.store(
      'order_action',
      Array.from({ length: 1500 }, () => fill({ ts: first + 5 })),
    );
    const one = await stage.list('/market/SOL-PERP/trades/2026/6/14');
    expect(one.meta).toMatchObject({ records: 1000, totalRecords: 1500, totalPages: 2, currentPage: 1 });
    const two = await stage.list(`/market/SOL-PERP/trades/2026/6/14?page=${one.meta.nextPage}`);
    expect(two.meta).toMatchObject({ records: 500, currentPage: 2, nextPage: null });
    expect(new Set([...one.records, ...two.records].map(({ fillRecordId }) => fillRecordId)).size).toBe(1500);
  });

  it('answers the whole day as CSV, with a header even without rows', async () => {
    await stage.store(
      'order_action',
      Array.from({ length: 1200 }, () => fill({ ts: first + 5 })),
    );
    const answer = await stage.app.inject('/market/SOL-PERP/trades/2026/6/14?format=csv');
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toBe('attachment; filename=market-SOL-PERP-trades-2026-6-14.csv');
    const lines = answer.body.trimEnd().split('\n');
    expect(lines).toHaveLength(1201);
    expect(lines[0]?.startsWith('"ts","txSig","txSigIndex","slot","fillerReward","baseAssetAmountFilled"')).toBe(true);
    const empty = await stage.app.inject('/market/SOL-PERP/trades/2026/6/13?format=csv');
    expect(empty.body).toBe(`${lines[0]}\n`);
  });

  it.each([
    ['2021/1/1'],
    ['2026/13/1'],
    ['2026/2/30'],
    ['2026/0/1'],
    ['2026/1/32'],
    ['2026/1/x'],
    ['2026/1/1?format=xml'],
  ])('refuses %s', async (day) => {
    const answer = await stage.app.inject(`/market/SOL-PERP/trades/${day}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});
