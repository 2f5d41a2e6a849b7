// /batchL2 and /batchL2Cache: the list rules and the error rows.

import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, snapshot, until } from '../../../test/support/api/stage.ts';
import { givenParameters } from '../../http/contract/inputs.ts';
import { OrderbookError } from '../../http/errors.ts';
import { BookReader } from '../../views/book-reader.ts';
import { orderbookApp } from '../app.ts';
import { batchQueries } from '../parameters.ts';
import { BATCH_L2, DEPTH } from './books.ts';

const LENGTHS = 'Bad Request: all params for batch request must be the same length';

let reader: BookReader;
let app: FastifyInstance;

beforeAll(async () => {
  const stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  reader = new BookReader(stage.context());
  await reader.start();
  await until(() => reader.ready);
  const accounts = { read: async () => [] };
  app = await orderbookApp({ reader, accounts, slotStallMs: 5000 }, pino({ level: 'silent' }));
});

afterAll(async () => {
  await app.close();
  await reader.stop();
});

const get = (url: string) => app.inject({ method: 'GET', url });
const queriesOf = (text: string) =>
  batchQueries(BATCH_L2, givenParameters(BATCH_L2, Object.fromEntries(new URLSearchParams(text))));

describe('batch lists', () => {
  it('refuses lists of different lengths, without broadcasting', () => {
    expect(() => queriesOf('marketName=SOL-PERP,BTC-PERP&depth=5')).toThrow(new OrderbookError('batchLengths'));
  });

  it('reads lists entry by entry, and ignores grouping', () => {
    expect(queriesOf('marketIndex=0,1&marketType=perp,perp&grouping=100')).toEqual([
      { marketIndex: '0', marketType: 'perp' },
      { marketIndex: '1', marketType: 'perp' },
    ]);
  });

  it('answers no markets without lists', async () => {
    expect(queriesOf('')).toEqual([]);
    const answer = await get('/batchL2');
    expect([answer.statusCode, answer.body]).toEqual([200, '{"l2s":[]}']);
  });

  it('reads the leading digits of a depth, at most 100, and 100 without any', () => {
    expect([undefined, '5', '1000', '0', 'abc', '7x'].map(DEPTH.read)).toEqual([100, 5, 100, 0, 100, 7]);
  });

  it.each(['includeVamm', 'includePhoenix', 'includeOpenbook', 'includeOracle', 'includeIndicative'])(
    'counts %s in the length check',
    async (list) => {
      const answer = await get(`/batchL2?marketName=SOL-PERP,BTC-PERP&${list}=true`);
      expect([answer.statusCode, answer.body]).toEqual([400, LENGTHS]);
    },
  );

  it('reads an empty list as one empty value', async () => {
    expect((await get('/batchL2?marketName=SOL-PERP&depth=')).json().l2s[0].bids).toHaveLength(2);
    expect((await get('/batchL2?marketName=SOL-PERP,BTC-PERP&depth=')).body).toBe(LENGTHS);
  });

  it('does not trim values', async () => {
    const answer = await get('/batchL2?marketName=SOL-PERP,%20BTC-PERP');
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: Bad Request: unrecognized marketName']);
  });
});

describe.each(['/batchL2', '/batchL2Cache'])('%s', (path) => {
  it('answers the books in request order, duplicates too, each cut to its own depth', async () => {
    const answer = await get(`${path}?marketName=SOL-PERP,BTC-PERP,sol-perp&depth=1,5,0`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { l2s } = answer.json();
    expect(l2s.map((book: { marketName: string }) => book.marketName)).toEqual(['SOL-PERP', 'BTC-PERP', 'SOL-PERP']);
    expect(l2s.map((book: { bids: unknown[] }) => book.bids.length)).toEqual([1, 0, 0]);
    expect(l2s[0]).toEqual((await get('/l2?marketName=SOL-PERP&depth=1')).json());
  });

  it('a market with no cached book is an empty book with live oracle data and the current slot, not an error', async () => {
    const [book] = (await get(`${path}?marketIndex=1&marketType=perp`)).json().l2s;
    expect(book).toMatchObject({ bids: [], asks: [], slot: 487, oracle: 60_000_000_000 });
    expect(book.oracleData.price).toBe('60000000000');
  });

  it('refuses lists of different lengths with 400', async () => {
    const answer = await get(`${path}?marketIndex=0,1&marketType=perp`);
    expect([answer.statusCode, answer.body]).toEqual([400, LENGTHS]);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('answers 400 with the text of the last market that fails', async () => {
    const twice = 'Bad Request: Bad Request: ';
    expect((await get(`${path}?marketIndex=0,9&marketType=x,perp`)).body).toBe(`${twice}invalid marketIndex`);
    expect((await get(`${path}?marketIndex=9,0&marketType=perp,x`)).body).toBe(
      `${twice}marketType must be either "spot" or "perp"`,
    );
    expect((await get(`${path}?depth=1`)).body).toBe(
      `${twice}(marketName) or (marketIndex and marketType) must be supplied`,
    );
  });

  it('answers 400 for more markets than an answer can hold', async () => {
    const answer = await get(`${path}?depth=${'1,'.repeat(200)}1`);
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: at most 200 markets per batch request']);
  });

  it('answers 100 levels by default, and never more', async () => {
    const deep = Array.from({ length: 120 }, (_, at) => ({ price: 90_000_000 - at * 100, dlob: 1n, vamm: 0n }));
    const stage = new Stage();
    await stage.markets();
    await stage.books(snapshot({ bids: deep }));
    const own = new BookReader(stage.context());
    await own.start();
    await until(() => own.ready);
    const accounts = { read: async () => [] };
    const deepApp = await orderbookApp({ reader: own, accounts, slotStallMs: 5000 }, pino({ level: 'silent' }));
    const url = `${path}?marketName=SOL-PERP,SOL-PERP,SOL-PERP&depth=,500,7`;
    const { l2s } = (await deepApp.inject({ method: 'GET', url })).json();
    expect(l2s.map((book: { bids: unknown[] }) => book.bids.length)).toEqual([100, 100, 7]);
    await deepApp.close();
    await own.stop();
  });
});

describe('any input', () => {
  const value = fc.oneof(
    fc.constantFrom('', '0', '1', 'perp', 'SOL-PERP', 'SOL', 'true', '-1', '1e9', '5'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const names = ['marketName', 'marketIndex', 'marketType', 'depth', 'includeIndicative', 'grouping', 'includeVamm'];
  const query = fc.array(fc.tuple(fc.constantFrom(...names), fc.array(value, { maxLength: 4 })), { maxLength: 6 });

  it('never answers a 5xx, and a JSON answer has one book per list entry', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (pairs) => {
        const text = pairs.map(([name, list]) => `${name}=${encodeURIComponent(list.join(','))}`).join('&');
        const answer = await get(`/batchL2?${text}`);
        expect([200, 400]).toContain(answer.statusCode);
        if (answer.statusCode === 200) expect(Array.isArray(answer.json().l2s)).toBe(true);
        else expect(answer.body).toMatch(/^Bad Request: /);
      }),
      { numRuns: 300 },
    );
  });
});
