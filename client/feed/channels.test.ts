// The compatible channels: second parse, slot order, subscriptions after a reconnect, silence, slow readers.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScriptedSocket } from '../../test/support/client/scripted-socket.ts';
import { type ConnectionOptions, FeedClient, type Trade } from '../index.ts';

const book = (marketName: string, slot: number) => ({ marketName, marketType: 'perp', slot, bids: [], asks: [] });
const trade = (marketIndex: number, fillRecordId: number) => ({
  marketIndex,
  marketType: 'perp',
  fillRecordId,
  slot: 5,
});

let sockets: ScriptedSocket[] = [];
let client: FeedClient;

const newest = (): ScriptedSocket => sockets.at(-1) ?? new ScriptedSocket();

function start(options: Partial<ConnectionOptions> = {}): void {
  client = new FeedClient({
    url: 'ws://server/ws',
    open: () => {
      const socket = new ScriptedSocket();
      sockets.push(socket);
      return socket;
    },
    ...options,
  });
}

/** Answers every subscribe of the newest socket in order, as the gateway does: only one market is known. */
function answer(known: string): void {
  for (const { type, channel, market, marketType } of [...newest().sent]) {
    if (type !== 'subscribe') continue;
    const message = `Subscribe received for channel: ${channel}, market: ${market}, marketType: ${marketType}`;
    newest().say(market === known ? { message } : { channel, error: 'Error subscribing to channel' });
  }
}

/** Milliseconds from a loss to the next socket. */
async function waitAfterDrop(code?: number): Promise<number> {
  const before = { at: Date.now(), sockets: sockets.length };
  newest().drop(code);
  while (sockets.length === before.sockets) await vi.advanceTimersByTimeAsync(5);
  return Date.now() - before.at;
}

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  start();
});
afterEach(() => {
  client.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('books of the compatible channel', () => {
  it('parses the data a second time, whether it is text or not', () => {
    const slots: number[] = [];
    client.orderbook({ market: 'sol-perp', grouping: 10 }).on('data', ({ slot }) => slots.push(slot));
    newest().open();
    expect(newest().sent).toEqual([
      { type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp', grouping: 10 },
    ]);
    newest().data('orderbook_perp_0_grouped_10', book('SOL-PERP', 7));
    newest().say({ channel: 'orderbook_perp_0_grouped_10', data: book('SOL-PERP', 8) });
    expect(slots).toEqual([7, 8]);
  });

  it('drops a book of an earlier slot, and keeps groupings and indicative books apart', () => {
    const plain = client.orderbook({ market: 'SOL-PERP' });
    const indicative = client.orderbook({ market: 'SOL-PERP', indicative: true });
    newest().open();
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 9));
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 8));
    newest().data('orderbook_perp_0_grouped_1_indicative', book('SOL-PERP', 3));
    newest().data('orderbook_perp_0_grouped_100', book('SOL-PERP', 99));
    expect([plain.latest?.slot, indicative.latest?.slot]).toEqual([9, 3]);
  });

  it('drops a book of a market that was left, which the server sent before it knew', () => {
    const left = client.orderbook({ market: 'SOL-PERP' });
    newest().open();
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 9));
    left.close();
    const books = client.orderbook({ market: 'BTC-PERP' });
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 10));
    expect(books.latest).toBeNull();
    newest().data('orderbook_perp_1_grouped_1', book('BTC-PERP', 3));
    expect(books.latest?.slot).toBe(3);
  });

  it('gives a slow reader only the newest book', async () => {
    const books = client.orderbook({ market: 'SOL-PERP' });
    newest().open();
    const reader = books[Symbol.asyncIterator]();
    const first = reader.next();
    for (let slot = 1; slot <= 50; slot += 1) newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', slot));
    expect((await first).value?.slot).toBe(50);
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 51));
    expect((await reader.next()).value?.slot).toBe(51);
  });

  it('survives frames that are no JSON', () => {
    const books = client.orderbook({ market: 'SOL-PERP' });
    newest().open();
    for (const frame of ['', '{', '[]', '7', '{"channel":7}', '{"channel":"orderbook_perp_0_grouped_1","data":"{"}']) {
      newest().say(frame);
    }
    expect(books.latest).toBeNull();
  });
});

