// The served contracts beside real processes: REST answers and WebSocket messages of a busy localnet are what they say.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Contract, heardName } from '../../api/testing/contracts.ts';
import { eventually, type Running, startCluster, startRoles, temporaryDirectory } from './harness/processes.ts';

const PATIENCE_MS = 40_000;
/** Messages that the markets of the localnet bring, and all of those that well-formed requests can bring. */
const EXPECTED = [
  'acknowledgement',
  'bookDiff',
  'bookHeartbeat',
  'bookSnapshotL2',
  'bookSnapshotL3',
  'bookSubscribed',
  'heartbeat',
  'orderbook',
  'orderbookIndicative',
  'priorityFees',
  'trades',
];

interface Document {
  readonly paths: Readonly<Record<string, object>>;
}

describe('the served contracts', () => {
  const { dir, remove } = temporaryDirectory();
  const started: Running[] = [];
  let server: Running;

  beforeAll(async () => {
    const cluster = await startCluster({ seed: 5, speed: 4, accounts: 120 });
    started.push(cluster);
    const settings = { DATA_DIR: dir, RPC_URL: cluster.rpcUrl, RPC_WS_URL: cluster.wsUrl, INTERNAL_SECRET: 'x' };
    const roles = ['ingest', 'book', 'trades', 'fees', 'rankings', 'fillQuality'] as const;
    started.push(await startRoles(roles, { ...settings, FEE_POLLING_MS: 500 }));
    server = await startRoles(['orderbook'], settings);
    started.push(server);
    const startup = async () => (await fetch(`${server.endpoints.orderbook}/startup`)).status === 200;
    await eventually('books', startup);
  });
  afterAll(async () => {
    for (const role of started.reverse()) await role.stop();
    remove();
  });

  it('hold for every REST path', async () => {
    const get = (url: string) => fetch(server.endpoints.orderbook + url, { headers: { authorization: 'x' } });
    await eventually('fees', async () => (await get('/priorityFees?marketType=perp&marketIndex=0')).status === 200);
    const document = (await (await get('/openapi.json')).json()) as Document;
    const contract = new Contract(document);
    const { slot } = (await (await get('/l2?marketIndex=0&marketType=perp')).json()) as { slot: number };
    const one = 'marketIndex=0&marketType=perp';
    const order = `${one}&direction=long&amount=1000000000&assetType=base&side=bid&feedIds=6,7&includeIndicative=true`;
    for (const path of Object.keys(document.paths)) {
      for (const query of [one, order, `${one}&includeAccounts=true&side=ask`, `${one}&slot=${slot}`]) {
        const answer = await get(`${path}?${query}`);
        const body = await answer.text();
        const type = String(answer.headers.get('content-type')).split(';', 1)[0] ?? '';
        const place = ['paths', path, 'get', 'responses', String(answer.status), 'content', type, 'schema'];
        const validate = contract.validator(...place);
        const isValid = validate(type === 'text/plain' ? body : JSON.parse(body));
        expect([path, query, isValid, validate.errors]).toEqual([path, query, true, null]);
      }
    }
  });

  it('hold for every message of a market', async () => {
    const heard = new Set<string>();
    const faults: unknown[] = [];
    const socket = new WebSocket(`${server.endpoints.orderbook?.replace('http', 'ws')}/ws`);
    socket.on('message', (bytes) => {
      try {
        heard.add(heardName('feed', JSON.parse(bytes.toString()) as Record<string, unknown>));
      } catch (error) {
        faults.push(String(error));
      }
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const { markets } = (await (await fetch(`${server.endpoints.orderbook}/quality`)).json()) as {
      markets: { marketName: string; marketType: string }[];
    };
    for (const { marketName: market, marketType } of markets) {
      for (const channel of ['orderbook', 'orderbook_indicative', 'trades', 'priorityfees']) {
        socket.send(JSON.stringify({ type: 'subscribe', channel, market, marketType, grouping: 10 }));
      }
    }
    for (const level of ['l2', 'l3']) {
      socket.send(JSON.stringify({ type: 'subscribe', channel: 'book', market: '*', level, checksum: true }));
    }
    await eventually(
      'every message',
      async () => EXPECTED.every((name) => heard.has(name)) || faults.length > 0,
      PATIENCE_MS,
    );
    socket.close();
    expect(faults.slice(0, 3)).toEqual([]);
    expect([...heard].filter((name) => !EXPECTED.includes(name))).toEqual([]);
  });
});
