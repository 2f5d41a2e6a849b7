// What many connections together may say, and what becomes of those that are gone; sockets are fakes, the clock stands still.

import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MARKETS } from '../testing/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import type { BookChannels } from './book-channels.ts';
import type { SocketData } from './connection.ts';
import { Fanout } from './fanout.ts';
import type { BookFeed } from './feed/feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { FLOOD, NOISE, NOISE_OF_ALL, REGISTRY_WAIT_MS } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { Sessions } from './sessions.ts';

interface Client {
  say(message: unknown, times?: number): void;
  closed: number | null;
}

let fanout: Fanout;
let markets: MarketRegistry;
let sessions: Sessions;

beforeEach(() => {
  vi.useFakeTimers();
  fanout = new Fanout();
  markets = new MarketRegistry();
  sessions = new Sessions({
    markets,
    fanout,
    books: { replay: () => null } as unknown as BookChannels,
    feed: { closed: () => {}, request: () => {} } as unknown as BookFeed,
    heartbeat: new Heartbeat(),
    metrics: gatewayMetrics(new Registry()),
  });
});

afterEach(() => {
  sessions.dropAll();
  vi.useRealTimers();
});

function connect(): Client {
  const data: SocketData = { connection: null };
  const client: Client = {
    closed: null,
    say: (message, times = 1) => {
      const bytes = new TextEncoder().encode(typeof message === 'string' ? message : JSON.stringify(message));
      for (let said = 0; said < times && client.closed === null; said += 1) sessions.message(socket, bytes.buffer);
    },
  };
  const end = (code = 1006): void => {
    client.closed = code;
    sessions.closed(socket);
  };
  const socket = {
    getUserData: () => data,
    getBufferedAmount: () => 0,
    send: () => 1,
    cork: (write: () => void) => write(),
    end,
    close: end,
  } as unknown as WebSocket<SocketData>;
  sessions.open(socket);
  return client;
}

it('noise of one client, thousands at once, does not close it', () => {
  const client = connect();
  client.say('hello', FLOOD.burst);
  expect(client.closed).toBeNull();
  client.say('hello');
  expect(client.closed).toBe(1008);
});

it('noise closes whoever goes on with it while all clients together send too much, and nobody else', () => {
  const flood = Array.from({ length: NOISE_OF_ALL.burst / (FLOOD.burst - NOISE.burst) + 1 }, connect);
  for (const one of flood) one.say('{}', FLOOD.burst);
  expect(flood.at(-1)?.closed).toBe(1008);
  const other = connect();
  other.say('{}', NOISE.burst);
  expect(other.closed).toBeNull();
  other.say('{}');
  expect(other.closed).toBe(1008);
});

it('what a connection said early registers nothing once one of its messages ended it', () => {
  const subscribe = { type: 'subscribe', channel: 'trades', market: 'SOL-PERP', marketType: 'perp' };
  const client = connect();
  client.say(subscribe);
  client.say({ ...subscribe, channel: 'candles' });
  client.say({ ...subscribe, channel: 'orderbook' });
  const other = connect();
  other.say({ ...subscribe, channel: 'priorityfees' });
  for (const view of MARKETS) markets.put(view);
  vi.advanceTimersByTime(REGISTRY_WAIT_MS);
  expect(client.closed).toBe(1003);
  const names = ['trades_perp_0', 'orderbook_perp_0_grouped_1', 'priorityFees_perp_0'];
  expect(names.map((name) => fanout.has(name))).toEqual([false, false, true]);
});