describe('trades', () => {
  it('go to their market, whose index the client learns from a short book', () => {
    const seen: [string, number | string][] = [];
    for (const market of ['SOL-PERP', 'BTC-PERP']) {
      client.trades({ market }).on('data', ({ fillRecordId }) => seen.push([market, fillRecordId]));
    }
    newest().open();
    const probe = { channel: 'orderbook', marketType: 'perp', grouping: 1000 };
    expect(newest().sent.filter(({ channel }) => channel === 'orderbook')).toEqual([
      { ...probe, type: 'subscribe', market: 'SOL-PERP' },
      { ...probe, type: 'subscribe', market: 'BTC-PERP' },
    ]);
    newest().data('trades_perp_1', trade(1, 10));
    newest().data('orderbook_perp_1_grouped_1000', book('BTC-PERP', 4));
    newest().data('orderbook_perp_0_grouped_1000', book('SOL-PERP', 4));
    newest().data('trades_perp_0', trade(0, 11));
    newest().data('trades_perp_1', trade(1, 12));
    expect(seen).toEqual([
      ['BTC-PERP', 10],
      ['SOL-PERP', 11],
      ['BTC-PERP', 12],
    ]);
    expect(newest().sent.filter(({ type }) => type === 'unsubscribe')).toHaveLength(2);
  });

  it('of a market that was left are dropped, and its short books end', () => {
    const [left, early] = [client.trades({ market: 'SOL-PERP' }), client.trades({ market: 'ETH-PERP' })];
    newest().open();
    early.close();
    newest().data('orderbook_perp_0_grouped_1000', book('SOL-PERP', 4));
    newest().data('orderbook_perp_2_grouped_1000', book('ETH-PERP', 4));
    const ended = newest().sent.filter(({ type, channel }) => type === 'unsubscribe' && channel === 'orderbook');
    expect(ended.map(({ market }) => market)).toEqual(['SOL-PERP', 'ETH-PERP']);
    left.close();
    const trades = client.trades({ market: 'BTC-PERP' });
    for (const index of [0, 2]) newest().data(`trades_perp_${index}`, trade(index, 10));
    expect(trades.latest).toBeNull();
    newest().data('trades_perp_1', trade(1, 11));
    expect(trades.latest?.fillRecordId).toBe(11);
  });

  it('wait for a slow reader, the newest ten thousand of them', async () => {
    const trades = client.trades({ market: 'SOL-PERP' });
    newest().open();
    const reader = trades[Symbol.asyncIterator]();
    const first = reader.next();
    for (let id = 0; id < 10_100; id += 1) newest().data('trades_perp_0', trade(0, id));
    const ids = [((await first).value as Trade).fillRecordId, ((await reader.next()).value as Trade).fillRecordId];
    expect(ids).toEqual([100, 101]);
    expect(trades.missed).toBe(100);
    trades.close();
    expect((await reader.next()).done).toBe(true);
  });
});

