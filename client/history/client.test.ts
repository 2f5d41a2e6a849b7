// Pages, patience, CSV and signatures, against a server in the test.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HistoryClient, type HistoryOptions, RestError } from '../index.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | null = null;
let asked: string[] = [];

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

async function start(answer: Answer, options: Partial<HistoryOptions> = {}): Promise<HistoryClient> {
  asked = [];
  const started = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  return new HistoryClient({ url: `http://127.0.0.1:${port}/`, retry: { minMs: 1, maxMs: 5 }, ...options });
}

const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
const page = (records: readonly object[], nextPage: string | null) => ({ success: true, records, meta: { nextPage } });

describe('pages', () => {
  it('follow the token of each answer to the end', async () => {
    const client = await start((request, response) => {
      const token = new URL(request.url ?? '', 'http://x').searchParams.get('page');
      const number = token === null ? 0 : Number(token.slice(1));
      json(
        response,
        200,
        page(
          [{ fillRecordId: String(number * 2) }, { fillRecordId: String(number * 2 + 1) }],
          number < 2 ? `t${number + 1}` : null,
        ),
      );
    });
    const ids: unknown[] = [];
    for await (const { fillRecordId } of client.records('/market/{symbol}/trades', { symbol: 'SOL-PERP', limit: 2 })) {
      ids.push(fillRecordId);
    }
    expect(ids).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(asked).toEqual([
      'GET /market/SOL-PERP/trades?limit=2',
      'GET /market/SOL-PERP/trades?limit=2&page=t1',
      'GET /market/SOL-PERP/trades?limit=2&page=t2',
    ]);
  });

  it('are not read ahead of their reader', async () => {
    const client = await start((_, response) => json(response, 200, page([{}], 'more')));
    for await (const answer of client.pages('/user/{accountId}/trades', { accountId: 'A' })) {
      expect(answer.records).toHaveLength(1);
      if (asked.length === 2) break;
    }
    expect(asked).toHaveLength(2);
  });

  it('escape what stands in a path, and refuse a missing part', async () => {
    const client = await start((_, response) => json(response, 200, page([], null)));
    await client.get('/market/{symbol}/trades', { symbol: 'A/B ?' });
    expect(asked).toEqual(['GET /market/A%2FB%20%3F/trades']);
    await expect(client.get('/market/{symbol}/trades', {} as { symbol: string })).rejects.toThrow('needs symbol');
  });
});

describe('patience', () => {
  it('sends again after every answer that a repeat can help', async () => {
    const statuses = [503, 429, 500, 408];
    const client = await start((_, response) => {
      const status = statuses.shift();
      if (status === undefined) json(response, 200, page([], null));
      else json(response, status, { error: 'busy' }, { 'retry-after': '0' });
    });
    await client.get('/fundingRates', { symbol: 'SOL-PERP' });
    expect(asked).toHaveLength(5);
  });

  it('gives up after its attempts, and at once when the request is wrong', async () => {
    let status = 503;
    const client = await start((_, response) => json(response, status, { error: 'no', message: 'why' }), {
      retry: { attempts: 3, minMs: 1, maxMs: 2 },
    });
    const failed = await client.get('/fundingRates', { symbol: 'X' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RestError);
    expect([(failed as RestError).status, asked.length]).toEqual([503, 3]);
    status = 400;
    await expect(client.get('/fundingRates', { symbol: 'X' })).rejects.toMatchObject({ status: 400 });
    expect(asked).toHaveLength(4);
  });

  it('sends again when the connection breaks, and stops when it is aborted', async () => {
    let isBroken = true;
    const client = await start((request, response) => {
      if (isBroken) request.socket.destroy();
      else json(response, 200, page([], null));
      isBroken = false;
    });
    await client.get('/fundingRates', { symbol: 'X' });
    expect(asked).toHaveLength(2);
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await expect(client.get('/fundingRates', { symbol: 'X' }, { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('waits as long as the server asks, within its own limit', async () => {
    let isFirst = true;
    const client = await start(
      (_, response) => {
        json(response, isFirst ? 503 : 200, page([], null), { 'retry-after': '3600' });
        isFirst = false;
      },
      { retry: { minMs: 1, maxMs: 40 } },
    );
    const before = performance.now();
    await client.get('/fundingRates', { symbol: 'X' });
    expect(performance.now() - before).toBeGreaterThan(35);
  });
});

describe('CSV', () => {
  it('is read row by row, exact, however the body is cut', async () => {
    const text = 'ts,amount,note\r\n1,18446744073709551615,"a ""b"", c\nd"\n2,-5,é\n3,,';
    const bytes = Buffer.from(text);
    const client = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' });
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    const rows: unknown[] = [];
    const day = { symbol: 'SOL-PERP', year: 2026, month: 11, day: 3 };
    for await (const row of client.csv('/market/{symbol}/trades/{year}/{month}/{day}', day)) rows.push(row);
    expect(rows).toEqual([
      { ts: '1', amount: '18446744073709551615', note: 'a "b", c\nd' },
      { ts: '2', amount: '-5', note: 'é' },
      { ts: '3', amount: '', note: '' },
    ]);
    expect(asked).toEqual(['GET /market/SOL-PERP/trades/2026/11/3?format=csv']);
  });

  it('ends the download when its reader stops', async () => {
    let closed: () => void = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const client = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write('a\n1\n2\n');
      response.on('close', closed);
    });
    const day = { symbol: 'SOL-PERP', year: 2026, month: 11, day: 3 };
    for await (const { a } of client.csv('/market/{symbol}/trades/{year}/{month}/{day}', day)) {
      expect(a).toBe('1');
      break;
    }
    await isClosed;
  });
});

describe('wallet signatures', () => {
  it('are made anew for each attempt, where the contract asks for them', async () => {
    const signatures: unknown[] = [];
    let made = 0;
    const sign: HistoryOptions['sign'] = async ({ method, path }) => {
      made += 1;
      return { 'x-wallet-address': `${method} ${path}`, 'x-signature': `s${made}` };
    };
    const answer: Answer = (request, response) => {
      signatures.push(request.headers['x-signature']);
      json(response, signatures.length === 1 ? 503 : 200, { records: [] });
    };
    const client = await start(answer, { sign });
    await client.get('/authority/{authorityId}/exports', { authorityId: 'W' });
    expect(signatures).toEqual(['s1', 's2']);
    await client.get('/authority/{authorityId}/accounts', { authorityId: 'W' });
    expect(signatures.at(-1)).toBeUndefined();
    const unsigned = await start(answer);
    await expect(unsigned.get('/authority/{authorityId}/exports', { authorityId: 'W' })).rejects.toThrow(
      'pass the option sign',
    );
  });

  it('that the wallet refuses are asked for once, and its error passes through', async () => {
    let count = 0;
    const refusal = new Error('User rejected');
    const sign = async () => {
      count += 1;
      throw refusal;
    };
    const client = await start((_, response) => json(response, 200, { records: [] }), { sign });
    await expect(client.get('/authority/{authorityId}/exports', { authorityId: 'W' })).rejects.toBe(refusal);
    expect([count, asked]).toEqual([1, []]);
  });
});
