// The server against its served contract: routes, statuses, media types, texts and bodies, in both directions.

import fc from 'fast-check';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PnlRanking } from '../../schemas/index.ts';
import { Contract } from '../../test/support/api/contracts.ts';
import { FEES } from '../../test/support/api/fee-levels.ts';
import { ODD_NUMBERS } from '../../test/support/api/odd-numbers.ts';
import { diff, MAKER_A, MAKER_B, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { ORDERBOOK_ERRORS } from '../http/errors.ts';
import { BookReader } from '../views/book-reader.ts';
import { QualityFollower } from '../views/quality.ts';
import { SlotHistory } from '../views/slot-history.ts';
import { orderbookApp } from './app.ts';
import type { Feeds } from './feeds.ts';
import { oracleGuard } from './routes/oracle-lazer.ts';
import type { OrderbookServices } from './services.ts';

interface Body {
  readonly schema: { readonly anyOf?: readonly object[]; readonly $ref?: string };
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: { readonly minimum?: number; readonly maximum?: number };
}
interface Operation {
  readonly parameters: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Body>> }>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly securitySchemes: Readonly<Record<string, { readonly name: string }>> };
}

const SECRET = 'keep-this';
const WANTED = 'marketIndex=0&marketType=perp&direction=long&amount=1000000000&assetType=base';
const RANKING: PnlRanking = {
  marketType: 'perp',
  marketIndex: 0,
  slot: 5,
  gainers: [{ user: MAKER_A, pnl: 1_520_331_201n }],
  losers: [{ user: MAKER_B, pnl: -880_100_000n }],
};

/** Together these requests cause every documented answer of a server with books, except `/startup` before the first slot. */
const REQUESTS = [
  '/l2?marketName=SOL-PERP',
  '/l2?marketName=BTC-PERP',
  '/l2?marketName=SOL',
  '/l2?marketName=SOL-PERP&includeIndicative=true&depth=1',
  ...['/l3?marketName=SOL-PERP', '/l3?marketName=BTC-PERP', '/l3?marketName=SOL-PERP&slot=488'],
  '/l3?marketName=SOL-PERP&cause=true',
  ...['/l2', '/l3'].flatMap((path) =>
    ['final', 'processed', 'confirmed'].map((name) => `${path}?marketName=SOL-PERP&commitment=${name}`),
  ),
  ...['/l2', '/l3'].flatMap((path) =>
    ['x', '999999', '1', '488', '488&includeIndicative=TRUE'].map((slot) => `${path}?marketName=SOL-PERP&slot=${slot}`),
  ),
  ...['/l2', '/l3', '/topMakers'].flatMap((path) => [
    path,
    `${path}?marketName=NOPE`,
    `${path}?marketIndex=0&marketType=prediction`,
    `${path}?marketIndex=77&marketType=perp`,
  ]),
  '/guarantees',
  '/quality',
  '/quality?marketName=SOL-PERP',
  '/quality?marketName=NOPE',
  '/quality?marketIndex=0',
  '/quality?marketIndex=0&marketType=prediction',
  '/quality?marketIndex=77&marketType=perp',
  '/topMakers?marketName=SOL-PERP',
  '/topMakers?marketName=SOL-PERP&side=bid&limit=x',
  '/topMakers?marketName=SOL-PERP&side=bid',
  '/topMakers?marketName=SOL-PERP&side=bid&includeAccounts=true',
  ...['/batchL2', '/batchL2Cache'].flatMap((path) => [
    path,
    `${path}?marketName=SOL-PERP,BTC-PERP,SOL`,
    `${path}?marketName=SOL-PERP,BTC-PERP&depth=1`,
    `${path}?marketName=${'SOL-PERP,'.repeat(1001)}`,
    `${path}?marketName=NOPE`,
    `${path}?depth=1`,
    `${path}?marketIndex=0&marketType=prediction`,
    `${path}?marketIndex=77&marketType=perp`,
  ]),
  '/priorityFees?marketType=perp&marketIndex=0',
  '/priorityFees',
  '/batchPriorityFees',
  '/batchPriorityFees?marketType=perp,spot,spot&marketIndex=0,9,x',
  '/batchPriorityFees?marketIndex=0',
  '/batchPriorityFees?marketType=perp&marketIndex=0,1',
  `/batchPriorityFees?marketIndex=${'0,'.repeat(1001)}`,
  '/unsettledPnlUsers?marketIndex=0',
  '/unsettledPnlUsers?marketIndex=7',
  '/unsettledPnlUsers',
  '/oracleLazer?feedIds=6,7',
  '/oracleLazer?feedIds=6,404',
  '/oracleLazer?feedIds=404',
  '/oracleLazer?feedIds=x',
  '/oracleLazer',
  `/auctionParams?${WANTED}`,
  `/auctionParams?${WANTED}&isOracleOrder=false&reduceOnly=1&userOrderId=7&version=3`,
  '/auctionParams',
  `/auctionParams?${WANTED.replace('marketIndex=0', 'marketIndex=x')}`,
  `/auctionParams?${WANTED.replace('long', 'up')}`,
  `/auctionParams?${WANTED.replace('=base', '=both')}`,
  `/auctionParams?${WANTED.replace('marketIndex=0', 'marketIndex=77')}`,
  `/auctionParams?${WANTED.replace('1000000000', '1.5')}`,
  `/auctionParams?${WANTED.replace('1000000000', '99999999999999999999')}`,
  `/auctionParams?${WANTED}&auctionEndPriceOffsetFrom=nowhere`,
  `/auctionParams?${WANTED.replace('marketIndex=0&marketType=perp', 'marketIndex=1&marketType=spot')}`,
  ...['/health', '/', '/startup', '/openapi.json', '/asyncapi.json'],
];

