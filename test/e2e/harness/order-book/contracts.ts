// The served contracts beside real processes: REST answers and WebSocket messages of a busy localnet are what they say.

import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Contract, checkedName } from '../../../support/api/contracts.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { type OrderBookRun, SECRET } from './run.ts';

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

export function describeContracts(run: () => OrderBookRun): void {
  describe('the served contracts', () => {
    const base = () => run().server.endpoints.orderbook ?? '';
    beforeAll(() => eventually('books', async () => (await fetch(`${base()}/startup`)).status === 200));

    it('hold for every REST path', async () => {
      const get = (url: string) => fetch(base() + url, { headers: { authorization: SECRET } });
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
          const isValid = validate(type.startsWith('text/') ? body : JSON.parse(body));
          expect([path, query, isValid, validate.errors]).toEqual([path, query, true, null]);
        }
      }
    });

    it('hold for every message of a market', async () => {
      const received = new Set<string>();
      const faults: unknown[] = [];
      const socket = new WebSocket(`${base().replace('http', 'ws')}/ws`);
      socket.on('message', (bytes) => {
        try {
          received.add(checkedName('feed', JSON.parse(bytes.toString()) as Record<string, unknown>));
        } catch (error) {
          faults.push(String(error));
        }
      });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const { markets } = (await (await fetch(`${base()}/quality`)).json()) as {
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
        async () => EXPECTED.every((name) => received.has(name)) || faults.length > 0,
        PATIENCE_MS,
      );
      socket.close();
      expect(faults.slice(0, 3)).toEqual([]);
      expect([...received].filter((name) => !EXPECTED.includes(name))).toEqual([]);
    });
  });
}
