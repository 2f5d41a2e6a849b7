import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig, silentLogger } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  loadDefinition,
  type MarketRef,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { feeAccounts } from './keys.ts';
import { FeeProviderError, fetchFees, readAnswers } from './provider.ts';
import { startFees } from './role.ts';

const LEVELS = { min: 0, low: 2, medium: 10_082.5, high: 100_000, veryHigh: 1_200_000, unsafeMax: 5_000_000 };
const DRIFT = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';
const PERP = { marketType: 'perp', marketIndex: 0 } as const;
const SPOT = { marketType: 'spot', marketIndex: 1 } as const;

interface Call {
  readonly id: string;
  readonly method: string;
  readonly params: readonly unknown[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A provider on a free port. `answer` makes the status and body for each batch. */
async function provider(answer: (calls: readonly Call[]) => { status?: number; body: unknown }): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status = 200, body } = answer(JSON.parse(Buffer.concat(chunks).toString()) as Call[]);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answered = (calls: readonly Call[]) => ({
  body: calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: { priorityFeeLevels: LEVELS } })).reverse(),
});
const signal = () => AbortSignal.timeout(5_000);

describe('accounts of a fee request', () => {
  it('are the market for a perp, and the quote market and the market for a spot', () => {
    const keys = feeAccounts(loadDefinition('velocity'));
    expect(keys(PERP)).toEqual(['FDejXbUrSy6zayBCL5xuk2SXLHZgr8ppfFTLcHbyJorY']);
    expect(keys(SPOT)).toEqual([
      '2QpHj5vzgCdWaGM2KSoGtYJWeSkx24cMyzUDHDrucvRc',
      '5MzQRp6hhesVuM3CSAzBfPSNP1WaJyF1ifwkmzcrWLtU',
    ]);
  });

  it('belong to the program of the definition', () => {
    const velocity = loadDefinition('velocity');
    const programs = velocity.programs.map((program) => ({ ...program, programId: DRIFT }));
    const keys = feeAccounts({ ...velocity, programs });
    const perp = (marketIndex: number) => keys({ marketType: 'perp', marketIndex })[0];
    expect([0, 1, 2].map(perp)).toEqual([
      '8UJgxaiQx5nTrdDgph5FiahMmzduuLTLf5WmsPegYA6W',
      '2UZMvVTBQR9yWxrEdzEQzXWE61bUjqQ5VpJAGqVb3B19',
      '25Eax9W8SA3wpCQFhJEGyHhQ2NDHEshZEDzyMNtthR8D',
    ]);
    expect(keys(SPOT)).toEqual([
      '6gMq3mRCKf8aP3ttTyYhuijVZ2LGi14oDsBbkgubfLB3',
      '3x85u7SWkmmr7YQGYhtjARgxwegTLJgkSLRprfXod6rh',
    ]);
  });
});

