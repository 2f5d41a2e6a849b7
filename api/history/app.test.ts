import Ajv from 'ajv';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClickHouse, makeClient } from '../../platform/index.ts';
import { Contract } from '../../test/support/api/contracts.ts';
import {
  deposit,
  fundingPayment,
  insuranceFund,
  insuranceFundStake,
  liquidation,
  orderAction,
  orderFill,
  placement,
  settlement,
  swap,
  USER_ID,
} from '../../test/support/api/history-rows.ts';
import {
  fill,
  fundingRate,
  HistoryStage,
  makeApp,
  marketSummary,
  NOW,
  registry,
} from '../../test/support/api/history-stage.ts';
import { ODD_NUMBERS } from '../../test/support/api/odd-numbers.ts';
import { requestSchemas } from '../../test/support/api/request-schemas.ts';
import { MarketRegistry } from '../views/registry.ts';

// The tests request every path, possibly on a busy machine.
const logger = pino({ level: 'silent' });
let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

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

  it.each([`/market/${'x'.repeat(2_000)}/trades`, '/market/%zz/trades'])(
    'refuses a path no name can be read from: %.20s',
    async (url) => {
      const answer = await stage.app.inject(url);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { error: 'ValidationError', message: expect.stringMatching(/^.{1,200}$/) },
      ]);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
    },
  );

  it('refuses more than 64 KiB before the body as JSON, for any origin', async () => {
    const one = await makeApp(stage.clickhouse, new MarketRegistry());
    const url = await one.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${url}/vaults?${'x'.repeat(66_000)}`);
    expect([answer.status, answer.headers.get('access-control-allow-origin'), await answer.json()]).toEqual([
      431,
      '*',
      { error: 'ValidationError', message: 'Request line and headers must be at most 64 KiB' },
    ]);
    await one.close();
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

  it('publishes no detail of an internal error', async () => {
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
  interface Document {
    readonly openapi: string;
    readonly paths: Record<string, { get: Operation }>;
  }
  const contract = async () => (await stage.app.inject('/openapi.json')).json<Document>();

  it('lists every path with its validated parameters', async () => {
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

  it('has the published tags alone, every `page` as a token, and defaults well below their maxima', async () => {
    const { paths, tags } = (await stage.app.inject('/openapi.json')).json<{
      paths: Record<string, Record<string, { tags: string[]; parameters: Operation['parameters'] }>>;
      tags: { name: string }[];
    }>();
    const names = ['Market', 'User', 'Authority', 'Stats', 'AMM', 'Notifications', 'WebSocket'];
    expect(tags.map(({ name }) => name)).toEqual(names);
    expect(paths).toMatchObject({ '/ws': { get: { tags: ['WebSocket'] } }, '/openapi.json': { get: {} } });
    for (const [path, operations] of Object.entries(paths)) {
      for (const operation of Object.values(operations)) {
        expect([path, operation.tags.length, names]).toEqual([path, 1, expect.arrayContaining(operation.tags)]);
        for (const { name, schema } of operation.parameters) {
          const { type, maximum, default: fallback } = schema;
          if (name === 'page') expect([path, type]).toEqual([path, 'string']);
          if (name !== 'limit' || fallback === undefined) continue;
          expect([path, Number(fallback) * 2]).toEqual([path, expect.toSatisfy((twice) => twice <= Number(maximum))]);
        }
      }
    }
  });

  it('names the path of the WebSocket, which a plain request is refused', async () => {
    const { statusCode, headers, body } = await stage.app.inject('/ws');
    expect([statusCode, headers.upgrade, JSON.parse(body)]).toEqual([
      426,
      'websocket',
      { error: 'UpgradeRequired', message: 'This path is a WebSocket' },
    ]);
  });

  it('describes the actual answers', async () => {
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

/** Members of a fill that reduced the taker's position. */
const CLOSING = { taker_existing_quote_entry_amount: '150000000' };

/** Valid values by parameter. */
const VALID: Readonly<Record<string, string>> = {
  resolution: '5',
  accountId: USER_ID,
  marketFilter: 'perp',
  orderId: '5',
  year: '2026',
  month: '6',
  day: '15',
};
const SPOT_PATH = /^\/market\/\{symbol\}\/(deposits|rewards|swaps|insuranceFund)/;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A valid request with one parameter replaced. */
function requestOf(path: string, replaced: Readonly<Record<string, string>> = {}): string {
  const symbol = SPOT_PATH.test(path) ? 'USDT' : 'SOL-PERP';
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => replaced[name] ?? VALID[name] ?? symbol);
  const range = path.endsWith('/bulk') ? { from: String(NOW - 60) } : {};
  const query = Object.entries({ ...(path.includes('{') ? {} : { symbol }), ...range, ...replaced });
  return `${url}?${new URLSearchParams(query.filter(([name]) => !path.includes(`{${name}}`)))}`;
}

/** Values just outside the bounds of a schema. */
function outside({ type, minimum, maximum, enum: values }: Readonly<Record<string, unknown>>): readonly string[] {
  return [
    ...(type === 'integer' ? ['1.5', 'x'] : []),
    ...(type === 'boolean' ? ['maybe'] : []),
    ...(typeof minimum === 'number' ? [String(minimum - 1)] : []),
    ...(typeof maximum === 'number' ? [String(maximum + 1)] : []),
    ...(values === undefined ? [] : ['neither']),
  ];
}

describe('request schemas', () => {
  it('compile, every one of them: a start does not try', async () => {
    const schemas = await requestSchemas(() => makeApp(stage.clickhouse));
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.filter(({ fault }) => fault !== null)).toEqual([]);
  });
});

describe('wallet headers in the contract', () => {
  it('are security schemes, required by notifications and optional for exports', async () => {
    const { paths, components } = (await stage.app.inject('/openapi.json')).json<{
      readonly paths: Record<string, Record<string, { security?: object[]; parameters: { in: string }[] }>>;
      readonly components: { readonly securitySchemes: Record<string, { in: string; name: string }> };
    }>();
    const headers = Object.values(components.securitySchemes).map((scheme) => [scheme.in, scheme.name]);
    expect(headers).toEqual(['x-wallet-address', 'x-signature', 'x-signed-message'].map((name) => ['header', name]));
    const all = { walletAddress: [], walletSignature: [], walletMessage: [] };
    const security: Record<string, object[]> = {};
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        expect([path, operation.parameters.filter((one) => one.in === 'header')]).toEqual([path, []]);
        if (operation.security) security[`${method} ${path}`] = operation.security;
      }
    }
    expect(security).toEqual({
      'get /notifications': [all],
      'patch /notifications/{notificationId}': [all],
      'get /notifications/preferences': [all],
      'put /notifications/preferences': [all],
      'get /notifications/devices': [all],
      'post /notifications/devices': [all],
      'delete /notifications/devices/{deviceId}': [all],
      'get /authority/{authorityId}/exports': [all, {}],
      'post /authority/{authorityId}/exports': [all, {}],
    });
  });
});

describe('numeric parameters', () => {
  it('refuse every malformed number on every path', async () => {
    const { paths } = (await stage.app.inject('/openapi.json')).json<{
      paths: Record<string, { get?: { parameters?: Parameter[] } }>;
    }>();
    const numeric = Object.entries(paths).flatMap(([path, { get }]) =>
      (get?.parameters ?? [])
        .filter(({ schema }) => schema.type === 'integer')
        .map(({ name }, _, all) => ({
          path,
          name,
          others: Object.fromEntries(
            [...all, ...(get?.parameters ?? []).filter((one) => one.in === 'query')]
              .filter(({ required }) => required)
              .map((one) => [one.name, VALID[one.name] ?? '1']),
          ),
        })),
    );
    expect(new Set(numeric.map(({ name }) => name))).toEqual(
      expect.objectContaining(new Set(['limit', 'startTs', 'endTs', 'pageIndex', 'year', 'days', 'samples'])),
    );
    for (const { path, name, others } of numeric) {
      for (const value of ODD_NUMBERS) {
        // An empty segment is another path.
        if (value === '' && path.includes(`{${name}}`)) continue;
        const url = requestOf(path, { ...others, [name]: value });
        const { statusCode, body } = await stage.app.inject(url);
        // A hexadecimal number is an integer and may be within the bounds. This service stores no exports.
        if (value === '0x10')
          expect([url, statusCode]).toEqual([url, expect.toSatisfy((status) => status < 500 || status === 503)]);
        else {
          const refusal = { error: 'ValidationError', message: expect.stringContaining(`/${name} must be `) };
          expect([url, statusCode, JSON.parse(body)]).toEqual([url, 400, refusal]);
        }
      }
    }
  });
});

describe('paths of markets and accounts', () => {
  const listed = async () => {
    const { paths } = (await stage.app.inject('/openapi.json')).json<{
      paths: Record<string, { get?: { tags: string[]; parameters: Parameter[] } }>;
    }>();
    return Object.entries(paths).flatMap(([path, { get }]) =>
      get && ['Market', 'User'].some((tag) => get.tags.includes(tag)) ? [{ path, parameters: get.parameters }] : [],
    );
  };

  it('match the published list, and answer as documented', async () => {
    await stage.store('order', [placement(5)]);
    await stage.store('order_action', [orderAction(5, 'place'), orderFill(5, 1, 1, CLOSING), orderAction(5, 'cancel')]);
    await stage.store('funding_rate', [fundingRate()]);
    await stage.store('deposit', [deposit(), deposit({ explanation: 'reward', user_token_amount_after: null })]);
    await stage.store('swap', [swap()]);
    await stage.store('funding_payment', [fundingPayment()]);
    await stage.store('settle_pnl', [settlement()]);
    await stage.store('liquidation', [liquidation()]);
    await stage.store('insurance_fund', [insuranceFund()]);
    await stage.store('insurance_fund_stake', [insuranceFundStake()]);
    const document = (await stage.app.inject('/openapi.json')).json();
    const contract = new Contract(document);
    const paths = await listed();
    const lists = (prefix: string, names: readonly string[], dated: string) =>
      names.flatMap((name) => [`${prefix}/${name}`, `${prefix}/${name}${dated}`]);
    expect(paths.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        ...lists(
          '/market/{symbol}',
          ['trades', 'fundingRates', 'deposits', 'rewards', 'swaps', 'insuranceFund', 'insuranceFundStake'],
          '/{year}/{month}/{day}',
        ),
        '/market/{symbol}/candles/{resolution}',
        '/trades',
        '/fundingRates',
        ...lists(
          '/user/{accountId}',
          ['trades', 'fundingPayments', 'liquidations', 'settlePnl', 'swaps', 'deposits', 'rewards'],
          '/{year}/{month}',
        ),
        '/user/{accountId}/trades/{symbol}',
        '/user/{accountId}/positions',
        '/user/{accountId}/orders/{marketFilter}',
        '/user/{accountId}/orders/{marketFilter}/{symbol}',
        '/user/{accountId}/orders/{marketFilter}/id/{orderId}',
        '/user/{accountId}/orders/id/{orderId}',
        '/user/{accountId}/orders/{orderId}/actions',
      ]),
    );
    for (const { path } of paths) {
      const answer = await stage.app.inject(requestOf(path));
      const body = answer.json<{ records?: object[] }>();
      const place = ['paths', path, 'get', 'responses', '200', 'content', 'application/json', 'schema'];
      const validate = contract.validator(...place);
      expect([path, answer.statusCode, validate(body), validate.errors]).toEqual([path, 200, true, null]);
      const mayBeEmpty = path.includes('candles') || path.includes('snapshots');
      expect([path, mayBeEmpty || body.records?.length !== 0]).toEqual([path, true]);
    }
  });

  it('refuse every parameter outside its documented bounds', async () => {
    let refused = 0;
    for (const { path, parameters } of await listed()) {
      for (const { name, schema } of parameters) {
        for (const value of outside(schema)) {
          const url = requestOf(path, { [name]: value });
          const answer = await stage.app.inject(url);
          expect([url, answer.statusCode, answer.json()]).toEqual([
            url,
            400,
            { error: 'ValidationError', message: expect.any(String) },
          ]);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(300);
  });

  it('answer 503 while their parts are not built, never an empty list', async () => {
    const { client, database } = stage.clickhouse;
    await client.command({ query: `TRUNCATE TABLE ${database}.projection` });
    const app = await makeApp(stage.clickhouse);
    for (const { path } of await listed()) {
      const answer = await app.inject(requestOf(path));
      expect([path, answer.statusCode, answer.json()]).toEqual([
        path,
        503,
        { error: 'ServiceUnavailable', message: 'This history is not built yet' },
      ]);
    }
    await stage.markBuilt();
  });
});
