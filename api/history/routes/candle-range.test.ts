import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDownload } from '../../../test/support/api/download.ts';
import { HistoryContract } from '../../../test/support/api/history-contract.ts';
import { candleRow, HistoryStage, MINUTE, makeApp, registry } from '../../../test/support/api/history-stage.ts';
import { marketView } from '../../../test/support/api/market-views.ts';
import { until } from '../../../test/support/platform/eventually.ts';
import { DOWNLOADS_AT_ONCE } from '../downloads.ts';
import { MAX_RANGE_CANDLES } from './candle-range.ts';

const RANGE = '/market/SOL-PERP/candles/1/bulk';
const CSV_HEAD =
  '"ts","fillOpen","fillHigh","fillLow","fillClose","oracleOpen","oracleHigh","oracleLow","oracleClose","quoteVolume","baseVolume"';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

/** Five minutes in shuffled order, one with two versions, and candles of other markets, types and resolutions. */
async function storeFive(): Promise<void> {
  await stage.store('candle', [
    ...[3, 0, 4, 1, 2].map((age) => candleRow(MINUTE - age * 60, String(150_000_001 - age))),
    candleRow(MINUTE - 60, '7000000', { version: 2 }),
    candleRow(MINUTE, '1', { market_index: 1 }),
    candleRow(MINUTE, '1', { resolution: '5' }),
    candleRow(MINUTE + 60, '1', { fill_open: null, fill_high: null, fill_low: null, fill_close: null }),
  ]);
}

interface CandleList {
  readonly records: readonly Readonly<Record<string, number>>[];
}

const candlesOf = async (query: string) => (await stage.app.inject(`${RANGE}?${query}`)).json<CandleList>();
const agesOf = ({ records }: CandleList) => records.map(({ ts = 0 }) => (MINUTE - ts) / 60);