describe('the connection', () => {
  it('restores every subscription after a loss, and says so', async () => {
    const reasons: string[] = [];
    client.orderbook({ market: 'SOL-PERP' }).on('stale', ({ reason }) => reasons.push(reason));
    client.priorityFees({ market: 'SOL', marketType: 'spot' });
    const closed = client.orderbook({ market: 'BTC-PERP' });
    newest().open();
    closed.close();
    newest().drop();
    expect(reasons).toEqual(['disconnected']);
    await vi.advanceTimersByTimeAsync(1000);
    newest().open();
    expect(sockets).toHaveLength(2);
    const named = newest().sent.map(({ type, channel, market }) => `${type} ${channel} ${market}`);
    expect(named).toEqual(['subscribe orderbook SOL-PERP', 'subscribe orderbook SOL', 'subscribe priorityfees SOL']);
  });

  it('goes on when a listener fails, and reports the error', async () => {
    const reported: (() => void)[] = [];
    vi.stubGlobal('queueMicrotask', (report: () => void) => reported.push(report));
    const fail = () => {
      throw new Error('of the user');
    };
    const books = client.orderbook({ market: 'SOL-PERP' });
    const slots: number[] = [];
    for (const name of ['data', 'stale'] as const) books.on(name, fail);
    books.on('data', ({ slot }) => slots.push(slot));
    const read = books[Symbol.asyncIterator]().next();
    newest().open();
    newest().data('orderbook_perp_0_grouped_1', book('SOL-PERP', 7));
    expect(slots).toEqual([7]);
    expect((await read).value?.slot).toBe(7);
    newest().drop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sockets).toHaveLength(2);
    expect(reported).toHaveLength(2);
    for (const report of reported) expect(report).toThrow('of the user');
  });

  it('opens a new socket after silence, and not while heartbeats arrive', async () => {
    client.orderbook({ market: 'SOL-PERP' });
    newest().open();
    for (let beat = 0; beat < 10; beat += 1) {
      await vi.advanceTimersByTimeAsync(5000);
      newest().say({ channel: 'heartbeat' });
    }
    expect(sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(sockets.length).toBeGreaterThan(1);
    expect(sockets[0]?.isClosed).toBe(true);
  });

  it('waits longer after each failure, up to a limit, never all clients at once', async () => {
    start({ retryMinMs: 100, retryMaxMs: 1000 });
    client.orderbook({ market: 'SOL-PERP' });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) waits.push(await waitAfterDrop());
    expect(Math.max(...waits)).toBeLessThanOrEqual(1005);
    expect(Math.min(...waits.slice(4))).toBeGreaterThanOrEqual(495);
    expect(new Set(waits.slice(4)).size).toBeGreaterThan(1);
  });

  it('waits longer too when a server accepts and closes at once, and longest when it knows no such channel', async () => {
    start({ retryMinMs: 100, retryMaxMs: 1000 });
    client.orderbook({ market: 'SOL-PERP' });
    newest().open();
    expect(await waitAfterDrop(1003)).toBeGreaterThanOrEqual(495);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      newest().open();
      waits.push(await waitAfterDrop(1008));
    }
    expect(Math.min(...waits.slice(4))).toBeGreaterThanOrEqual(495);
    newest().open();
    await vi.advanceTimersByTimeAsync(6000);
    expect(await waitAfterDrop()).toBeLessThanOrEqual(105);
  });

  it('says why a market is refused', () => {
    const errors: string[] = [];
    client.orderbook({ market: 'NO-PERP' }).on('refused', ({ error }) => errors.push(error));
    const codes: string[] = [];
    client.book({ market: 'NO-PERP' }).on('refused', ({ code }) => codes.push(code));
    newest().open();
    newest().say({ channel: 'orderbook', error: 'Error subscribing to channel' });
    const id = newest().sent.find(({ channel }) => channel === 'book')?.id;
    newest().say({ channel: 'book', type: 'error', code: 'market', error: 'no such market', retry: true, id });
    expect([errors, codes]).toEqual([['Error subscribing to channel'], ['market']]);
  });

  for (const markets of [
    ['SOL-PERP', 'NO-PERP'],
    ['NO-PERP', 'SOL-PERP'],
  ]) {
    it(`refuses only the trades of the unknown one of ${markets.join(' and ')}`, () => {
      const refused: string[] = [];
      for (const market of markets) client.trades({ market }).on('refused', () => refused.push(market));
      newest().open();
      answer('SOL-PERP');
      expect(refused).toEqual(['NO-PERP']);
    });
  }

  it('does not refuse an order book because the short book of an unknown market was refused', () => {
    const refused: string[] = [];
    client.trades({ market: 'FOO-PERP' }).on('refused', () => refused.push('trades'));
    client.orderbook({ market: 'SOL-PERP' }).on('refused', () => refused.push('books'));
    newest().open();
    answer('SOL-PERP');
    expect(refused).toEqual(['trades']);
  });

  it('refuses nothing when an unsubscribe fails, and nothing that is closed', () => {
    const refused: string[] = [];
    const closed = client.trades({ market: 'FOO-PERP' });
    closed.on('refused', () => refused.push('closed'));
    client.trades({ market: 'SOL-PERP' }).on('refused', () => refused.push('open'));
    newest().open();
    closed.close();
    newest().say({ channel: 'trades', error: 'Error unsubscribing from channel' });
    answer('SOL-PERP');
    expect(refused).toEqual([]);
  });

  it('answers to requests of an earlier connection are awaited no more', () => {
    const refused: string[] = [];
    client.trades({ market: 'SOL-PERP' }).on('refused', () => refused.push('SOL-PERP'));
    newest().open();
    client.reconnect();
    vi.advanceTimersByTime(1000);
    newest().open();
    client.trades({ market: 'NO-PERP' }).on('refused', () => refused.push('NO-PERP'));
    answer('SOL-PERP');
    expect(refused).toEqual(['NO-PERP']);
  });
});
