import type { WebSocket } from 'uWebSockets.js';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QUOTE_ERRORS } from '../errors.ts';
import { FakeLog } from '../testing/fake-log.ts';
import { MARKETS } from '../testing/market-views.ts';
import { quoteOf, TestKey } from '../testing/quote-maker.ts';
import { MarketRegistry } from '../views/registry.ts';
import {
  AUTH_TIMEOUT_MS,
  MAX_QUOTE_CONNECTIONS,
  MAX_UNREAD_BYTES,
  MESSAGE_BURST,
  MESSAGES_PER_SECOND,
  QUOTE_HEARTBEAT_MS,
  SWEEP_MS,
} from './limits.ts';
import type { MakerSocketData } from './maker-connection.ts';
import { Makers } from './makers.ts';
import { quoteMetrics } from './metrics.ts';
import { QuoteWriter } from './writer.ts';

/** What uWebSockets.js gives, as far as connections use it. */
class FakeSocket {
  readonly heard: Record<string, unknown>[] = [];
  readonly key = new TestKey();
  closed: string | null = null;
  unread = 0;
  readonly #data: MakerSocketData = { maker: this.key.bytes, name: this.key.name, connection: null };

  getUserData(): MakerSocketData {
    return this.#data;
  }
  getBufferedAmount(): number {
    return this.unread;
  }
  send(text: string): void {
    this.heard.push(JSON.parse(text) as Record<string, unknown>);
  }
  end(_code: number, reason: string): void {
    this.#leave(reason);
  }
  close(): void {
    this.#leave('');
  }
  #leave(reason: string): void {
    this.closed = reason;
    makers.closed(asSocket(this));
  }
}

const asSocket = (socket: FakeSocket) => socket as unknown as WebSocket<MakerSocketData>;

let makers: Makers;
let hasRoom: boolean;
let log: FakeLog;

function say(socket: FakeSocket, message: unknown): void {
  const text = Buffer.from(JSON.stringify(message));
  makers.message(
    asSocket(socket),
    text.buffer.slice(text.byteOffset, text.byteOffset + text.byteLength) as ArrayBuffer,
  );
}

function connect(): FakeSocket {
  const socket = new FakeSocket();
  makers.open(asSocket(socket));
  return socket;
}

function authenticated(): FakeSocket {
  const socket = connect();
  say(socket, { pubkey: socket.key.name, signature: socket.key.sign(String(socket.heard[0]?.nonce)) });
  return socket;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  log = new FakeLog();
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  const clock = () => 1_783_268_433_645;
  const writer = new QuoteWriter({ log, logger: pino({ level: 'silent' }), clock });
  hasRoom = true;
  makers = new Makers({ markets, writer, hasRoom: () => hasRoom, metrics: quoteMetrics(new Registry()), clock });
});

afterEach(() => {
  makers.dropAll();
  vi.useRealTimers();
});

describe('connections of makers', () => {
  it('are closed when they do not prove their key in time', () => {
    const [silent, proved] = [connect(), authenticated()];
    vi.advanceTimersByTime(AUTH_TIMEOUT_MS - SWEEP_MS);
    expect(silent.closed).toBeNull();
    vi.advanceTimersByTime(SWEEP_MS);
    expect([silent.closed, proved.closed]).toEqual(['Authentication timeout', null]);
  });

  it('hear something well within 60 s, also when nothing happens', () => {
    const socket = authenticated();
    vi.advanceTimersByTime(QUOTE_HEARTBEAT_MS * 4);
    const beats = socket.heard.filter(({ channel }) => channel === 'heartbeat');
    expect(beats).toHaveLength(4);
  });

  it('that do not read are closed', () => {
    const socket = authenticated();
    socket.unread = MAX_UNREAD_BYTES + 1;
    say(socket, 'x');
    expect(socket.closed).toBe('Buffer overflow');
  });

  it('may send at their rate for as long as they like', () => {
    const socket = authenticated();
    for (let second = 0; second < 20; second += 1) {
      vi.advanceTimersByTime(1000);
      for (let sent = 0; sent < MESSAGES_PER_SECOND; sent += 1) {
        say(socket, { market_index: 0, market_type: 'perp', quotes: [quoteOf(['1', '1'])] });
      }
    }
    expect(socket.closed).toBeNull();
    for (let sent = 0; sent <= MESSAGE_BURST; sent += 1) say(socket, []);
    expect(socket.closed).toBe('Too many messages');
  });

  it('are told when the market has no room for their quotes, and may still withdraw', () => {
    const socket = authenticated();
    hasRoom = false;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [quoteOf(['1', '1'])] });
    expect(socket.heard.at(-1)).toEqual({ channel: 'quotes', error: QUOTE_ERRORS.full });
    const { length } = socket.heard;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [] });
    hasRoom = true;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [quoteOf(['1', '1'])] });
    expect([socket.heard.length, socket.closed]).toEqual([length, null]);
  });

  it('make room for others until they proved their key', () => {
    const first = connect();
    const second = connect();
    for (let open = 2; open < MAX_QUOTE_CONNECTIONS; open += 1) authenticated();
    expect([makers.admits(), first.closed, second.closed]).toEqual([true, 'Authentication timeout', null]);
    connect();
    expect([makers.admits(), second.closed]).toEqual([true, 'Authentication timeout']);
    authenticated();
    makers.dropAll();
    for (let open = 0; open < MAX_QUOTE_CONNECTIONS; open += 1) authenticated();
    expect(makers.admits()).toBe(false);
  });
});