describe('/market/{symbol}/candles/{resolution}/bulk', () => {
  beforeEach(() => stage.reset());

  it('answers the candles of the list, oldest first', async () => {
    await storeFive();
    const answer = await stage.app.inject(`${RANGE}?from=${MINUTE - 240}`);
    const list = await stage.list('/market/SOL-PERP/candles/1');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual({ success: true, records: list.records.toReversed() });
    expect(list.records).toHaveLength(5);
    const contract = await HistoryContract.of(stage.app);
    expect(contract.problems(RANGE, { status: 200, body: answer.json() })).toBe('');
  });

  it('leaves out candles whose newest version is withdrawn', async () => {
    await storeFive();
    const gone = { fill_open: null, fill_high: null, fill_low: null, fill_close: null };
    await stage.store('candle', [candleRow(MINUTE - 240, '1', { ...gone, version: 3 })]);
    expect(agesOf(await candlesOf(`from=${MINUTE - 240}`))).toEqual([3, 2, 1, 0]);
  });

  it('treats from as inclusive and to as exclusive; without to it ends now', async () => {
    await storeFive();
    expect(agesOf(await candlesOf(`from=${MINUTE - 180}&to=${MINUTE}`))).toEqual([3, 2, 1]);
    expect(agesOf(await candlesOf(`from=${MINUTE - 179}&to=${MINUTE + 1}`))).toEqual([2, 1, 0]);
    expect(agesOf(await candlesOf(`from=${MINUTE - 60}`))).toEqual([1, 0]);
    expect(agesOf(await candlesOf(`from=${MINUTE - 120}&to=${MINUTE - 119}`))).toEqual([2]);
  });

  it('is a complete body for an empty range', async () => {
    await storeFive();
    const query = 'from=1000000000&to=1000003600';
    expect((await stage.app.inject(`${RANGE}?${query}`)).json()).toEqual({ success: true, records: [] });
    expect((await stage.app.inject(`${RANGE}?${query}&format=csv`)).body).toBe(`${CSV_HEAD}\n`);
    const parquet = await stage.app.inject(`${RANGE}?${query}&format=parquet`);
    expect(await parquetColumns(parquet.rawPayload)).toEqual(CSV_HEAD.replaceAll('"', '').split(','));
  });

  it('writes CSV with exact decimals and a file name', async () => {
    await storeFive();
    const answer = await stage.app.inject(`${RANGE}?from=${MINUTE - 60}&to=${MINUTE + 1}&format=csv`);
    const same = (cell: string) => Array.from({ length: 8 }, () => cell).join(',');
    expect(answer.body).toBe(
      `${CSV_HEAD}\n${MINUTE - 60},${same('7')},225.3,1.500000001\n${MINUTE},${same('150.000001')},225.3,1.500000001\n`,
    );
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename=market-SOL-PERP-candles-1-${MINUTE - 60}-${MINUTE + 1}.csv`,
    });
  });

  it('writes Parquet with the same candles', async () => {
    await storeFive();
    const answer = await stage.app.inject(`${RANGE}?from=${MINUTE - 60}&to=${MINUTE + 1}&format=parquet`);
    expect(answer.headers['content-type']).toBe('application/vnd.apache.parquet');
    expect(await parquetRows(answer.rawPayload)).toEqual([
      [MINUTE - 60, '7', '7', '225.3', '1.500000001'],
      [MINUTE, '150.000001', '150.000001', '225.3', '1.500000001'],
    ]);
  });

  it.each(['csv', 'parquet'])('serves %s of a market with any name, as often as one asks', async (format) => {
    const markets = registry();
    markets.put(marketView({ marketIndex: 7, symbol: '索拉-PERP' }));
    const app = await makeApp(stage.clickhouse, markets);
    const url = `/market/${encodeURIComponent('索拉-PERP')}/candles/1/bulk?from=1&to=9&format=${format}`;
    for (let times = 0; times <= DOWNLOADS_AT_ONCE; times++) {
      const answer = await app.inject(url);
      expect([answer.statusCode, answer.headers['content-disposition']]).toEqual([
        200,
        `attachment; filename=market-__-PERP-candles-1-1-9.${format}`,
      ]);
    }
  });

  it('divides base amounts by the decimals of the market', async () => {
    await stage.store('candle', [candleRow(MINUTE, '1000000', { market_type: 'spot', base_volume: '2500000' })]);
    const answer = await stage.app.inject(`/market/USDT/candles/1/bulk?from=${MINUTE}`);
    expect(answer.json<CandleList>().records[0]?.baseVolume).toBe(2.5);
  });

  it('allows a leap year of minutes and no more', async () => {
    const longest = MAX_RANGE_CANDLES * 60;
    const statusOf = async (path: string) => (await stage.app.inject(path)).statusCode;
    expect(await statusOf(`${RANGE}?from=${MINUTE - longest}&to=${MINUTE}`)).toBe(200);
    expect(await statusOf(`${RANGE}?from=${MINUTE - longest - 1}&to=${MINUTE}`)).toBe(400);
    expect(await statusOf(`/market/SOL-PERP/candles/60/bulk?from=0&to=${MINUTE}`)).toBe(200);
  });

  it.each([
    ['', "querystring must have required property 'from'"],
    ['from=5&to=5', 'from must be before to: from is the oldest bucket, to the end'],
    ['from=9&to=5', 'from must be before to: from is the oldest bucket, to the end'],
    ['from=0', `the range must be at most ${MAX_RANGE_CANDLES * 60} seconds (${MAX_RANGE_CANDLES} buckets)`],
    ['from=x', 'querystring/from must be integer'],
    ['from=1783268433645', 'querystring/from must be <= 100000000000'],
    ['from=5&format=arrow', 'querystring/format must be equal to one of the allowed values'],
  ])('refuses ?%s', async (query, message) => {
    const answer = await stage.app.inject(`${RANGE}?${query}`);
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: 'ValidationError', message }]);
  });

  it('documents its order, and the page list’s contract refers to it', async () => {
    const { paths } = (await stage.app.inject('/openapi.json')).json();
    const list = paths['/market/{symbol}/candles/{resolution}'].get;
    expect(list.description).toContain('`startTs` is the newest bucket and `endTs` the oldest');
    expect(list.description).toContain('/market/{symbol}/candles/{resolution}/bulk');
    const { tags, responses } = paths['/market/{symbol}/candles/{resolution}/bulk'].get;
    expect(tags).toEqual(['Market']);
    expect(Object.keys(responses[200].content)).toEqual([
      'application/json',
      'text/csv',
      'application/vnd.apache.parquet',
    ]);
  });
});

describe('bulk candles over a socket', () => {
  /** About 40 MB as JSON: more than all buffers between test and store. */
  const MANY = 300_000;
  let port: number;

  beforeAll(async () => {
    await stage.app.listen({ host: '127.0.0.1', port: 0 });
    port = (stage.app.server.address() as AddressInfo).port;
    await stage.reset();
    await stage.clickhouse.client.command({
      query: `INSERT INTO ${stage.clickhouse.database}.candle
        (market_type, market_index, resolution, ts, fill_open, fill_high, fill_low, fill_close, oracle_open, oracle_high,
         oracle_low, oracle_close, quote_volume, base_volume, version)
        SELECT 'perp', 0, '1', ${MINUTE} - 60 * number, 1, 1, 1, rand(), 1, 1, 1, rand(), rand64(), rand64(), 2
        FROM numbers(${MANY})`,
    });
  });

  const path = (format: string) => `${RANGE}?from=${MINUTE - 60 * MANY}&to=${MINUTE + 1}&format=${format}`;

  const open = (format: string, headers: Record<string, string> = {}) =>
    openDownload({ port, path: path(format), headers });

  /** Number of running candle queries in the store. */
  async function running(): Promise<number> {
    const answer = await stage.clickhouse.client.query({
      query: `SELECT count() AS busy FROM system.processes WHERE query LIKE '%.candle FINAL%' AND query NOT LIKE '%system.%'`,
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ busy: string }>();
    return Number(row?.busy);
  }

  it('returns every candle of a long range', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${path('csv')}`);
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(lines).toHaveLength(MANY + 1);
    expect([lines[1], lines.at(-1)].map((line = '') => Number(line.split(',', 1)[0]))).toEqual([
      MINUTE - 60 * (MANY - 1),
      MINUTE,
    ]);
  });

  it.each([
    ['json', {}],
    ['json', { 'accept-encoding': 'gzip' }],
    ['csv', {}],
    ['csv', { 'accept-encoding': 'gzip' }],
    ['parquet', {}],
  ])('ends the query and frees its place when the client of %s %o goes away', async (format, headers) => {
    const { download, response } = await open(format, headers);
    expect(response.statusCode).toBe(200);
    download.destroy();
    await until(async () => (await running()) === 0);
    for (let times = 0; times < DOWNLOADS_AT_ONCE; times++) {
      const { download: next, response: found } = await open(format, headers);
      expect(found.statusCode).toBe(200);
      next.destroy();
      await until(async () => (await running()) === 0);
    }
  });

  it('refuses a download above the limit with 503, and answers again after one ends', async () => {
    const downloads = await Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, () => open('json')));
    const refused = await fetch(`http://127.0.0.1:${port}${path('json')}`);
    expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
      503,
      'Too many bulk downloads at once',
    ]);
    for (const { download } of downloads) download.destroy();
    await until(async () => {
      const { download, response } = await open('csv');
      download.destroy();
      return response.statusCode === 200;
    });
  });
});

/** Column names of a Parquet file, read by the engine. */
async function parquetColumns(file: Buffer): Promise<readonly string[]> {
  const { client } = stage.clickhouse;
  const query_params = { hex: file.toString('hex') };
  const query = 'DESCRIBE format(Parquet, unhex({hex:String}))';
  const answer = await client.query({ query, query_params, format: 'JSONEachRow' });
  return (await answer.json<{ name: string }>()).map(({ name }) => name);
}

/** Columns of a Parquet file, read by the engine: time, first and last price, volumes. */
async function parquetRows(file: Buffer): Promise<readonly unknown[]> {
  const { client } = stage.clickhouse;
  const hex = file.toString('hex');
  const columns =
    '"ts", toString("fillOpen"), toString("oracleClose"), toString("quoteVolume"), toString("baseVolume")';
  const answer = await client.query({
    query: `SELECT ${columns} FROM format(Parquet, unhex({hex:String}))`,
    query_params: { hex },
    format: 'JSONCompactEachRow',
  });
  return (await answer.json<readonly string[]>()).map(([ts, ...rest]) => [Number(ts), ...rest]);
}