describe('fee provider', () => {
  const requests = [
    { id: 'perp-0', accountKeys: ['a'] },
    { id: 'spot-1', accountKeys: ['b', 'c'] },
  ];

  it('receives one batch for all markets and may answer in any order', async () => {
    let requested: readonly Call[] = [];
    const url = await provider((calls) => {
      requested = calls;
      return answered(calls);
    });
    const { levels, failures } = await fetchFees(url, requests, signal());
    expect(requested.map(({ id, method, params }) => ({ id, method, params }))).toEqual([
      {
        id: 'perp-0',
        method: 'getPriorityFeeEstimate',
        params: [{ accountKeys: ['a'], options: { includeAllPriorityFeeLevels: true } }],
      },
      {
        id: 'spot-1',
        method: 'getPriorityFeeEstimate',
        params: [{ accountKeys: ['b', 'c'], options: { includeAllPriorityFeeLevels: true } }],
      },
    ]);
    expect([...levels]).toEqual([
      ['perp-0', LEVELS],
      ['spot-1', LEVELS],
    ]);
    expect(failures.size).toBe(0);
  });

  it('may fail for one market and answer for another', () => {
    const { levels, failures } = readAnswers(requests, [
      { id: 'spot-1', result: { priorityFeeLevels: LEVELS } },
      { id: 'perp-0', error: { code: -32000, message: 'no data' } },
    ]);
    expect([...levels.keys()]).toEqual(['spot-1']);
    expect([...failures]).toEqual([['perp-0', 'no data']]);
  });

  it.each([
    ['a level is missing', { ...LEVELS, high: undefined }],
    ['a level is text', { ...LEVELS, high: '1' }],
    ['a level is negative', { ...LEVELS, low: -1 }],
    ['there are no levels', null],
  ])('gives no levels when %s', (_, priorityFeeLevels) => {
    const { levels, failures } = readAnswers(
      [{ id: 'perp-0', accountKeys: [] }],
      [{ id: 'perp-0', result: { priorityFeeLevels } }],
    );
    expect(levels.size).toBe(0);
    expect([...failures.keys()]).toEqual(['perp-0']);
  });

  it.each([
    ['an HTTP error', { status: 503, body: [] }],
    ['no JSON', { body: '<html>' }],
    [
      'an error for the whole batch',
      { body: { jsonrpc: '2.0', id: null, error: { code: 1, message: 'batches are off' } } },
    ],
  ])('throws for %s', async (_, answer) => {
    const url = await provider(() => answer);
    await expect(fetchFees(url, requests, signal())).rejects.toThrow(FeeProviderError);
  });
});

describe('fees role', () => {
  const describeMarket = ({ marketType, marketIndex }: MarketRef) => ({
    key: marketKey({ marketType, marketIndex }),
    value: encodeMessage('MarketView', {
      marketType,
      marketIndex,
      slot: 1,
      symbol: 'X',
      status: 'active',
      tickSize: 1n,
      stepSize: 1n,
      minOrderSize: 1n,
      decimals: 6,
      oraclePrice: null,
      openInterestBase: 0n,
      last24hAvgFundingRate: 0n,
      oracle: null,
      isLoading: false,
    }),
  });
  const written = (log: MemoryLog) =>
    log.all(TOPICS.feeViews).map(({ key, value }) => {
      const message = decodeMessage(value);
      return { key, levels: message.name === 'FeeLevels' ? message.value : null };
    });

  it('writes the levels of every listed market at each poll, changed or not, and continues when the provider fails', async () => {
    let polls = 0;
    const url = await provider((calls) => {
      polls += 1;
      return polls === 2 ? { status: 500, body: [] } : answered(calls);
    });
    const log = new MemoryLog();
    await log.append(TOPICS.marketViews, [describeMarket(PERP), describeMarket(SPOT), describeMarket(PERP)]);
    const config = readConfig({}, { feeProviderUrl: url, feePollingMs: 20 });
    const role = await startFees({ config, log, logger: silentLogger(), metrics: new Registry() });
    await eventually(() => expect(written(log).length).toBeGreaterThanOrEqual(4));
    await role.stop();
    expect(written(log).slice(0, 4)).toMatchObject([
      { key: 'perp-0', levels: { ...PERP, ...LEVELS } },
      { key: 'spot-1', levels: { ...SPOT, ...LEVELS } },
      { key: 'perp-0', levels: { ...PERP, ...LEVELS } },
      { key: 'spot-1', levels: { ...SPOT, ...LEVELS } },
    ]);
    expect(polls).toBeGreaterThanOrEqual(3);
  });

  it('sends nothing without a provider', async () => {
    const log = new MemoryLog();
    await log.append(TOPICS.marketViews, [describeMarket(PERP)]);
    const config = readConfig({}, { source: 'capture', feePollingMs: 100 });
    const role = await startFees({ config, log, logger: silentLogger(), metrics: new Registry() });
    await role.stop();
    expect(written(log)).toEqual([]);
  });
});
