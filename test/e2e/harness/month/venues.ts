// Configured venues with funding rates of their own, and vaults. One venue answers, one answers in another shape, one fails, one
// does not exist.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Settings } from '../../../support/processes/processes.ts';
import { compared, type StatsCheck, type StatsResult } from './answers.ts';
import { getJson } from './paging.ts';

const TIME = 1_790_000_000;
const VAULTS = [{ name: 'One', vault: 'So11111111111111111111111111111111111111112', feeBps: 30 }, { name: 'Two' }];
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/first': {
    data: {
      rows: [
        { name: 'SOLUSDT', rate: '0.0001', at: TIME * 1000 + 7 },
        { name: 'BTCUSDT', rate: '-0.00025', at: TIME },
        { name: 'ODDUSDT', rate: '0.5', at: TIME },
        { name: 'ETHUSDT', rate: 'unknown', at: TIME },
      ],
    },
  },
  '/second': [{ coin: 'SOL', funding: 0.0000125, time: TIME + 1 }],
};
/** Percent per interval, and of a year of 8,760 hours. */
const EXPECTED = [
  { asset: 'BTC', venue: 'first', fundingRate: -0.025, intervalHours: 8, annualisedPercent: -27.375, ts: TIME },
  { asset: 'SOL', venue: 'first', fundingRate: 0.01, intervalHours: 8, annualisedPercent: 10.95, ts: TIME },
  { asset: 'SOL', venue: 'second', fundingRate: 0.00125, intervalHours: 1, annualisedPercent: 10.95, ts: TIME + 1 },
];

export interface Venues {
  readonly settings: Settings;
  stop(): Promise<void>;
}

export async function startVenues(dir: string): Promise<Venues> {
  const server = createServer(({ url = '' }, answer) => {
    const body = ANSWERS[url];
    answer.writeHead(body === undefined ? 500 : 200, { 'content-type': 'application/json' });
    answer.end(JSON.stringify(body ?? {}));
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const nested = { records: 'data.rows', asset: 'name', fundingRate: 'rate', intervalHours: 8, ts: 'at' };
  const assets = { SOLUSDT: 'SOL', BTCUSDT: 'BTC', ETHUSDT: 'ETH' };
  const venues = [
    {
      venue: 'second',
      url: `${base}/second`,
      records: '',
      asset: 'coin',
      fundingRate: 'funding',
      intervalHours: 1,
      ts: 'time',
    },
    { venue: 'first', url: `${base}/first`, ...nested, assets },
    { venue: 'broken', url: `${base}/broken`, ...nested },
    { venue: 'absent', url: 'http://127.0.0.1:9/', ...nested },
  ];
  const [venuesPath, vaultsPath] = [path.join(dir, 'venues.json'), path.join(dir, 'vaults.json')];
  writeFileSync(venuesPath, JSON.stringify(venues));
  writeFileSync(vaultsPath, JSON.stringify(VAULTS));
  return {
    settings: { FUNDING_VENUES_PATH: venuesPath, VAULTS_PATH: vaultsPath },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function venueChecks(): readonly StatsCheck[] {
  return [
    { endpoint: '/stats/fundingRates/external', run: external },
    { endpoint: '/vaults', run: async (base) => compared(VAULTS, await getJson(`${base}/vaults`), 1) },
  ];
}

async function external(base: string): Promise<StatsResult> {
  return compared({ success: true, records: EXPECTED }, await getJson(`${base}/stats/fundingRates/external`), 1);
}
