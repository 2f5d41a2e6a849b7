import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { externalRates, type FundingVenue, readVenues } from './external-funding.ts';

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url !== '/rates') return response.writeHead(500).end();
    return response.end(
      JSON.stringify({
        data: [
          { symbol: 'SOLUSDT', funding: { last: '0.0001' }, at: 1_750_000_000_123 },
          { symbol: 'BTCUSDT', funding: { last: -0.00025 }, at: 1_750_000_001_000 },
          { symbol: 'DOGEUSDT', funding: { last: 1 }, at: 1 },
          { symbol: 'SOLUSDT', funding: {}, at: 1 },
        ],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

const venue = (members: Partial<FundingVenue> = {}): FundingVenue => ({
  venue: 'Elsewhere',
  url: `${url}/rates`,
  records: 'data',
  asset: 'symbol',
  fundingRate: 'funding.last',
  intervalHours: 8,
  ts: 'at',
  assets: { SOLUSDT: 'SOL', BTCUSDT: 'BTC' },
  ...members,
});

describe('funding of other venues', () => {
  it('reads rates from where the file says they stand, in percent', async () => {
    expect(await externalRates([venue()], 5)).toEqual([
      {
        asset: 'BTC',
        venue: 'Elsewhere',
        fundingRate: -0.025,
        intervalHours: 8,
        annualisedPercent: -27.375,
        ts: 1_750_000_001,
      },
      {
        asset: 'SOL',
        venue: 'Elsewhere',
        fundingRate: 0.01,
        intervalHours: 8,
        annualisedPercent: 10.95,
        ts: 1_750_000_000,
      },
    ]);
  });

  it('leaves out a venue that cannot be reached, fails or answers something else', async () => {
    const others = [venue({ url: 'http://127.0.0.1:1' }), venue({ url: `${url}/x` }), venue({ records: 'nowhere' })];
    expect(await externalRates([...others, venue({ venue: 'One', ts: '' })], 5)).toEqual([
      expect.objectContaining({ asset: 'BTC', venue: 'One', ts: 5 }),
      expect.objectContaining({ asset: 'SOL', venue: 'One', ts: 5 }),
    ]);
  });

  it('has no venues without a file, and refuses a file that is no list of them', () => {
    expect(readVenues('')).toEqual([]);
    const dir = mkdtempSync(path.join(tmpdir(), 'slotbook-venues-'));
    const file = path.join(dir, 'venues.json');
    writeFileSync(file, JSON.stringify([venue()]));
    expect(readVenues(file)).toEqual([venue()]);
    writeFileSync(file, JSON.stringify([{ venue: 'x' }]));
    expect(() => readVenues(file)).toThrow('not a list of funding venues');
    rmSync(dir, { recursive: true });
  });
});