let stage: Stage;
let reader: BookReader;
let quality: QualityFollower;
let app: FastifyInstance;
let broken: FastifyInstance;
let document: Document;
let contract: Contract;
let nowMs = 1_783_268_433_645;

const feeds: Feeds = {
  fees: { get: (key: string) => (key === 'perp-0' ? FEES : null) },
  rankings: { get: (key: string) => (key === 'perp-0' ? RANKING : null) },
  ready: true,
  oracle: {
    guard: oracleGuard({ secret: SECRET, domain: '' }),
    latest: async (ids) => ({
      feeds: ids
        .filter((id) => id !== 404)
        .map((priceFeedId) => (priceFeedId === 6 ? { priceFeedId, price: '81', exponent: -8 } : { priceFeedId })),
      solana: ids.includes(7) ? 'b9011a82' : null,
    }),
  },
};

/** Every access to it throws. */
const faulty = new Proxy(
  {},
  {
    get: () => {
      throw new Error('secret detail');
    },
  },
) as never;

beforeAll(async () => {
  stage = new Stage();
  await stage.markets();
  const context = stage.context();
  reader = new BookReader({ ...context, clock: () => nowMs });
  quality = new QualityFollower(context);
  await Promise.all([reader.start(), quality.start()]);
  const accounts = { read: async (keys: readonly string[]) => keys.map((_, at) => (at === 0 ? 'AAAA' : null)) };
  const slotHistory = new SlotHistory(stage.log, reader);
  const services: OrderbookServices = { reader, accounts, slotStallMs: 5000, quality, feeds, slotHistory };
  const logger = pino({ level: 'silent' });
  app = await orderbookApp(services, logger);
  broken = await orderbookApp({ reader: faulty, accounts, slotStallMs: 5000, feeds: faulty }, logger);
  document = (await app.inject('/openapi.json')).json<Document>();
  contract = new Contract(document);
});

afterAll(async () => {
  await app.close();
  await broken.close();
  await quality.stop();
  await reader.stop();
});

const HEADERS = { authorization: SECRET };
const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';
/** Answers so far, as `path status type`, plus ` text` where texts differ. */
const seen = new Set<string>();

