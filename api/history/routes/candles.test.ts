import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillAt, HistoryStage, MINUTE, NOW } from '../../testing/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
}, 60_000);

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

describe('/market/{symbol}/candles/{resolution}', () => {
  it('carries closes into opens, fills quiet minutes flat and adds volumes, newest first', async () => {
    await stage.store('order_action', [
      fillAt(MINUTE - 180, 10, 2),
      fillAt(MINUTE - 175, 12),
      fillAt(MINUTE - 170, 9),
      fillAt(MINUTE - 60, 11, 3),
      fillAt(MINUTE - 30, 500, 1, { action_explanation: 'liquidation' }),
      fillAt(MINUTE - 30, 600, 1, { action_explanation: 'transferPerpPosition' }),
    ]);
    const { success, records } = await stage.list('/market/SOL-PERP/candles/1');
    expect(success).toBe(true);
    expect(records).toEqual([
      candle(MINUTE, [11, 11, 11, 11], 0, 0),
      candle(MINUTE - 60, [9, 11, 9, 11], 33, 3),
      candle(MINUTE - 120, [9, 9, 9, 9], 0, 0),
      candle(MINUTE - 180, [10, 12, 9, 9], 41, 4),
    ]);
  });

  it('takes the close by fill id, so that a late fill moves extremes and volumes only', async () => {
    const late = fillAt(MINUTE - 60, 20);
    await stage.store('order_action', [fillAt(MINUTE - 60, 10), fillAt(MINUTE - 60, 11)]);
    await stage.store('order_action', [{ ...late, ts: MINUTE - 59 }]);
    const { records } = await stage.list(`/market/SOL-PERP/candles/1?startTs=${MINUTE - 1}`);
    expect(records).toEqual([candle(MINUTE - 60, [20, 20, 10, 11], 41, 3)]);
  });

  it('honours limit and both bounds, newest bound first', async () => {
    await stage.store('order_action', [fillAt(MINUTE - 6000, 10)]);
    const starts = async (query: string) =>
      (await stage.list(`/market/SOL-PERP/candles/1?${query}`)).records.map(({ ts }) => (MINUTE - Number(ts)) / 60);
    expect(await starts('limit=2')).toEqual([0, 1]);
    expect(await starts(`limit=2&startTs=${MINUTE - 60 + 59}`)).toEqual([1, 2]);
    expect(await starts(`startTs=${MINUTE - 60}&endTs=${MINUTE - 180}`)).toEqual([1, 2, 3]);
    expect(await starts(`startTs=${MINUTE - 60}&endTs=${MINUTE - 179}`)).toEqual([1, 2]);
    expect(await starts('limit=1000')).toHaveLength(101);
    expect(await starts(`startTs=${MINUTE - 7000}`)).toEqual([]);
  });

  it('carries the close over the edge of the range', async () => {
    await stage.store('order_action', [fillAt(MINUTE - 6000, 10), fillAt(MINUTE - 5000, 13)]);
    const { records } = await stage.list('/market/SOL-PERP/candles/1?limit=1');
    expect(records).toEqual([candle(MINUTE, [13, 13, 13, 13], 0, 0)]);
  });

  it.each([
    ['5', MINUTE],
    ['15', MINUTE],
    ['60', MINUTE],
    ['240', MINUTE],
    ['D', MINUTE - 12 * 3600],
    ['W', Date.UTC(2026, 5, 15) / 1000],
    ['M', Date.UTC(2026, 5, 1) / 1000],
  ])('buckets resolution %s', async (resolution, start) => {
    await stage.store('order_action', [fillAt(NOW - 1, 10), fillAt(start - 1, 8)]);
    const { records } = await stage.list(`/market/SOL-PERP/candles/${resolution}?limit=2`);
    expect(records[0]).toMatchObject({ ts: start, fillOpen: 8, fillClose: 10, baseVolume: 1 });
    expect(records[1]).toMatchObject({ fillOpen: 8, fillClose: 8, baseVolume: 1 });
  });

  it('has none for a market that never traded', async () => {
    expect(await stage.list('/market/BTC-PERP/candles/D')).toEqual({ success: true, records: [] });
  });

  it.each([
    ['/candles/7'],
    ['/candles/1?limit=1001'],
    ['/candles/1?startTs=1783268433645'],
    [`/candles/1?startTs=${NOW}&endTs=${NOW}`],
    ['/candles/1?startTs=5&endTs=9'],
  ])('refuses %s', async (tail) => {
    const answer = await stage.app.inject(`/market/SOL-PERP${tail}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });
});

function candle(ts: number, [open = 0, high = 0, low = 0, close = 0]: number[], quote: number, base: number) {
  return {
    ts,
    fillOpen: open,
    fillHigh: high,
    fillLow: low,
    fillClose: close,
    oracleOpen: open + 1,
    oracleHigh: high + 1,
    oracleLow: low + 1,
    oracleClose: close + 1,
    quoteVolume: quote,
    baseVolume: base,
  };
}
