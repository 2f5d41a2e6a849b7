import type { WebSocket } from 'uWebSockets.js';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { MARKETS } from '../../../test/support/api/market-views.ts';
import { quoteOf, TestKey } from '../../../test/support/api/quote-maker.ts';
import { QUOTE_ERRORS } from '../../http/errors.ts';
import { MarketRegistry } from '../../views/registry.ts';
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

/** The part of a uWebSockets.js socket that connections use. */
class FakeSocket {
  readonly received: Record<string, unknown>[] = [];
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
    this.received.push(JSON.parse(text) as Record<string, unknown>);
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
  say(socket, { pubkey: socket.key.name, signature: socket.key.sign(String(socket.received[0]?.nonce)) });
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
  it('are closed when they do not authenticate in time', () => {
    const [silent, proved] = [connect(), authenticated()];
    vi.advanceTimersByTime(AUTH_TIMEOUT_MS - SWEEP_MS);
    expect(silent.closed).toBeNull();
    vi.advanceTimersByTime(SWEEP_MS);
    expect([silent.closed, proved.closed]).toEqual(['Authentication timeout', null]);
  });

  it('get a heartbeat well within 60 s of silence', () => {
    const socket = authenticated();
    vi.advanceTimersByTime(QUOTE_HEARTBEAT_MS * 4);
    const beats = socket.received.filter(({ channel }) => channel === 'heartbeat');
    expect(beats).toHaveLength(4);
  });

  it('that do not read are closed', () => {
    const socket = authenticated();
    socket.unread = MAX_UNREAD_BYTES + 1;
    say(socket, 'x');
    expect(socket.closed).toBe('Buffer overflow');
  });

  it('may send at their rate for any length of time', () => {
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

  it('get an error when the market is full, and may still withdraw', () => {
    const socket = authenticated();
    hasRoom = false;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [quoteOf(['1', '1'])] });
    expect(socket.received.at(-1)).toEqual({ channel: 'quotes', error: QUOTE_ERRORS.full });
    const { length } = socket.received;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [] });
    hasRoom = true;
    say(socket, { market_index: 0, market_type: 'perp', quotes: [quoteOf(['1', '1'])] });
    expect([socket.received.length, socket.closed]).toEqual([length, null]);
  });

  it('get an acknowledgement of every message with an id, and of no other, once its quotes are in the log', async () => {
    const socket = authenticated();
    const { length } = socket.received;
    const answers = () => socket.received.slice(length);
    const market = { market_index: 0, market_type: 'perp' };
    say(socket, { ...market, quotes: [quoteOf(['1', '1'])] });
    await vi.advanceTimersByTimeAsync(1);
    expect(answers()).toEqual([]);
    say(socket, { ...market, id: 7, quotes: [quoteOf(['1', '1']), quoteOf(['2', '1'])] });
    expect(answers()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(answers()).toEqual([{ channel: 'quotes', accepted: 2, id: 7 }]);
    say(socket, { ...market, id: 'withdrawn', quotes: [] });
    say(socket, { ...market, id: 'cut', quotes: [quoteOf(['1', '1']), quoteOf(['x', '1'])] });
    say(socket, { ...market, id: 'spot', market_type: 'spot', quotes: [] });
    await vi.advanceTimersByTimeAsync(1);
    expect(answers().slice(1)).toEqual([
      { channel: 'quotes', error: QUOTE_ERRORS.superseded, id: 'withdrawn' },
      { channel: 'quotes', error: QUOTE_ERRORS.malformedQuote, id: 'cut', quote: 1 },
      { channel: 'quotes', error: QUOTE_ERRORS.marketTypeUnknown, id: 'spot' },
      { channel: 'quotes', accepted: 1, id: 'cut' },
    ]);
  });

  it('make room for others until they have authenticated', () => {
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
