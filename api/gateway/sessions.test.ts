// Rates shared by many connections, and closed connections. Sockets are fakes and the clock does not move.

import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { MarketRegistry } from '../views/registry.ts';
import type { BookChannels } from './book-channels.ts';
import type { SocketData } from './connection.ts';
import { Fanout } from './fanout.ts';
import type { Feeds } from './feed/feeds.ts';
import { Heartbeat } from './heartbeat.ts';
import { MALFORMED_RATE, MALFORMED_RATE_SHARED, MESSAGE_RATE, REGISTRY_WAIT_MS } from './limits.ts';
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
    feeds: { closed: () => {}, channel: () => ({ request: () => {} }) } as unknown as Feeds,
    heartbeat: new Heartbeat(),
    metrics: gatewayMetrics(new Registry()),
  });
});

afterEach(() => {
  sessions.dropAll();
  vi.useRealTimers();
});

function connect(): Client {
  const data: SocketData = {};
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

it('a single client that sends thousands of malformed messages stays connected', () => {
  const client = connect();
  client.say('hello', MESSAGE_RATE.burst);
  expect(client.closed).toBeNull();
  client.say('hello');
  expect(client.closed).toBe(1008);
});

it('malformed messages beyond the shared rate close their senders and nobody else', () => {
  const flood = Array.from(
    { length: MALFORMED_RATE_SHARED.burst / (MESSAGE_RATE.burst - MALFORMED_RATE.burst) + 1 },
    connect,
  );
  for (const one of flood) one.say('{}', MESSAGE_RATE.burst);
  expect(flood.at(-1)?.closed).toBe(1008);
  const other = connect();
  other.say('{}', MALFORMED_RATE.burst);
  expect(other.closed).toBeNull();
  other.say('{}');
  expect(other.closed).toBe(1008);
});

it('held messages of a connection that one of them closed subscribe nothing', () => {
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

it('a client that opens after all were dropped is dropped too', () => {
  const early = connect();
  sessions.dropAll();
  const late = connect();
  expect([early.closed, late.closed]).toEqual([1006, 1006]);
});