/** Checks an answer against the contract and records the documented part. Throws for an undocumented answer. */
function check(url: string, answer: LightMyRequestResponse): void {
  const path = pathOf(url);
  const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
  const place = ['paths', path, 'get', 'responses', String(answer.statusCode), 'content', type];
  const body = document.paths[path]?.get.responses[answer.statusCode]?.content?.[type];
  if (!body) throw new Error(`${place.join(' ')} is not documented: ${url}: ${answer.body}`);
  const value: unknown = type.startsWith('text/') ? answer.body : answer.json();
  const validate = contract.validator(...place, 'schema');
  if (!validate(value)) throw new Error(`${url}: ${JSON.stringify(validate.errors)}: ${answer.body.slice(0, 500)}`);
  const name = `${path} ${answer.statusCode} ${type}`;
  seen.add(name);
  for (const at of body.schema.anyOf?.keys() ?? []) {
    if (contract.validator(...place, 'schema', 'anyOf', String(at))(value)) seen.add(`${name} ${at}`);
  }
}

/** Every answer that the contract documents. */
function promised(): string[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    Object.entries(get.responses).flatMap(([status, { content }]) =>
      Object.entries(content ?? {}).flatMap(([type, { schema }]) => {
        const name = `${path} ${status} ${type}`;
        return [name, ...[...(schema.anyOf?.keys() ?? [])].map((at) => `${name} ${at}`)];
      }),
    ),
  );
}

const INDENT = 4;

/** Reads the printed route tree. Each line continues the path of its parent line. */
function registeredRoutes(tree: string): string[] {
  const above: string[] = [];
  const routes: string[] = [];
  for (const line of tree.split('\n')) {
    const found = /^([│ ]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line);
    if (!found) continue;
    const [, indent = '', segment = '', methods] = found;
    const depth = indent.length / INDENT;
    const path = `${above[depth - 1] ?? ''}${segment}`;
    above.splice(depth, above.length, path);
    for (const method of methods?.split(', ') ?? []) routes.push(`${method} ${path}`);
  }
  return routes;
}

