// The `book` channel on real sockets: beside the compatible channels, through the REST port, and during a planned stop.

import type { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricTotal, type RunningRole } from '../../../platform/index.ts';
import { FeedClient } from '../../../test/support/api/feed-client.ts';
import { marketView } from '../../../test/support/api/market-views.ts';
import { diff, Stage, snapshot, until } from '../../../test/support/api/stage.ts';
import { startOrderBook } from '../../orderbook/start.ts';
import { MAX_STREAMS } from './limits.ts';

let stage: Stage;
let role: RunningRole;
let metrics: Registry;
const clients: FeedClient[] = [];

beforeEach(async () => {
  stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  const context = stage.context({ bookTickMs: 0 });
  metrics = context.metrics;
  role = await startOrderBook(context);
});

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await role.stop();
});

async function connect(url = role.endpoints.gateway ?? ''): Promise<FeedClient> {
  const client = await FeedClient.connect(url);
  clients.push(client);
  return client;
}

const typesOf = (client: FeedClient): unknown[] =>
  client.received.map((one) => (one as { type?: string }).type ?? ('diff' in (one as object) ? 'diff' : undefined));

describe('the book channel on the gateway', () => {
  it('leaves the messages of the compatible channels as they are', async () => {
    const client = await connect();
    client.subscribe({ channel: 'Book' });
    client.subscribe();
    await until(() => client.received.length >= 4);
    await stage.books(diff(2, 488));
    await until(() => client.received.length >= 6);
    expect(client.received.filter((one) => typesOf(client)[client.received.indexOf(one)] === undefined)).toEqual([
      { message: 'Subscribe received for channel: orderbook, market: SOL-PERP, marketType: perp' },
      { channel: 'orderbook_perp_0_grouped_1', data: expect.any(String) },
      { channel: 'orderbook_perp_0_grouped_1', data: expect.any(String) },
    ]);
    expect(typesOf(client).filter((type) => type !== undefined)).toEqual(['subscribed', 'snapshot', 'diff']);
  });

  it('keeps the connection after a refused request', async () => {
    const client = await connect();
    client.subscribe({ channel: 'book', depth: -1 });
    await client.settle();
    expect(client.received).toMatchObject([{ channel: 'book', error: expect.stringContaining('depth') }]);
    expect(client.closed).toBeNull();
  });

  it('accepts a resume of the most streams, with the longest names and numbers', async () => {
    const held = { epoch: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };
    const streams = Array.from({ length: MAX_STREAMS }, (_, index) => `perp_${65_535 - index}_l3_d1000_c1000_k100`);
    const client = await connect();
    const resume = Object.fromEntries(streams.map((stream) => [stream, held]));
    client.subscribe({
      channel: 'book',
      market: '*',
      depth: 1000,
      conflation: 1000,
      checksum: 100,
      level: 'l3',
      resume,
    });
    await until(() => typesOf(client).includes('snapshot'));
    expect(client.closed).toBeNull();
  });

  it('starts further streams when the client has read the ones before', async () => {
    const size = 2n ** 62n;
    const levels = (first: number, step: number) =>
      Array.from({ length: 800 }, (_, index) => ({ price: first + step * index, dlob: size, vamm: size }));
    const sides = { bids: levels(81_000_000, -1), asks: levels(81_100_000, 1) };
    const indexes = Array.from({ length: 40 }, (_, index) => 100 + index);
    await stage.markets(indexes.map((marketIndex) => marketView({ marketIndex, symbol: `M${marketIndex}-PERP` })));
    await stage.books(...indexes.map((marketIndex) => snapshot({ marketIndex, ...sides })));
    for (const marketIndex of indexes) {
      const l2 = `${role.endpoints.orderbook}/l2?depth=1&marketType=perp&marketIndex=${marketIndex}`;
      await until(async () => (await (await fetch(l2)).text()).includes('"price":"81000000"'));
    }
    const client = await connect();
    const snapshots = () => typesOf(client).filter((type) => type === 'snapshot').length;
    client.socket.pause();
    client.subscribe({ channel: 'book', market: '*' });
    await until(async () => (await metricTotal(metrics, 'slotbook_feed_streams')) > indexes.length);
    // The kernel buffers less than all for a client that does not read.
    expect(await metricTotal(metrics, 'slotbook_feed_renderings_total')).toBeLessThan(indexes.length);
    client.socket.resume();
    await until(() => snapshots() > indexes.length);
    expect(client.closed).toBeNull();
  });

  it('announces a planned stop and closes with 1012, on both ports; other connections are dropped', async () => {
    const rest = `${(role.endpoints.orderbook ?? '').replace('http', 'ws')}/ws`;
    const users = [await connect(), await connect(rest)];
    const other = await connect();
    other.subscribe();
    for (const user of users) user.subscribe({ channel: 'book' });
    await until(() => users.every(({ received }) => received.length >= 2));
    await role.stop();
    await until(() => [...users, other].every(({ closed }) => closed !== null));
    for (const { received, closed } of users) {
      expect(received.at(-1)).toEqual({ channel: 'server', type: 'serverShutdown', closesInMs: 500 });
      expect(closed).toEqual({ code: 1012, reason: 'Service restart' });
    }
    expect(other.closed?.code).toBe(1006);
    expect(typesOf(other)).not.toContain('serverShutdown');
  });
});
