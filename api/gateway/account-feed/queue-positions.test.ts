// Queue positions on request: a client's positions are those of the books after any change, also for clients that read late.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { QueuePositionBody } from '../../../schemas/index.ts';
import { ACCOUNT } from '../../../test/support/feed/account-ledger.ts';
import { AccountStage } from '../../../test/support/feed/account-stage.ts';
import type { DirectSocket } from '../../../test/support/feed/feed-stage.ts';
import { type Change, change, RandomBook } from '../../../test/support/feed/random-book.ts';
import { base58 } from '../../http/base58.ts';
import { PublishedBook } from '../../views/published-book.ts';
import { BACKPRESSURE_BYTES } from '../limits.ts';

const LOOKED_MS = 1100;
/** Two prices a side, so that orders queue. */
const narrow = change.map((one) => ({ ...one, tick: one.tick % 2 }));
const MARKETS = [0, 1] as const;

let stage: AccountStage;
let socket: DirectSocket;
let books: RandomBook[];

beforeEach(async () => {
  vi.useFakeTimers();
  await begin();
});
afterEach(async () => {
  await stage.feed.stop();
  vi.useRealTimers();
});

async function begin(): Promise<void> {
  stage = new AccountStage();
  await stage.feed.start();
  socket = stage.socket();
  books = MARKETS.map((index) => new RandomBook(index));
  for (const [index, book] of books.entries()) {
    const published = new PublishedBook();
    published.take(book.snapshot(), 1);
    stage.books.set(index, published);
  }
}

function publish(market: number, changes: readonly Change[]): void {
  const diff = books[market]?.diff(changes);
  if (diff) stage.books.get(market)?.take(diff, 1);
}

const bid = (orderId: number, size = 5): Change => ({
  side: 'bid',
  tick: 3,
  dlob: 3,
  vamm: 0,
  orderId,
  size,
  slots: 0,
  isGone: false,
});
const subscribe = (members: Record<string, unknown> = {}) =>
  socket.send(JSON.stringify({ type: 'subscribe', channel: 'account', account: ACCOUNT, queue: true, ...members }));
const queues = () => socket.received.filter(({ type }) => type === 'queue');
const newest = () => (queues().at(-1)?.positions ?? []) as QueuePositionBody[];

/** Counted from the books and the open orders. */
function truth(): Omit<QueuePositionBody, 'book'>[] {
  const all: Omit<QueuePositionBody, 'book'>[] = [];
  for (const { marketType, marketIndex, orderId } of stage.open.values()) {
    const l3 = stage.books.get(marketIndex)?.view.l3();
    for (const side of ['bids', 'asks'] as const) {
      for (const [at, { maker, price, size, source, ...order }] of (l3?.[side] ?? []).entries()) {
        if (order.orderId !== orderId || base58(maker) !== ACCOUNT) continue;
        const ahead = (l3?.[side] ?? []).slice(0, at).filter((other) => other.price === price);
        const sizeAhead = String(ahead.reduce((sum, other) => sum + other.size, 0n));
        const place = { source, side, price: String(price), size: String(size), sizeAhead, ordersAhead: ahead.length };
        all.push({ marketType, marketIndex, orderId, ...place });
      }
    }
  }
  return all.sort(byOrder);
}

const byOrder = (one: Omit<QueuePositionBody, 'book'>, other: Omit<QueuePositionBody, 'book'>) =>
  one.marketIndex - other.marketIndex || one.orderId - other.orderId || (one.source < other.source ? -1 : 1);
const held = () =>
  newest()
    .map(({ book: _, ...place }) => place)
    .sort(byOrder);

