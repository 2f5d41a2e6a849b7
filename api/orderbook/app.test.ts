import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TOPICS, type ViewOrder } from '../../schemas/index.ts';
import { marketView } from '../../test/support/api/market-views.ts';
import { diff, MAKER_A, MAKER_B, ORACLE, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { stripPrefix } from '../http/paths.ts';
import { BookReader } from '../views/book-reader.ts';
import { orderbookApp } from './app.ts';

let stage: Stage;
let reader: BookReader;
let app: FastifyInstance;
let nowMs: number;

async function start(): Promise<void> {
  const context = stage.context();
  reader = new BookReader({ ...context, clock: () => nowMs });
  await reader.start();
  const accounts = { read: async (keys: readonly string[]) => keys.map((_, index) => (index === 0 ? 'AAAA' : null)) };
  app = await orderbookApp({ reader, accounts, slotStallMs: 5000 }, pino({ level: 'silent' }));
}

beforeEach(() => {
  stage = new Stage();
  nowMs = 1_783_268_433_645;
});

afterEach(async () => {
  await app.close();
  await reader.stop();
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

async function startWithBook(): Promise<void> {
  await stage.markets();
  await stage.books(snapshot());
  await start();
  await until(() => reader.ready);
}

describe('/l2', () => {
  it('answers the published book with every member of its contract', async () => {
    await startWithBook();
    const answer = await get('/l2?marketName=sol-perp');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const oracleData = {
      price: '81122330',
      slot: '460',
      confidence: '4184',
      hasSufficientNumberOfDataPoints: true,
    };
    expect(answer.json()).toEqual({
      bids: [
        { price: '81114210', size: '1000000000', sources: { dlob: '1000000000' } },
        { price: '80260400', size: '6602100000', sources: { dlob: '400000000', vamm: '6202100000' } },
      ],
      asks: [{ price: '81130450', size: '1000000000', sources: { vamm: '1000000000' } }],
      marketName: 'SOL-PERP',
      marketType: 'perp',
      marketIndex: 0,
      ts: 1_783_268_433_645,
      slot: 487,
      markPrice: '81122330',
      bestBidPrice: '81114210',
      bestAskPrice: '81130450',
      spreadPct: '20019',
      spreadQuote: '16240',
      oracle: 81_122_330,
      oracleData: { ...oracleData, twap: '81122330', twapConfidence: '81122330' },
      mmOracleData: { ...oracleData, isMMOracleActive: true },
      marketSlot: 461,
    });
  });

  it.each([
    ['', 2],
    ['&depth=1', 1],
    ['&depth=1000', 2],
    ['&depth=0', 0],
    ['&depth=-1', 0],
    ['&depth=abc', 2],
    ['&depth=1x', 1],
    ['&depth=', 2],
  ])('cuts both sides with "%s" to %i levels and describes the whole book', async (query, bids) => {
    await startWithBook();
    const body = (await get(`/l2?marketIndex=0&marketType=PERP${query}`)).json();
    expect([body.bids.length, body.asks.length, body.bestBidPrice]).toEqual([bids, Math.min(bids, 1), '81114210']);
  });

  it('answers 100 levels by default, and never more', async () => {
    const side = (from: number, step: number) =>
      Array.from({ length: 130 }, (_, at) => ({ price: from + at * step, dlob: 1n, vamm: 0n }));
    await stage.markets();
    await stage.books(snapshot({ bids: side(80_000_000, -100), asks: side(82_000_000, 100) }));
    await start();
    await until(() => reader.ready);
    const counts = async (query: string) => {
      const { bids, asks } = (await get(`/l2?marketName=SOL-PERP${query}`)).json();
      return [bids.length, asks.length];
    };
    for (const query of ['', '&depth=100', '&depth=101', '&depth=1000']) {
      expect(await counts(query), query).toEqual([100, 100]);
    }
    expect(await counts('&depth=99')).toEqual([99, 99]);
  });

  it('ignores other parameters', async () => {
    await startWithBook();
    const plain = await get('/l2?marketName=SOL-PERP');
    const more = await get(
      '/l2?marketName=SOL-PERP&includeVamm=false&grouping=100&includeOracle=x&includeIndicative=1',
    );
    expect(more.body).toBe(plain.body);
  });

  it('contains a change at once, with the time of that change', async () => {
    await startWithBook();
    await get('/l2?marketName=SOL-PERP');
    nowMs += 400;
    await stage.books(diff(2, 488));
    await until(() => reader.newestSlot === 488);
    nowMs += 5000;
    const body = (await get('/l2?marketName=SOL-PERP')).json();
    expect([body.slot, body.ts, body.bids.length]).toEqual([488, 1_783_268_434_045, 3]);
  });

  it('serves the exchange oracle as mark of a one-sided book, and neither best prices nor spreads', async () => {
    await stage.markets();
    const oracle = { ...ORACLE, price: 99_000_000n };
    const asks = [{ price: 100_000_000, dlob: 1n, vamm: 0n }];
    await stage.books(snapshot({ bids: [], asks, oracle, mmOracle: { ...oracle, price: 99_500_000n } }));
    await start();
    await until(() => reader.ready);
    const body = (await get('/l2?marketName=SOL-PERP')).json();
    expect(body.markPrice).toBe('99000000');
    const members = Object.keys(body);
    for (const absent of ['bestBidPrice', 'bestAskPrice', 'spreadPct', 'spreadQuote']) {
      expect(members).not.toContain(absent);
    }
  });

  it('answers a known market without a book with an empty one', async () => {
    await startWithBook();
    const answer = await get('/l2?marketName=BTC-PERP');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      bids: [],
      asks: [],
      marketName: 'BTC-PERP',
      marketType: 'perp',
      marketIndex: 1,
      ts: nowMs,
      slot: 487,
      oracle: 60_000_000_000,
      oracleData: { price: '60000000000', slot: '100', confidence: '0', hasSufficientNumberOfDataPoints: false },
      marketSlot: 487,
    });
    const oracle = { ...ORACLE, slot: 480n, twapConfidence: null };
    await stage.markets([marketView({ marketIndex: 1, symbol: 'BTC-PERP', slot: 101, oracle })]);
    const live = { price: '81122330', slot: '480', confidence: '4184', hasSufficientNumberOfDataPoints: true };
    await eventually(async () => {
      const { l2s } = (await get('/batchL2?marketName=BTC-PERP')).json();
      expect(l2s).toMatchObject([{ bids: [], oracle: 81_122_330, slot: 487, marketSlot: 487 }]);
      expect(l2s[0].oracleData).toEqual({ ...live, twap: '81122330' });
    });
    const spot = (await get('/l2?marketIndex=1&marketType=spot')).json();
    expect([spot.bids, spot.marketName, spot.oracle]).toEqual([[], 'SOL', undefined]);
  });

  it.each([
    ['', 'Bad Request: (marketName) or (marketIndex and marketType) must be supplied'],
    ['?marketIndex=0&marketType=x', 'Bad Request: marketType must be either "spot" or "perp"'],
    ['?marketIndex=9&marketType=perp', 'Bad Request: invalid marketIndex'],
    ['?marketName=', 'Bad Request: unrecognized marketName'],
  ])('refuses "%s" with the exact text', async (query, text) => {
    await startWithBook();
    for (const path of ['/l2', '/l3', '/topMakers']) {
      const answer = await get(path + query);
      expect([answer.statusCode, answer.body]).toEqual([400, text]);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });
});

describe('/l3', () => {
  it('lists every order with exactly four members', async () => {
    await startWithBook();
    const body = (await get('/l3?marketName=SOL-PERP')).json();
    expect(body.bids).toEqual([
      { price: '81114210', size: '1000000000', maker: bs58.encode(MAKER_A), orderId: 412 },
      { price: '80260400', size: '400000000', maker: bs58.encode(MAKER_B), orderId: 7 },
    ]);
    expect([body.asks, body.slot, body.marketSlot, body.markPrice]).toEqual([[], 487, 461, undefined]);
  });

  it('names on request the transaction that last wrote each order', async () => {
    await startWithBook();
    const [first] = snapshot().bidOrders as [ViewOrder];
    const cause = { slot: 488, signature: new Uint8Array(64).fill(5), index: 3 };
    await stage.books(diff(2, 488, { bidOrders: [{ ...first, cause }] }));
    const expected = [{ slot: 488, signature: bs58.encode(cause.signature), index: 3 }, null];
    const { bids } = (await get('/l3?marketName=SOL-PERP&cause=true')).json();
    expect(bids.map((order: { cause: unknown }) => order.cause)).toEqual(expected);
    expect((await get('/l3?marketName=SOL-PERP')).body).not.toContain('cause');
  });

  it('answers 500 `No L3 found` for a market without a book', async () => {
    await startWithBook();
    const answer = await get('/l3?marketName=BTC-PERP');
    expect([answer.statusCode, answer.body]).toEqual([500, 'No L3 found']);
  });
});

describe('/topMakers', () => {
  it.each([
    ['side=bid', [MAKER_A, MAKER_B]],
    ['side=bid&limit=1', [MAKER_A]],
    ['side=bid&limit=1x', [MAKER_A]],
    ['side=bid&limit=', [MAKER_A, MAKER_B]],
    ['side=bid&limit=0', []],
    ['side=ask', []],
  ])('answers %s', async (query, makers) => {
    await startWithBook();
    expect((await get(`/topMakers?marketName=SOL-PERP&${query}`)).json()).toEqual(
      makers.map((maker) => bs58.encode(maker)),
    );
  });

  it('adds account bytes on request, null for an account that cannot be read', async () => {
    await startWithBook();
    expect((await get('/topMakers?marketName=SOL-PERP&side=bid&includeAccounts=TRUE')).json()).toEqual([
      { userAccountPubKey: bs58.encode(MAKER_A), accountBase64: 'AAAA' },
      { userAccountPubKey: bs58.encode(MAKER_B), accountBase64: null },
    ]);
  });

  it.each([
    ['', 'Bad Request: side must be either bid or ask'],
    ['&side=BID', 'Bad Request: side must be either bid or ask'],
    ['&side=bid&limit=abc', 'Bad Request: limit must be a number if supplied'],
  ])('refuses "%s"', async (query, text) => {
    await startWithBook();
    const answer = await get(`/topMakers?marketName=SOL-PERP${query}`);
    expect([answer.statusCode, answer.body]).toEqual([400, text]);
  });
});

describe('/health, / and /startup', () => {
  it('/health and / answer 500 `NOK` while slots stand still, and OK again when they go on', async () => {
    await startWithBook();
    for (const path of ['/health', '/']) {
      const answer = await get(path);
      expect([answer.statusCode, answer.body]).toEqual([200, 'OK']);
    }
    nowMs += 5001;
    for (const path of ['/health', '/']) {
      const answer = await get(path);
      expect([answer.statusCode, answer.body]).toEqual([500, 'NOK']);
    }
    await stage.books(diff(2, 499));
    await until(() => reader.newestSlot === 499);
    expect((await get('/health')).body).toBe('OK');
  });

  it('/startup answers 500 `Not ready` while no slot is known', async () => {
    await stage.markets();
    await start();
    const before = await get('/startup');
    expect([before.statusCode, before.body]).toEqual([500, 'Not ready']);
    await stage.books(snapshot());
    await until(() => reader.ready);
    const after = await get('/startup');
    expect([after.statusCode, after.body]).toEqual([200, 'OK']);
  });

  it('/startup answers 500 `Not ready` until all that was published is read', async () => {
    await stage.markets();
    await stage.books(snapshot(), diff(2, 488));
    const goOn = stage.holdAfterFirst(TOPICS.bookViews);
    await start();
    await until(() => reader.newestSlot === 487);
    expect((await get('/startup')).statusCode).toBe(500);
    expect((await get('/health')).statusCode).toBe(200);
    goOn();
    await until(() => reader.ready);
    expect(reader.newestSlot).toBe(488);
    expect((await get('/startup')).statusCode).toBe(200);
  });

  it.each([
    ['fees and rankings', 'feeds'],
    ['quality', 'quality'],
    ['recent fills', 'fillQuality'],
  ] as const)('/startup answers 500 `Not ready` until it has read %s', async (_, name) => {
    await startWithBook();
    const follower = { ready: false };
    const services = { reader, accounts: { read: async () => [] }, slotStallMs: 5000, [name]: follower };
    const own = await orderbookApp(services, pino({ level: 'silent' }));
    const asked = () => own.inject({ method: 'GET', url: '/startup' });
    expect([(await asked()).statusCode, (await asked()).body]).toEqual([500, 'Not ready']);
    follower.ready = true;
    expect((await asked()).statusCode).toBe(200);
    await own.close();
  });
});

describe('every answer', () => {
  it('keeps idle connections for 61 s and waits 65 s for headers, longer than a load balancer waits', async () => {
    await startWithBook();
    expect([app.server.keepAliveTimeout, app.server.headersTimeout]).toEqual([61_000, 65_000]);
  });

  it('allows any origin, also on failures, and answers preflights with the methods', async () => {
    await startWithBook();
    for (const url of ['/health', '/l2', '/nowhere']) {
      expect((await get(url, { origin: 'https://x.test' })).headers['access-control-allow-origin']).toBe('*');
    }
    const preflight = await app.inject({ method: 'OPTIONS', url: '/l2', headers: { origin: 'https://x.test' } });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD, PUT, PATCH, POST, DELETE');
  });

  it('is compressed from 1 KiB on when the client accepts it', async () => {
    await stage.markets();
    const bids = Array.from({ length: 100 }, (_, index) => ({ price: 81_000_000 - index, dlob: 1n, vamm: 0n }));
    await stage.books(snapshot({ bids }));
    await start();
    await until(() => reader.ready);
    const headers = { 'accept-encoding': 'gzip' };
    expect((await get('/l2?marketName=SOL-PERP', headers)).headers['content-encoding']).toBe('gzip');
    expect((await get('/l2?marketName=SOL-PERP')).headers['content-encoding']).toBeUndefined();
    expect((await get('/l2?marketName=SOL-PERP&depth=1', headers)).headers['content-encoding']).toBeUndefined();
  });

  it('is routed without a leading /dlob', async () => {
    await startWithBook();
    expect((await get('/dlob/health')).body).toBe('OK');
    expect((await get('/dlob')).body).toBe('OK');
    expect((await get('/dlob/l3?marketName=BTC-PERP')).body).toBe('No L3 found');
    expect(stripPrefix('/dlob?x=1')).toBe('/?x=1');
    expect(stripPrefix('/dlobster')).toBe('/dlobster');
    expect(stripPrefix('http://x/dlob/l2?y=1')).toBe('/l2?y=1');
    expect(stripPrefix('http://x')).toBe('/');
  });

  it('is 404 for an unknown path and 500 `Internal error` for a fault', async () => {
    await startWithBook();
    expect((await get('/orders')).statusCode).toBe(404);
    Object.defineProperty(reader, 'book', {
      value: () => {
        throw new Error('secret detail');
      },
    });
    const answer = await get('/l2?marketName=SOL-PERP');
    expect([answer.statusCode, answer.body]).toEqual([500, 'Internal error']);
  });

  it('survives a query that does not decode', async () => {
    await startWithBook();
    expect((await get('/l2?marketName=%E0%A4%A')).statusCode).toBe(400);
  });
});

describe('reading the views', () => {
  it.each([
    [{ perpMarketsToLoad: '0' }, [200, 400, 400]],
    [{ spotMarketsToLoad: ' 1 ' }, [400, 400, 200]],
    [{ perpMarketsToLoad: '1', spotMarketsToLoad: '1' }, [400, 200, 200]],
    [{}, [200, 200, 200]],
  ])('serves the markets to load, %j, as if there were no other', async (settings, statuses) => {
    await stage.markets();
    await stage.books(snapshot(), snapshot({ marketIndex: 1, slot: 490 }));
    reader = new BookReader({ ...stage.context(settings), clock: () => nowMs });
    await reader.start();
    app = await orderbookApp({ reader, accounts: { read: async () => [] }, slotStallMs: 5000 }, stage.context().logger);
    await until(() => reader.ready && reader.newestSlot === 490);
    const answers = ['SOL-PERP', 'BTC-PERP', 'SOL'].map(
      async (name) => (await get(`/l2?marketName=${name}`)).statusCode,
    );
    expect(await Promise.all(answers)).toEqual(statuses);
    expect([reader.bookByKey('perp-0') !== null, reader.bookByKey('perp-1') !== null]).toEqual(
      statuses.slice(0, 2).map((status) => status === 200),
    );
  });

  it('lists a market that appears later', async () => {
    await startWithBook();
    expect((await get('/l2?marketName=ETH-PERP')).statusCode).toBe(400);
    await stage.markets([marketView({ marketIndex: 2, symbol: 'ETH-PERP' })]);
    await until(() => reader.markets.size === 5);
    expect((await get('/l2?marketName=ETH-PERP')).statusCode).toBe(200);
  });

  it('ignores records that are not messages', async () => {
    await startWithBook();
    await stage.log.append(TOPICS.bookViews, [{ key: 'perp-0', value: Buffer.from('garbage') }]);
    await stage.books(diff(2, 490));
    await until(() => reader.newestSlot === 490);
    expect((await get('/health')).body).toBe('OK');
  });

  it('serves the last sound book after a hole until a snapshot closes it', async () => {
    await startWithBook();
    await stage.books(diff(3, 500, { bids: [] }));
    await stage.books(diff(4, 501, { bids: [] }));
    await stage.books(snapshot({ marketIndex: 1, slot: 502 }));
    await until(() => reader.newestSlot === 502);
    expect((await get('/l2?marketName=SOL-PERP')).json().slot).toBe(487);
    await stage.books(snapshot({ seq: 4, slot: 503 }));
    await until(() => reader.newestSlot === 503);
    expect((await get('/l2?marketName=SOL-PERP')).json().slot).toBe(503);
  });
});
