// Heavy clients on real sockets of one server: they get all their answers, and other clients notice nothing.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { diff, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { MESSAGE_RATE } from './limits.ts';
import { type RunningGateway, startGateway } from './server.ts';

const BOOK = 'orderbook_perp_0_grouped_1';

let stage: Stage;
let gateway: RunningGateway;
let clients: FeedClient[] = [];

beforeAll(async () => {
  stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  gateway = await startGateway(stage.context({ bookTickMs: 0 }));
  await untilSlot(487);
});
afterEach(() => {
  for (const { socket } of clients) socket.terminate();
  clients = [];
});
afterAll(() => gateway.stop());

const url = (): string => gateway.endpoints.gateway ?? '';

async function connect(): Promise<FeedClient> {
  const client = await FeedClient.connect(url());
  clients.push(client);
  return client;
}

/** Resolves when a replay has the slot. */
async function untilSlot(slot: number): Promise<void> {
  const probe = await connect();
  await until(async () => {
    probe.subscribe();
    await probe.settle();
    return probe.data<{ slot: number }>(BOOK).at(-1)?.slot === slot;
  });
}

describe('heavy clients', () => {
  it('get no answer to hundreds of messages without valid JSON or `type`', async () => {
    const client = await connect();
    for (let sent = 0; sent < 500; sent += 1) client.send(['hello', '{}', '{"type":"ping"}', '"subscribe"'][sent % 4]);
    await client.settle();
    expect([client.received, client.closed]).toEqual([[], null]);
  });

  it('get an error for each of hundreds of unknown markets and stay connected', async () => {
    const client = await connect();
    for (let sent = 0; sent < 300; sent += 1) client.subscribe({ market: 'NOPE-PERP' });
    await client.settle();
    expect(client.received.filter(({ error }) => error !== undefined)).toHaveLength(300);
    expect(client.closed).toBeNull();
  });

  it('get an acknowledgement and a replay for each of hundreds of repeated subscribes', async () => {
    const client = await connect();
    for (let sent = 0; sent < 500; sent += 1) client.subscribe();
    await client.settle();
    expect(client.received.filter(({ message }) => message !== undefined)).toHaveLength(500);
    expect(client.data(BOOK)).toHaveLength(500);
    expect(client.closed).toBeNull();
  });

  it('get answers as fast as they read, however many large books they request at once', async () => {
    const prices = Array.from({ length: 400 }, (_, index) => ({ price: 90_000_000 - index * 100, dlob: 1n, vamm: 0n }));
    await stage.books(diff(2, 488, { bids: prices }));
    await untilSlot(488);
    const requested = 800;
    let books = 0;
    let closed: number | null = null;
    const socket = new WebSocket(url());
    socket.on('message', (bytes: Buffer) => {
      if (bytes.length > 10_000) books += 1;
    });
    socket.on('close', (code) => {
      closed = code;
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const ask = JSON.stringify({ type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp' });
    for (let sent = 0; sent < requested; sent += 1) socket.send(ask);
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.resume();
    await eventually(() => expect([books, closed]).toEqual([requested, null]));
    socket.terminate();
  });

  it('are closed with 1008 `Too many messages` after thousands of messages, and others notice nothing', async () => {
    const polite = await connect();
    polite.subscribe();
    const flooding = await connect();
    for (let sent = 0; sent < MESSAGE_RATE.burst; sent += 1) flooding.send({ type: 'ping' });
    await until(() => {
      for (let sent = 0; sent < MESSAGE_RATE.perSecond; sent += 1) flooding.send({ type: 'ping' });
      return flooding.closed !== null;
    });
    expect(flooding.closed).toEqual({ code: 1008, reason: 'Too many messages' });
    await polite.settle();
    expect(polite.closed).toBeNull();
  });
});
