// /topMakers: the rules of `side` and `limit`, the walk over the orders, and the error rows.

import bs58 from 'bs58';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, snapshot, until } from '../../../test/support/api/stage.ts';
import { BookReader } from '../../views/book-reader.ts';
import { orderbookApp } from '../app.ts';

const MAKERS = 130;
const maker = (n: number): Uint8Array => Buffer.alloc(32, n + 1);
const order = (n: number, price: number, orderId: number) => ({
  price,
  size: 1_000_000_000n,
  maker: maker(n),
  orderId,
  source: 'user' as const,
  rank: [3, orderId, 0],
});

let reader: BookReader;
let app: FastifyInstance;

beforeAll(async () => {
  const stage = new Stage();
  await stage.markets();
  // Best first: A, B, A, C, A, D, E, then everyone else one by one. The asks have two makers.
  const owners = [0, 1, 0, 2, 0, 3, 4, ...Array.from({ length: MAKERS - 5 }, (_, at) => at + 5)];
  const bidOrders = owners.map((owner, at) => order(owner, 81_000_000 - at * 100, at));
  const askOrders = [order(7, 82_000_000, 900), order(6, 82_000_100, 901)];
  await stage.books(snapshot({ bidOrders, askOrders }));
  reader = new BookReader(stage.context());
  await reader.start();
  await until(() => reader.ready);
  const accounts = { read: async (keys: readonly string[]) => keys.map(() => 'AAAA') };
  app = await orderbookApp({ reader, accounts, slotStallMs: 5000 }, pino({ level: 'silent' }));
});

afterAll(async () => {
  await app.close();
  await reader.stop();
});

const get = (query: string) => app.inject({ method: 'GET', url: `/topMakers?marketName=SOL-PERP&${query}` });
const makers = (...numbers: number[]) => numbers.map((n) => bs58.encode(maker(n)));

describe('/topMakers', () => {
  it('lists distinct owners in the order of their best orders, 4 by default', async () => {
    expect((await get('side=bid')).json()).toEqual(makers(0, 1, 2, 3));
  });

  it.each(['marketName=sol-perp', 'marketIndex=0&marketType=perp'])(
    'honours the limit however %s is named',
    async (named) => {
      const answer = await app.inject({ method: 'GET', url: `/topMakers?${named}&side=ask&limit=1` });
      expect(answer.json()).toEqual(makers(7));
    },
  );

  it('lists 4 makers by default, else as many as the leading digits of the limit say', async () => {
    for (const [limit, count] of [
      ['', 4],
      ['2', 2],
      ['4', 4],
      ['9', 9],
      ['6x', 6],
      ['0', 0],
      ['-3', 0],
      ['100000000000000000000', MAKERS],
    ] as const) {
      expect((await get(`side=bid&limit=${limit}`)).json(), limit).toHaveLength(count);
    }
  });

  it('limit also applies with accounts; beyond one call to the node they are null', async () => {
    const list = (await get('side=bid&limit=120&includeAccounts=true')).json();
    expect(list).toHaveLength(120);
    expect([list[99].accountBase64, list[100].accountBase64]).toEqual(['AAAA', null]);
  });

  it.each(['', 'BID', 'Ask', 'bids'])(
    'refuses a `side` other than `bid` and `ask` with 400, before it reads the limit (%s)',
    async (side) => {
      const answer = await get(`side=${side}&limit=x`);
      expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: side must be either bid or ask']);
    },
  );

  it.each(['x', '%20', '-', 'x4'])('refuses a `limit` without leading digits with 400 (%s)', async (limit) => {
    const answer = await get(`side=bid&limit=${limit}`);
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad Request: limit must be a number if supplied']);
  });

  it('never answers a 5xx', async () => {
    const text = fc.oneof(fc.constantFrom('bid', 'ask', '1', 'true', ''), fc.string({ unit: 'binary', maxLength: 10 }));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (side, limit, includeAccounts) => {
        const query = [side, limit, includeAccounts].map(encodeURIComponent);
        const answer = await get(`side=${query[0]}&limit=${query[1]}&includeAccounts=${query[2]}`);
        expect([200, 400]).toContain(answer.statusCode);
      }),
      { numRuns: 200 },
    );
  });
});
