// The feed routes over a log in memory and an oracle provider on a free port.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../platform/index.ts';
import { PartitionRankings, type RankingOutput } from '../../processors/rankings/partition.ts';
import { encodeMessage, type FeeLevels, marketKey, type PnlRanking, TOPICS } from '../../schemas/index.ts';
import { MAKER_A, MAKER_B, Stage, until } from '../../test/support/api/stage.ts';
import { market, position } from '../../test/support/processors/rankings/positions.ts';
import { base58 } from '../http/base58.ts';
import { BookReader } from '../views/book-reader.ts';
import { orderbookApp } from './app.ts';
import { type RunningFeeds, startFeeds } from './feeds.ts';

const LEVELS = { min: 0, low: 2, medium: 10_082, high: 100_000, veryHigh: 1_200_000, unsafeMax: 5_000_000 };
const SECRET = 'keep-this';
const DOMAIN = 'example.exchange';
const PAGE = 'https://app.example.exchange';
const HTTPS = { 'x-forwarded-proto': 'https' };
const FORBIDDEN = { error: 'Forbidden: Invalid origin' };
const FEED = {
  priceFeedId: 6,
  price: '8112233000',
  bestAskPrice: '8112243000',
  bestBidPrice: '8112223000',
  exponent: -8,
};

let stage: Stage;
let feeds: RunningFeeds | null = null;
let app: FastifyInstance;
let provider: Server;
let providerAnswer: { status: number; body: unknown };
let asked: { body: Record<string, unknown>; authorization: string | undefined }[];

beforeEach(async () => {
  stage = new Stage();
  asked = [];
  providerAnswer = { status: 200, body: { parsed: { timestampUs: '1', priceFeeds: [FEED] } } };
  provider = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      asked.push({ body, authorization: request.headers.authorization });
      response.writeHead(providerAnswer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(providerAnswer.body));
    });
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
afterEach(async () => {
  await app.close();
  await feeds?.stop();
  provider.close();
});

