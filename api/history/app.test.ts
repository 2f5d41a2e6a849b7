import Ajv from 'ajv';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClickHouse, makeClient } from '../../platform/index.ts';
import { fill, fundingRate, HistoryStage, makeApp, marketSummary, registry } from '../testing/history-stage.ts';
import { MarketRegistry } from '../views/registry.ts';

const logger = pino({ level: 'silent' });
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
}, 60_000);

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

describe('failures', () => {
  it('answers an unknown path with 404', async () => {
    const answer = await stage.app.inject('/nowhere?x=1');
    expect([answer.statusCode, answer.json()]).toEqual([
      404,
      { error: 'Not Found', message: 'Route GET:/nowhere not found' },
    ]);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  it('answers 503 when no market is known, and when the tables are not there', async () => {
    const empty = await makeApp(stage.clickhouse, new MarketRegistry());
    const bare = await makeApp({ client: stage.clickhouse.client, database: 'never_made' });
    for (const [one, url] of [
      [empty, '/market/SOL-PERP/trades'],
      [empty, '/stats/markets'],
      [bare, '/market/SOL-PERP/trades'],
      [bare, '/market/SOL-PERP/trades/2026/6/14?format=csv'],
    ] as const) {
      const answer = await one.inject(url);
      expect([answer.statusCode, answer.json()]).toEqual([
        503,
        { error: 'ServiceUnavailable', message: 'This history is not built yet' },
      ]);
    }
  });

  it('answers 503 when ClickHouse is away', async () => {
    const client = makeClient({ url: 'http://127.0.0.1:1', user: 'default', password: '', logger });
    const answer = await (await makeApp({ client, database: 'x' })).inject('/market/SOL-PERP/trades');
    expect([answer.statusCode, answer.json().error]).toEqual([503, 'ServiceUnavailable']);
    await client.close();
  });

  it('shows no detail of a fault', async () => {
    const broken = { client: {} as ClickHouse['client'], database: 'x' };
    const markets = registry();
    Object.defineProperty(markets, 'byName', {
      value: () => {
        throw new TypeError('secret detail');
      },
    });
    const answer = await (await makeApp(broken, markets)).inject('/market/SOL-PERP/trades');
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { error: 'InternalError', message: 'Internal Server Error' },
    ]);
  });
});

describe('/openapi.json', () => {
  interface Operation {
    readonly parameters: readonly { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
    readonly responses: Record<string, { content: { 'application/json': { schema: object } } }>;
  }
  interface Contract {
    readonly openapi: string;
    readonly paths: Record<string, { get: Operation }>;
  }
  const contract = async () => (await stage.app.inject('/openapi.json')).json<Contract>();

  it('lists every path with the parameters that are validated', async () => {
    const { openapi, paths } = await contract();
    expect(openapi).toBe('3.1.0');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/market/{symbol}/candles/{resolution}',
        '/market/{symbol}/fundingRates/{year}/{month}/{day}',
        '/market/{symbol}/trades',
        '/stats/markets',
      ]),
    );
    expect(paths['/market/{symbol}/trades']?.get.parameters).toEqual([
      expect.objectContaining({ name: 'symbol', in: 'path', required: true }),
      expect.objectContaining({ name: 'page', in: 'query', required: false }),
      expect.objectContaining({
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
      }),
      expect.objectContaining({ name: 'startTs', in: 'query', required: false }),
      expect.objectContaining({ name: 'endTs', in: 'query', required: false }),
    ]);
  });

  it('describes what is really answered', async () => {
    await stage.store('order_action', [fill(), fill({ base_asset_amount_filled: null })]);
    await stage.store('funding_rate', [fundingRate()]);
    stage.summaries.put(marketSummary());
    const { paths } = await contract();
    const ajv = new Ajv.default({ strict: false });
    for (const [path, url] of [
      ['/market/{symbol}/trades', '/market/SOL-PERP/trades'],
      ['/market/{symbol}/trades/{year}/{month}/{day}', '/market/SOL-PERP/trades/2026/6/15'],
      ['/market/{symbol}/fundingRates', '/market/SOL-PERP/fundingRates'],
      ['/market/{symbol}/candles/{resolution}', '/market/SOL-PERP/candles/D'],
      ['/stats/markets', '/stats/markets'],
    ] as const) {
      const schema = paths[path]?.get.responses['200']?.content['application/json'].schema;
      const body = (await stage.app.inject(url)).json();
      const validate = ajv.compile(schema ?? { not: {} });
      expect([url, validate(body), validate.errors]).toEqual([url, true, null]);
    }
    const failure = paths['/market/{symbol}/trades']?.get.responses['400']?.content['application/json'].schema;
    expect(ajv.validate(failure ?? {}, (await stage.app.inject('/market/x/trades')).json())).toBe(true);
  });
});
