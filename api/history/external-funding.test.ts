import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { externalRates, type FundingVenue, readVenues } from './external-funding.ts';

/** Answers in the shapes that the venues of the example file publish. */
const PUBLISHED: Readonly<Record<string, object>> = {
  '/Binance': [
    {
      symbol: 'SOLUSDT',
      markPrice: '150.1',
      lastFundingRate: '0.00010000',
      interestRate: '0.0001',
      time: 1_750_000_001_000,
    },
    { symbol: 'DOGEUSDT', lastFundingRate: '0.1', time: 1 },
  ],
  '/Bybit': {
    retCode: 0,
    result: { category: 'linear', list: [{ symbol: 'SOLUSDT', lastPrice: '150.1', fundingRate: '-0.0003' }] },
    time: 1_750_000_003_000,
  },
  '/Bitget': {
    code: '00000',
    data: [{ symbol: 'SOLUSDT', lastPr: '150.1', fundingRate: '0.0002', ts: '1750000002000' }],
  },
};

/** Values that a venue may give in place of a rate. */
const BLANK = ['', ' ', null, false, [], 'none'];

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const published = PUBLISHED[request.url ?? ''];
    if (published) return response.end(JSON.stringify(published));
    if (request.url === '/blank') {
      return response.end(JSON.stringify(BLANK.map((last) => ({ symbol: 'SOLUSDT', funding: { last }, at: 1 }))));
    }
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
  it('reads rates at the paths of the file, in percent', async () => {
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

  it('leaves out a record without a rate or a time', async () => {
    expect(await externalRates([venue({ url: `${url}/blank`, records: '' })], 5)).toEqual([]);
    const untimed = venue({ url: `${url}/blank`, records: '', fundingRate: 'at', ts: 'funding.last' });
    expect(await externalRates([untimed], 5)).toEqual([]);
  });

  it('makes a year of an interval that is no whole number of hours', async () => {
    const yearly = async (intervalHours: number) =>
      (await externalRates([venue({ intervalHours })], 5)).map(({ annualisedPercent }) => annualisedPercent);
    expect(await yearly(0.5)).toEqual([-438, 175.2]);
    expect(await yearly(2.5)).toEqual([-87.6, 35.04]);
  });

  it('leaves out a venue that is unreachable, fails or answers another shape', async () => {
    const others = [venue({ url: 'http://127.0.0.1:1' }), venue({ url: `${url}/x` }), venue({ records: 'nowhere' })];
    expect(await externalRates([...others, venue({ venue: 'One', ts: '' })], 5)).toEqual([
      expect.objectContaining({ asset: 'BTC', venue: 'One', ts: 5 }),
      expect.objectContaining({ asset: 'SOL', venue: 'One', ts: 5 }),
    ]);
  });

  it('reads the answers of the venues in the example file', async () => {
    const file = new URL('../../examples/funding-venues.json', import.meta.url);
    const venues = readVenues(fileURLToPath(file));
    expect(venues.map((each) => each.venue)).toEqual(['Binance', 'Bybit', 'Bitget']);
    for (const each of venues) expect(new URL(each.url).protocol).toBe('https:');
    const local = venues.map((each) => ({ ...each, url: `${url}/${each.venue}` }));
    const rates = await externalRates(local, 1_750_000_000);
    expect(rates.map(({ asset, venue, fundingRate, ts }) => [asset, venue, fundingRate, ts])).toEqual([
      ['SOL', 'Binance', 0.01, 1_750_000_001],
      ['SOL', 'Bitget', 0.02, 1_750_000_002],
      ['SOL', 'Bybit', -0.03, 1_750_000_000],
    ]);
  });

  it('has no venues without a file, and refuses a file without a list of venues', () => {
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