async function open(overrides: Partial<Config> = {}): Promise<void> {
  const oracleFeedUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1/latest_price`;
  const settings = { oracleFeedUrl, oracleFeedToken: 'token', internalSecret: SECRET, operatorDomain: DOMAIN };
  const context = stage.context({ ...settings, ...overrides });
  feeds = await startFeeds(context);
  const accounts = { read: async () => [] };
  app = await orderbookApp({ reader: new BookReader(context), accounts, slotStallMs: 5000, feeds }, context.logger);
}

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

async function fees(...markets: readonly Partial<FeeLevels>[]): Promise<void> {
  const records = markets.map((members) => {
    const value: FeeLevels = { marketType: 'perp', marketIndex: 0, atMs: 1, ...LEVELS, ...members };
    return { key: marketKey(value), value: encodeMessage('FeeLevels', value) };
  });
  await stage.log.append(TOPICS.feeViews, records);
}

async function ranking(members: Partial<PnlRanking>): Promise<void> {
  const value: PnlRanking = { marketType: 'perp', marketIndex: 0, slot: 5, gainers: [], losers: [], ...members };
  await stage.log.append(TOPICS.rankingViews, [{ key: marketKey(value), value: encodeMessage('PnlRanking', value) }]);
}

/** Publishes the ranking of these users. Each has only a quote balance, 1e6. */
function rankOf(users: readonly { readonly user: Uint8Array; readonly quoteAssetAmount: bigint }[]): Uint8Array {
  const values = [
    encodeMessage('PositionMarket', market()),
    ...users.map((held) => encodeMessage('PositionState', position(0, { authority: MAKER_A, ...held }))),
    encodeMessage('BookSlot', { slot: 5 }),
  ];
  const outputs: RankingOutput[] = [];
  const rankings = new PartitionRankings(0);
  for (const value of values) rankings.apply({ offset: 0n, value }, outputs);
  const [published] = outputs;
  if (!published) throw new Error('no ranking was published');
  return published.value;
}

describe('/priorityFees', () => {
  it('answers the six levels flat as numbers, with market type and numeric index', async () => {
    await fees({});
    await open();
    const response = await get('/priorityFees?marketType=perp&marketIndex=0');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toEqual({ ...LEVELS, marketType: 'perp', marketIndex: 0 });
  });

  it('answers the newest levels', async () => {
    await fees({}, { medium: 7.5 });
    await open();
    expect((await get('/priorityFees?marketType=perp&marketIndex=0')).json().medium).toBe(7.5);
    await fees({ medium: 8 });
    await until(() => feeds?.fees.get('perp-0')?.medium === 8);
    expect((await get('/priorityFees?marketType=perp&marketIndex=0')).json().medium).toBe(8);
  });

  it.each([
    '',
    '?marketType=perp',
    '?marketIndex=0',
    '?marketType=perp&marketIndex=1',
    '?marketType=PERP&marketIndex=0',
    '?marketType=perp&marketIndex=0x',
  ])('answers 404 `Not found` for a market without fees (%s)', async (query) => {
    await fees({});
    await open();
    const response = await get(`/priorityFees${query}`);
    expect(response.statusCode).toBe(404);
    expect(response.body).toBe('Not found');
    expect(response.headers['content-type']).toMatch(/^text\/plain/);
  });
});

describe('/batchPriorityFees', () => {
  it('answers one entry per market in request order; an unknown one has type and index only', async () => {
    await fees({}, { marketType: 'spot', marketIndex: 1, low: 3 });
    await open();
    const response = await get('/batchPriorityFees?marketType=spot,perp,perp&marketIndex=1,9,0');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual([
      { ...LEVELS, low: 3, marketType: 'spot', marketIndex: 1 },
      { marketType: 'perp', marketIndex: 9 },
      { ...LEVELS, marketType: 'perp', marketIndex: 0 },
    ]);
  });

  it('refuses lists of different lengths with 400', async () => {
    await open();
    const response = await get('/batchPriorityFees?marketType=perp&marketIndex=0,1');
    expect(response.statusCode).toBe(400);
    expect(response.body).toBe('Bad Request: all params for batch request must be the same length');
  });

  it('answers 404 `Not found` without lists', async () => {
    await open();
    const response = await get('/batchPriorityFees');
    expect(response.statusCode).toBe(404);
    expect(response.body).toBe('Not found');
  });
});

describe('/unsettledPnlUsers', () => {
  it('answers user accounts and whole quote units as numbers', async () => {
    await ranking({
      gainers: [{ user: MAKER_A, pnl: 1_520_331_201n }],
      losers: [{ user: MAKER_B, pnl: -880_100_000n }],
    });
    await open();
    const response = await get('/unsettledPnlUsers?marketIndex=0');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toEqual({
      marketIndex: 0,
      gainers: [{ userPubKey: base58(MAKER_A), pnl: 1520.331201 }],
      losers: [{ userPubKey: base58(MAKER_B), pnl: -880.1 }],
    });
  });

  it('lists 20 gainers and 20 losers of 45 ranked users', async () => {
    const user = (seed: number) => new Uint8Array(32).fill(seed);
    const held = Array.from({ length: 45 }, (_, at) => ({
      user: user(at + 1),
      quoteAssetAmount: BigInt(at - 22) * 10n ** 6n,
    }));
    // Nobody's P&L is 0: the middle of the 45 users has half a unit.
    const value = rankOf(held.map((each) => ({ ...each, quoteAssetAmount: each.quoteAssetAmount || 500_000n })));
    await stage.log.append(TOPICS.rankingViews, [{ key: 'perp-0', value }]);
    await open();
    const { gainers, losers } = (await get('/unsettledPnlUsers?marketIndex=0')).json();
    const pnls = (users: readonly { pnl: number }[]) => users.map(({ pnl }) => pnl);
    expect(pnls(gainers)).toEqual(Array.from({ length: 20 }, (_, at) => 22 - at));
    expect(pnls(losers)).toEqual(Array.from({ length: 20 }, (_, at) => at - 22));
    expect(gainers[0].userPubKey).toBe(base58(user(45)));
  });

  it('answers empty lists without a ranking; the empty index is 0', async () => {
    await open();
    expect((await get('/unsettledPnlUsers?marketIndex=7')).json()).toEqual({ marketIndex: 7, gainers: [], losers: [] });
    expect((await get('/unsettledPnlUsers?marketIndex=')).json()).toEqual({ marketIndex: 0, gainers: [], losers: [] });
  });

  it.each(['', '?marketIndex=abc', '?marketIndex=2x', '?marketIndex=Infinity'])(
    'refuses a `marketIndex` that is missing or no number with 400 (%s)',
    async (query) => {
      await open();
      const response = await get(`/unsettledPnlUsers${query}`);
      expect(response.statusCode).toBe(400);
      expect(response.body).toBe('Bad Request: must include a marketIndex');
    },
  );
});

describe('/oracleLazer', () => {
  it('answers price, bestAskPrice, bestBidPrice and exponent per feed under `data`', async () => {
    await open();
    const response = await get('/oracleLazer?feedIds=6', { authorization: SECRET });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ data: [FEED] });
    expect(asked).toEqual([
      {
        body: {
          priceFeedIds: [6],
          properties: ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'],
          chains: ['solana'],
          channel: 'real_time',
          jsonBinaryEncoding: 'hex',
        },
        authorization: 'Bearer token',
      },
    ]);
  });

  it('answers feeds in the order of the request, each once, with the signed message', async () => {
    const other = { ...FEED, priceFeedId: 1 };
    providerAnswer.body = { parsed: { priceFeeds: [other, FEED] }, solana: { encoding: 'hex', data: 'b9011a82' } };
    await open();
    const response = await get('/oracleLazer?feedIds=6,1,6', { authorization: SECRET });
    expect(response.json()).toEqual({ data: [FEED, other], solana: 'b9011a82' });
    expect(asked[0]?.body.priceFeedIds).toEqual([6, 1]);
  });

  it.each([
    ['Origin', { origin: PAGE }],
    ['Origin with a port', { origin: `${PAGE}:8443` }],
    ['Referer', { referer: `${PAGE}/trade?x=1` }],
    ['a deeper subdomain', { origin: 'https://a.b.example.exchange' }],
    ['upper case', { origin: 'https://APP.Example.Exchange' }],
  ])('lets a page on a subdomain of the operator in over HTTPS: %s', async (_, headers) => {
    await open();
    expect((await get('/oracleLazer?feedIds=6', { ...HTTPS, ...headers })).statusCode).toBe(200);
  });

  it.each([
    ['nothing', HTTPS],
    ['a wrong secret', { authorization: 'keep-thiz' }],
    ['a part of the secret', { authorization: 'keep' }],
    ['a secret with a scheme', { authorization: `Bearer ${SECRET}` }],
    ['the domain itself', { ...HTTPS, origin: 'https://example.exchange' }],
    ['a look-alike ending', { ...HTTPS, origin: 'https://evilexample.exchange' }],
    ['a look-alike beginning', { ...HTTPS, origin: 'https://app.example.exchange.evil.com' }],
    ['the domain as user name', { ...HTTPS, origin: 'https://app.example.exchange@evil.com' }],
    ['a page over http', { ...HTTPS, origin: 'http://app.example.exchange' }],
    ['a request over http', { origin: PAGE }],
    ['a request whose last hop is http', { 'x-forwarded-proto': 'https, http', origin: PAGE }],
    ['an opaque origin', { ...HTTPS, origin: 'null' }],
    ['a foreign origin with an allowed referer', { ...HTTPS, origin: 'https://evil.com', referer: PAGE }],
  ])('refuses a request without the secret and an allowed origin with 403 (%s)', async (_, headers) => {
    await open();
    const response = await get('/oracleLazer?feedIds=6', headers as Record<string, string>);
    expect(response.statusCode).toBe(403);
    expect(response.json()).toEqual(FORBIDDEN);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(asked).toEqual([]);
  });

  it.each([{}, { authorization: '' }, { authorization: 'undefined' }])(
    'an unset secret never matches: 403 (%j)',
    async (headers) => {
      await open({ internalSecret: '', operatorDomain: '' });
      const response = await get('/oracleLazer?feedIds=6', headers as Record<string, string>);
      expect(response.statusCode).toBe(403);
    },
  );

  it('an unset domain allows no page: 403', async () => {
    await open({ operatorDomain: '' });
    expect((await get('/oracleLazer?feedIds=6', { ...HTTPS, origin: PAGE })).statusCode).toBe(403);
  });

  it.each(['', '?feedIds='])('refuses missing `feedIds` with 400 (%s)', async (query) => {
    await open();
    const response = await get(`/oracleLazer${query}`, { authorization: SECRET });
    expect(response.statusCode).toBe(400);
    expect(response.body).toBe('Bad Request: must include a feedIds');
  });

  it.each(['abc', '6,', '-1', '1.5', '4294967296', Array.from({ length: 101 }, (_, id) => id).join()])(
    '`feedIds` that are no ids or too many: 400 (%s)',
    async (ids) => {
      await open();
      const response = await get(`/oracleLazer?feedIds=${ids}`, { authorization: SECRET });
      expect(response.statusCode).toBe(400);
      expect(response.body).toBe('Bad Request: feedIds must be numbers, at most 100');
      expect(asked).toEqual([]);
    },
  );

  it('checks the origin before the parameters', async () => {
    await open();
    expect((await get('/oracleLazer')).statusCode).toBe(403);
  });

  it('answers 404 `Not found` without a payload', async () => {
    providerAnswer.body = { parsed: { timestampUs: '1', priceFeeds: [] } };
    await open();
    const response = await get('/oracleLazer?feedIds=6', { authorization: SECRET });
    expect(response.statusCode).toBe(404);
    expect(response.body).toBe('Not found');
  });

  it.each([
    ['an error', { status: 502, body: {} }],
    ['another shape', { status: 200, body: [] }],
  ])('answers 500 `Internal error` when the upstream fails (%s)', async (_, answer) => {
    providerAnswer = answer;
    await open();
    const response = await get('/oracleLazer?feedIds=6', { authorization: SECRET });
    expect(response.statusCode).toBe(500);
    expect(response.body).toBe('Internal error');
  });

  it('sends the token only to a configured provider', async () => {
    const rpcUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/?api-key=x`;
    await open({ oracleFeedUrl: '', rpcUrl });
    expect((await get('/oracleLazer?feedIds=6', { authorization: SECRET })).statusCode).toBe(200);
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined]);
  });
});