describe('queue positions', () => {
  it('come on request alone, after the answer to it', async () => {
    socket.send(JSON.stringify({ type: 'subscribe', channel: 'account', account: ACCOUNT }));
    await vi.advanceTimersByTimeAsync(LOOKED_MS);
    expect(queues()).toEqual([]);
    subscribe();
    expect(queues()).toEqual([{ channel: 'account', type: 'queue', account: ACCOUNT, positions: [] }]);
  });

  it('come again when one has changed, and not when only others have', async () => {
    await stage.change(8, 'placed');
    subscribe();
    publish(0, [bid(6, 4), bid(8)]);
    await vi.advanceTimersByTimeAsync(LOOKED_MS);
    expect(held()).toEqual(truth());
    expect(held()).toMatchObject([{ orderId: 8, side: 'bids', size: '5', sizeAhead: '4', ordersAhead: 1 }]);
    publish(0, [bid(10, 7)]);
    await vi.advanceTimersByTimeAsync(LOOKED_MS);
    expect(queues()).toHaveLength(3);
    expect(held()).toMatchObject([{ orderId: 8, sizeAhead: '11', ordersAhead: 2 }]);
    publish(0, [bid(4)]);
    publish(1, [bid(7)]);
    await vi.advanceTimersByTimeAsync(LOOKED_MS);
    expect(queues()).toHaveLength(3);
    expect(held()).toEqual(truth());
  });

  it('end with the unsubscribe, and with the connection', async () => {
    await stage.change(8, 'placed');
    subscribe();
    socket.send(JSON.stringify({ type: 'unsubscribe', channel: 'account', account: ACCOUNT }));
    const timers = vi.getTimerCount();
    publish(0, [bid(8)]);
    await vi.advanceTimersByTimeAsync(LOOKED_MS);
    expect(queues()).toHaveLength(1);
    subscribe();
    expect(vi.getTimerCount()).toBe(timers + 1);
    socket.close();
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('end for every account of a wallet when the first answer closes the connection', () => {
    socket.tamper = (text) => {
      if (text.includes('"type":"queue"')) socket.close();
      return text;
    };
    // Somebody else keeps the heartbeat going.
    stage.socket().send(JSON.stringify({ type: 'subscribe', channel: 'account', account: ACCOUNT }));
    const timers = vi.getTimerCount();
    subscribe({ account: undefined, authority: ACCOUNT });
    expect(socket.isOpen).toBe(false);
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('of more accounts than a connection may follow are refused', () => {
    for (let fill = 0; fill < 33; fill += 1)
      subscribe({ account: base58(new Uint8Array(32).fill(fill + 1)), id: fill });
    expect(socket.received.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'limit', id: 32 }]);
    expect(queues()).toHaveLength(32);
  });

  it('are what the books say after any changes of orders and books, for clients that read late too', async () => {
    let positions = 0;
    let skipped = 0;
    const step = fc.oneof(
      fc.record({ market: fc.constantFrom(...MARKETS), changes: fc.array(narrow, { minLength: 1, maxLength: 8 }) }),
      fc.record({ orderId: fc.constantFrom(2, 5, 8, 11), what: fc.constantFrom('placed', 'placed', 'cancelled') }),
      fc.record({ waitMs: fc.constantFrom(10, 500, 2000), isReading: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        await stage.feed.stop();
        await begin();
        subscribe();
        for (const one of steps) {
          if ('changes' in one) publish(one.market, one.changes);
          else if ('what' in one) await stage.change(one.orderId, one.what as 'placed');
          else {
            socket.unreadBytes = one.isReading ? 0 : BACKPRESSURE_BYTES + 1;
            const before = queues().length;
            await vi.advanceTimersByTimeAsync(one.waitMs);
            if (!one.isReading) {
              expect(queues()).toHaveLength(before);
              skipped += 1;
            }
          }
        }
        socket.unreadBytes = 0;
        await vi.advanceTimersByTimeAsync(LOOKED_MS);
        expect(held()).toEqual(truth());
        positions += held().length;
      }),
      { numRuns: 120 },
    );
    expect(positions).toBeGreaterThan(20);
    expect(skipped).toBeGreaterThan(20);
  });
});
