import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HistoryStage, MINUTE, NOW } from '../../../test/support/api/history-stage.ts';
import { marketView } from '../../../test/support/api/market-views.ts';
import { BuiltParts } from '../built-parts.ts';
import { candleLoader } from '../socket/loaders.ts';
import { HistoryStore } from '../store.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

/** A stored minute candle of SOL-PERP that closed at `close` whole units, with the oracle one above. */
function stored(ts: number, close: number, members: Record<string, unknown> = {}): Record<string, unknown> {
  const price = (value: number) => String(value * 1e6);
  return {
    market_type: 'perp',
    market_index: 0,
    resolution: '1',
    ts,
    slot: 1,
    fill_open: price(close - 1),
    fill_high: price(close + 2),
    fill_low: price(close - 2),
    fill_close: price(close),
    oracle_open: price(close),
    oracle_high: price(close + 3),
    oracle_low: price(close - 1),
    oracle_close: price(close + 1),
    quote_volume: '225300000',
    base_volume: '1500000000',
    trades: 1,
    last_trade_ts: null,
    last_fill_record_id: null,
    version: 1,
    ...members,
  };
}

describe('/market/{symbol}/candles/{resolution}', () => {
  it('answers numbers in human units, newest first, without meta', async () => {
    await stage.store('candle', [stored(MINUTE - 60, 10), stored(MINUTE, 11.000001, { quote_volume: '300000' })]);
    expect(await stage.list('/market/sol-perp/candles/1')).toEqual({
      success: true,
      records: [
        expect.objectContaining({ ts: MINUTE, fillClose: 11.000001, quoteVolume: 0.3 }),
        {
          ts: MINUTE - 60,
          fillOpen: 9,
          fillHigh: 12,
          fillLow: 8,
          fillClose: 10,
          oracleOpen: 10,
          oracleHigh: 13,
          oracleLow: 9,
          oracleClose: 11,
          quoteVolume: 225.3,
          baseVolume: 1.5,
        },
      ],
    });
  });

  it('divides base amounts by the decimals of the market', async () => {
    await stage.store('candle', [stored(MINUTE, 1, { market_type: 'spot', base_volume: '2500000' })]);
    const { records } = await stage.list('/market/USDT/candles/1');
    expect(records[0]?.baseVolume).toBe(2.5);
  });

  it('shows the newest version of each candle, for any arrival order', async () => {
    await stage.store('candle', [stored(MINUTE, 12, { version: 3 }), stored(MINUTE - 60, 5)]);
    await stage.store('candle', [stored(MINUTE, 11, { version: 2 })]);
    const { records } = await stage.list('/market/SOL-PERP/candles/1');
    expect(records.map(({ fillClose }) => fillClose)).toEqual([12, 5]);
  });

  it('loses nothing where one candle has many versions', async () => {
    const versions = Array.from({ length: 100 }, (_, index) => stored(MINUTE, index + 1, { version: index + 1 }));
    await stage.store('candle', versions);
    await stage.store('candle', [stored(MINUTE - 60, 5)]);
    const { records } = await stage.list('/market/SOL-PERP/candles/1?limit=2');
    expect(records.map(({ fillClose }) => fillClose)).toEqual([100, 5]);
  });

  it('keeps markets, types and resolutions apart', async () => {
    await stage.store('candle', [
      stored(MINUTE, 1),
      stored(MINUTE, 2, { market_index: 1 }),
      stored(MINUTE, 3, { market_type: 'spot' }),
      ...['5', '15', '60', '240', 'D', 'W', 'M'].map((resolution, index) => stored(MINUTE, 4 + index, { resolution })),
    ]);
    const close = async (path: string) => (await stage.list(`/market/${path}`)).records.map((one) => one.fillClose);
    expect(await close('BTC-PERP/candles/1')).toEqual([2]);
    expect(await close('USDT/candles/1')).toEqual([3]);
    for (const [index, resolution] of ['5', '15', '60', '240', 'D', 'W', 'M'].entries()) {
      expect(await close(`SOL-PERP/candles/${resolution}`)).toEqual([4 + index]);
    }
  });

  it('honours limit and both bounds of any age, with startTs the newer one', async () => {
    const year = 365 * 86_400;
    const start = MINUTE - year;
    await stage.store(
      'candle',
      Array.from({ length: 1_100 }, (_, index) => stored(start - index * 60, 10)),
    );
    const minutes = async (query: string) =>
      (await stage.list(`/market/SOL-PERP/candles/1?${query}`)).records.map(({ ts }) => (start - Number(ts)) / 60);
    expect(await minutes('')).toHaveLength(100);
    expect(await minutes('limit=1000')).toHaveLength(1_000);
    expect(await minutes('limit=2')).toEqual([0, 1]);
    expect(await minutes(`limit=2&startTs=${start - 1}`)).toEqual([1, 2]);
    expect(await minutes(`startTs=${start - 60}&endTs=${start - 180}`)).toEqual([1, 2, 3]);
    expect(await minutes(`startTs=${start - 60}&endTs=${start - 179}`)).toEqual([1, 2]);
    expect(await minutes(`endTs=${start - 60}`)).toEqual([0, 1]);
    expect(await minutes(`startTs=${start - 1_100 * 60}`)).toEqual([]);
  });

  it('finds the newest candles where buckets are missing or ahead of the clock', async () => {
    const ages = [-120, 0, 60, 86_400, 86_460, 40 * 86_400];
    await stage.store(
      'candle',
      ages.map((age) => stored(MINUTE - age, 10)),
    );
    for (let limit = 1; limit <= ages.length; limit++) {
      const { records } = await stage.list(`/market/SOL-PERP/candles/1?limit=${limit}`);
      expect(records.map(({ ts }) => MINUTE - Number(ts))).toEqual(ages.slice(0, limit));
    }
  });

  it('leaves out candles whose newest version is withdrawn', async () => {
    const gone = { fill_open: null, fill_high: null, fill_low: null, fill_close: null };
    const withdrawn = [2, 3].map((age) => stored(MINUTE - age * 60, 7, { ...gone, version: 2 }));
    await stage.store('candle', [...[0, 1, 2, 3].map((age) => stored(MINUTE - age * 60, 7)), ...withdrawn]);
    const ages = async (query: string) =>
      (await stage.list(`/market/SOL-PERP/candles/1?${query}`)).records.map(({ ts }) => (MINUTE - Number(ts)) / 60);
    expect(await ages('')).toEqual([0, 1]);
    expect(await ages('limit=3')).toEqual([0, 1]);
    expect(await ages(`endTs=${MINUTE - 180}`)).toEqual([0, 1]);
    expect(await ages(`startTs=${MINUTE - 120}`)).toEqual([]);
  });

  it('gives the socket no candle where the newest one is withdrawn', async () => {
    const store = new HistoryStore(stage.clickhouse.client, stage.clickhouse.database);
    const load = candleLoader(store, new BuiltParts(store));
    const market = marketView();
    const newest = () => load({ channelType: 'candle', channel: 'candle:SOL-PERP:1', market, resolution: '1' });
    await stage.store('candle', [stored(MINUTE, 7)]);
    expect(await newest()).toMatchObject({ ts: MINUTE, fillClose: 7_000_000n });
    await stage.store('candle', [stored(MINUTE, 7, { fill_close: null, version: 2 })]);
    expect(await newest()).toBeNull();
  });

  it('has none for a market without fills, even with a known oracle price', async () => {
    const unknown = { fill_open: null, fill_high: null, fill_low: null, fill_close: null };
    await stage.store('candle', [stored(MINUTE, 10, { market_index: 1, ...unknown })]);
    expect(await stage.list('/market/BTC-PERP/candles/1')).toEqual({ success: true, records: [] });
  });

  it.each([
    ['/candles/7'],
    ['/candles/1m'],
    ['/candles/1?limit=0'],
    ['/candles/1?limit=1001'],
    ['/candles/1?startTs=1783268433645'],
    [`/candles/1?startTs=${NOW}&endTs=${NOW}`],
    ['/candles/1?startTs=5&endTs=9'],
  ])('refuses %s', async (tail) => {
    const answer = await stage.app.inject(`/market/SOL-PERP${tail}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'ValidationError']);
  });

  it('names the bound that must be newer', async () => {
    const answer = await stage.app.inject('/market/SOL-PERP/candles/1?startTs=5&endTs=9');
    expect(answer.json().message).toBe('Start timestamp must be after end timestamp');
  });
});