describe('/openapi.json', () => {
  it('lists every registered route and no other', () => {
    const registered = registeredRoutes(app.printRoutes({ commonPrefix: false }));
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // The description covers these for all paths: HEAD for each GET, and preflights.
    const expected = [...described, ...described.map((route) => route.replace('GET', 'HEAD')), 'OPTIONS *'];
    // The router keeps paths in lower case, because it accepts any.
    const lower = expected.map((route) => route.replace(/\/.*/, (path) => path.toLowerCase()));
    expect(registered.sort()).toEqual(lower.sort());
    expect(document.openapi).toBe('3.1.0');
  });

  it('describes every parameter, each once', () => {
    for (const [path, { get }] of Object.entries(document.paths)) {
      const named = get.parameters.map(({ name }) => name);
      expect([path, new Set(named).size]).toEqual([path, named.length]);
      expect([path, get.parameters.filter(({ description }) => !description)]).toEqual([path, []]);
    }
  });

  it('names operations, each once', () => {
    const names = Object.values(document.paths).map(({ get }) => get.operationId);
    expect(names).toEqual(expect.arrayContaining(['getL2', 'getRoot', 'getOpenapiJson']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('documents 304 and the entity tag exactly on the routes that send one', async () => {
    const headers = { ...HEADERS, 'if-none-match': '*' };
    for (const url of REQUESTS) {
      const { parameters, responses } = document.paths[pathOf(url)]?.get ?? { parameters: [], responses: {} };
      const { statusCode } = await app.inject({ url, headers });
      const isDocumented = parameters.some(({ name }) => name === 'If-None-Match') && '304' in responses;
      if (statusCode === 304) expect([url, isDocumented]).toEqual([url, true]);
      if (statusCode === 200) expect([url, isDocumented]).toEqual([url, false]);
    }
  });

  it('documents only bounds that the server enforces', async () => {
    for (const [path, { get }] of Object.entries(document.paths)) {
      for (const { name, schema } of get.parameters) {
        const beyond = [
          ...(schema.minimum === undefined ? [] : [schema.minimum - 1]),
          ...(schema.maximum === undefined ? [] : [schema.maximum + 1]),
        ];
        for (const value of beyond) {
          const query = new URLSearchParams(`${WANTED}&side=bid&feedIds=6`);
          query.set(name, String(value));
          const { statusCode } = await app.inject({ url: `${path}?${query}`, headers: HEADERS });
          expect([path, name, value, statusCode]).toEqual([path, name, value, expect.toSatisfy((code) => code >= 400)]);
        }
      }
    }
  });

  it('documents the secret as a security scheme, because readers ignore a header parameter of that name', () => {
    const { securitySchemes } = document.components;
    expect(securitySchemes.internalSecret?.name).toBe('Authorization');
    expect(document.paths['/oracleLazer']?.get.security).toEqual([{ internalSecret: [] }, {}]);
    for (const { get } of Object.values(document.paths)) {
      const headers = get.parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase());
      expect(headers).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(accept|content-type|authorization)$/)]),
      );
      for (const name of (get.security ?? []).flatMap(Object.keys))
        expect(Object.keys(securitySchemes)).toContain(name);
    }
  });

  it('changes no byte of an answer: no member of a body is cut', async () => {
    for (const route of ['/priorityFees?marketType=perp&marketIndex=0', '/unsettledPnlUsers?marketIndex=0']) {
      const { body } = await app.inject(route);
      expect(body).toBe(JSON.stringify(JSON.parse(body)));
      expect(Object.keys(JSON.parse(body)).length).toBeGreaterThan(2);
    }
  });

  it('holds for the answers of every route, and every documented answer occurs', async () => {
    check('/startup', await app.inject('/startup'));
    await stage.books(snapshot(), diff(2, 488), diff(3, 489));
    await until(() => reader.newestSlot === 489);
    for (const url of REQUESTS) check(url, await app.inject({ url, headers: HEADERS }));
    check('/oracleLazer', await app.inject('/oracleLazer?feedIds=6'));
    const changes = Array.from({ length: 200 }, (_, at) => diff(at + 4, at + 490));
    await stage.books(...changes);
    await until(() => reader.newestSlot === 689);
    for (const path of ['/l2', '/l3']) {
      const urls = changes.map(({ slot }) => `${path}?marketName=SOL-PERP&slot=${slot - 1}`);
      const found = await Promise.all(urls.map(async (url) => ({ url, answer: await app.inject(url) })));
      for (const { url, answer } of found) check(url, answer);
      await stage.books(diff(path === '/l2' ? 204 : 205, path === '/l2' ? 690 : 691));
      await until(() => (reader.newestSlot ?? 0) >= 690);
    }
    nowMs += 60_000;
    for (const url of ['/health', '/']) check(url, await app.inject(url));
    for (const url of new Set(
      REQUESTS.map((request) => `${pathOf(request)}?${WANTED}&marketName=SOL-PERP&feedIds=6`),
    )) {
      check(url, await broken.inject(url));
    }
    expect(promised().filter((name) => !seen.has(name))).toEqual([]);
  });

  it('holds for every odd number as any parameter of any path', async () => {
    for (const [path, { get }] of Object.entries(document.paths)) {
      for (const { name } of get.parameters.filter((one) => one.in === 'query')) {
        for (const value of ODD_NUMBERS) {
          const query = new URLSearchParams(`${WANTED}&side=bid&feedIds=6`);
          query.set(name, value);
          const url = `${path}?${query}`;
          const answer = await app.inject({ url, headers: HEADERS });
          check(url, answer);
          expect([url, answer.body]).not.toEqual([url, ORDERBOOK_ERRORS.internal.text]);
        }
      }
    }
  });

  it('holds for random requests', async () => {
    const paths = Object.keys(document.paths);
    const parameters = [...new Set(paths.flatMap((path) => document.paths[path]?.get.parameters ?? []))];
    const names = [...new Set(parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])))];
    const odd = [
      '',
      ',',
      '0',
      '1',
      '-1',
      '0,1',
      '77',
      '1e3',
      'true',
      'TRUE',
      'perp',
      'spot,perp',
      'SOL-PERP',
      'sol',
      'bid',
      'long',
      'base',
      'worst',
      'é',
      '99999999999999999999',
      '0x1',
      '488',
    ];
    const pair = fc.tuple(fc.constantFrom(...names), fc.oneof(fc.constantFrom(...odd), fc.string({ maxLength: 12 })));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.array(pair, { maxLength: 6 }),
        fc.boolean(),
        async (path, pairs, known) => {
          const query = new URLSearchParams(known ? [['marketName', 'SOL-PERP'], ...pairs] : pairs);
          const url = `${path}?${query}`;
          check(url, await app.inject({ url, headers: HEADERS }));
        },
      ),
      { numRuns: 400 },
    );
  });
});
