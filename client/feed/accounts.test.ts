// The orders of accounts on the client: what its user sees adds up to the truth, whatever happens to connection and messages.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PublishedBook } from '../../api/views/published-book.ts';
import { openOrdersChecksum, orderKey } from '../../schemas/index.ts';
import { ACCOUNT } from '../../test/support/feed/account-ledger.ts';
import { AccountStage } from '../../test/support/feed/account-stage.ts';
import type { DirectSocket } from '../../test/support/feed/feed-stage.ts';
import { RandomBook } from '../../test/support/feed/random-book.ts';
import { type AccountChoice, type AccountOrder, type AccountSubscription, FeedClient } from '../index.ts';

/** Two heartbeats and the pauses of reconnects. */
const HEALED_MS = 16_000;
const TURN_MS = 1;

let stage: AccountStage;
let client: FeedClient;
let socket: DirectSocket;

function connect(): void {
  client = new FeedClient({
    url: 'ws://server/ws',
    open: () => {
      socket = stage.socket();
      queueMicrotask(() => socket.isOpen && (socket.onopen as (() => void) | null)?.());
      return socket;
    },
  });
}

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new AccountStage();
  await stage.feed.start();
  connect();
});
afterEach(async () => {
  client.close();
  await stage.feed.stop();
  vi.useRealTimers();
});

/** A subscription whose first request gets no answer. */
function unanswered(choice: AccountChoice): AccountSubscription {
  const { tamper } = socket;
  socket.tamper = () => null;
  const subscription = client.accountOrders(choice);
  socket.tamper = tamper;
  return subscription;
}

const turn = () => vi.advanceTimersByTimeAsync(TURN_MS);
const truth = () => [...stage.open.values()].sort(byMarketAndId);
const byMarketAndId = (one: AccountOrder, other: AccountOrder) =>
  one.marketIndex - other.marketIndex || one.orderId - other.orderId;

/** Open orders from events alone. */
class Mirror {
  readonly orders = new Map<string, AccountOrder>();
  readonly seen: string[] = [];
  /** Changes after which the orders were not those of the events. */
  wrong = 0;

  constructor(subscription: AccountSubscription) {
    subscription.on('snapshot', ({ orders }) => {
      this.seen.push('snapshot');
      this.orders.clear();
      for (const order of orders.open) this.orders.set(orderKey(order), order);
    });
    subscription.on('change', ({ order, isOpen, cause, orders }) => {
      this.seen.push(cause);
      if (isOpen) this.orders.set(orderKey(order), order);
      else this.orders.delete(orderKey(order));
      const own = [...this.orders.values()].sort(byMarketAndId);
      if (!isDeepStrictEqual(own, orders.open)) this.wrong += 1;
    });
    subscription.on('resumed', () => this.seen.push('resumed'));
    subscription.on('stale', ({ reason }) => this.seen.push(reason));
  }
}

describe('the orders of an account on the client', () => {
  it('are a snapshot of the whole account, then changes with cause and fill', async () => {
    await stage.change(4, 'placed');
    const subscription = client.accountOrders({ account: ACCOUNT });
    const { seen } = new Mirror(subscription);
    const fills: unknown[] = [];
    subscription.on('change', ({ fill }) => fills.push(fill?.fillRecordId));
    await turn();
    expect(seen).toEqual(['snapshot']);
    expect(subscription.orders()).toMatchObject({ account: ACCOUNT, isCurrent: true, open: [{ price: 5_000_000n }] });
    await stage.change(4, 'filled');
    await stage.change(4, 'cancelled');
    expect(seen).toEqual(['snapshot', 'filled', 'cancelled']);
    expect(fills).toEqual([7n, undefined]);
    expect(subscription.orders()?.open).toEqual([]);
  });

  it('continue after a lost connection, with the changes of that time', async () => {
    const subscription = client.accountOrders({ account: ACCOUNT });
    const { seen } = new Mirror(subscription);
    await turn();
    await stage.change(4, 'placed');
    socket.close();
    expect(subscription.orders()?.isCurrent).toBe(false);
    await stage.change(6, 'placed');
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    // The first change of all begins an epoch, and so a snapshot.
    expect(seen).toEqual(['snapshot', 'snapshot', 'placed', 'disconnected', 'resumed', 'placed']);
    expect(subscription.orders()?.open).toEqual(truth());
  });

  it('of a wallet are those of each of its accounts', async () => {
    const subscription = client.accountOrders({ authority: ACCOUNT });
    await turn();
    expect(subscription.accounts.size).toBe(8);
  });

  it('go on for one subscription when another one of the same account ends', async () => {
    const first = client.accountOrders({ account: ACCOUNT });
    await turn();
    const second = client.accountOrders({ account: ACCOUNT });
    const { seen } = new Mirror(second);
    await turn();
    first.close();
    await turn();
    await stage.change(4, 'placed');
    expect(seen).toEqual(['snapshot', 'placed']);
    second.close();
    await turn();
    const asked = socket.received.length;
    await stage.change(6, 'placed');
    expect(socket.received.length).toBe(asked);
  });

  it('go on when another subscription of the same account ends before its answer', async () => {
    const first = client.accountOrders({ account: ACCOUNT });
    const { seen } = new Mirror(first);
    await turn();
    unanswered({ account: ACCOUNT }).close();
    await stage.change(4, 'placed');
    expect(seen).toEqual(['snapshot', 'snapshot', 'placed']);
    first.close();
    const [third, fourth] = [unanswered({ account: ACCOUNT }), unanswered({ account: ACCOUNT })];
    const later = new Mirror(fourth);
    third.close();
    await stage.change(6, 'placed');
    expect(later.seen).toEqual(['snapshot', 'placed']);
  });

  it('of a wallet go on too when another subscription ends before its answer', async () => {
    const { accounts } = client.accountOrders({ authority: ACCOUNT });
    await turn();
    unanswered({ authority: ACCOUNT }).close();
    await turn();
    const resumed = new Set(socket.ofType('resumed').map(({ stream }) => String(stream).split('_')[1]));
    expect(resumed).toEqual(new Set(accounts.keys()));
  });

  it('are asked for again when heartbeats leave them out', async () => {
    const subscription = client.accountOrders({ account: ACCOUNT });
    const { seen } = new Mirror(subscription);
    client.accountOrders({ authority: ACCOUNT });
    await turn();
    stage.feed.request(socket.connection, 'unsubscribe', { channel: 'account', account: ACCOUNT });
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    expect(seen).toEqual(['snapshot', 'missing', 'resumed']);
    await stage.change(4, 'placed');
    expect(subscription.orders()?.open).toEqual(truth());
  });

  it('have queue positions for those who ask, until they leave, and none without a connection', async () => {
    await stage.change(8, 'placed');
    const book = new RandomBook(0);
    const published = new PublishedBook();
    stage.books.set(0, published);
    const order = { side: 'bid', tick: 3, dlob: 3, vamm: 0, size: 5, slots: 0, isGone: false } as const;
    published.take(book.snapshot(), 1);
    published.take(book.diff([{ ...order, orderId: 8 }]), 1);
    const plain = client.accountOrders({ account: ACCOUNT });
    const events: string[] = [];
    plain.on('queue', ({ type }) => events.push(type));
    await turn();
    expect(plain.orders()?.queue).toEqual([]);
    const asking = client.accountOrders({ account: ACCOUNT, queue: true });
    await turn();
    expect(asking.orders()?.queue).toMatchObject([{ orderId: 8, side: 'bids', size: 5n, sizeAhead: 0n }]);
    published.take(book.diff([{ ...order, orderId: 10 }]), 1);
    const queue = new Promise((resolve) => asking.on('queue', ({ orders }) => resolve(orders.queue)));
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    expect(await queue).toMatchObject([{ orderId: 8, sizeAhead: 5n, ordersAhead: 1, book: { seq: 2 } }]);
    socket.close();
    expect(asking.orders()?.queue).toEqual([]);
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    expect(asking.orders()?.queue).toMatchObject([{ orderId: 8, sizeAhead: 5n }]);
    plain.close();
    published.take(book.diff([{ ...order, orderId: 10, isGone: true }]), 1);
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    expect(asking.orders()?.queue).toMatchObject([{ orderId: 8, sizeAhead: 0n }]);
    expect(events).toEqual([]);
  });

  it('keep the last right state while a message with other amounts is repaired', async () => {
    await stage.change(4, 'placed');
    const subscription = client.accountOrders({ account: ACCOUNT });
    await turn();
    socket.tamper = (text) => text.replace('"price":"5000000"', '"price":"5000007"');
    await stage.change(6, 'placed');
    socket.tamper = (text) => text;
    expect(subscription.orders()).toMatchObject({ isCurrent: false, open: [{ orderId: 4, price: 5_000_000n }] });
    await vi.advanceTimersByTimeAsync(HEALED_MS);
    expect(subscription.orders()).toMatchObject({ isCurrent: true, open: truth() });
  });

  it('say why the server rejects a request', async () => {
    const subscription = client.accountOrders({ account: 'x' });
    const codes: string[] = [];
    subscription.on('refused', ({ code }) => codes.push(code));
    await turn();
    expect(codes).toEqual(['account']);
  });

  it('reach a slow reader as a snapshot, not as a growing queue', async () => {
    const subscription = client.accountOrders({ account: ACCOUNT });
    const reader = subscription[Symbol.asyncIterator]();
    const first = reader.next();
    await turn();
    expect((await first).value).toMatchObject({ type: 'snapshot' });
    const orders = subscription.orders();
    if (!orders) throw new Error('no orders');
    for (let count = 0; count < 10_001; count += 1) subscription.stale(orders, 'missing');
    expect((await reader.next()).value).toMatchObject({ type: 'snapshot', orders });
    subscription.close();
    expect((await reader.next()).done).toBe(true);
  });
});

const FAULTS = ['drop', 'alter', 'forge', 'repeat'] as const;
type Fault = (typeof FAULTS)[number];
type Step =
  | { readonly do: 'change'; readonly cause: 'placed' | 'filled' | 'cancelled'; readonly id: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'reconnect' | 'restart' | 'epoch' | 'other' }
  | { readonly do: 'fault'; readonly fault: Fault };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      cause: fc.constantFrom('placed' as const, 'filled', 'cancelled'),
      id: fc.nat(5),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(10, 600, 6000).map((ms): Step => ({ do: 'pass', ms })) },
  { weight: 3, arbitrary: fc.constantFrom(...FAULTS).map((fault): Step => ({ do: 'fault', fault })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('reconnect' as const, 'restart', 'epoch', 'other').map((name): Step => ({ do: name })),
  },
);

/** Does something to the next message with a checksum; a drop takes any message. */
function spoilNext(to: DirectSocket, fault: Fault): void {
  to.tamper = (text) => {
    if (fault !== 'drop' && !text.includes('"checksum":')) return text;
    to.tamper = (rest) => rest;
    if (fault === 'drop') return null;
    if (fault === 'repeat') queueMicrotask(() => to.onmessage?.({ data: text }));
    if (fault === 'forge') return text.replace(/"checksum":\d+/, '"checksum":1');
    return fault === 'alter' ? text.replace(/"(price|fillRecordId)":"\d+"/, '"$1":"x"') : text;
  };
}

describe('a follower of an account', () => {
  it('is never wrong while it says it is current, and heals by itself, whatever happens to messages', async () => {
    const counts = { changes: 0, snapshots: 0, resumed: 0, stale: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        client.close();
        await stage.feed.stop();
        stage = new AccountStage();
        await stage.feed.start();
        connect();
        const truths = new Set([openOrdersChecksum([])]);
        const noteTruth = () => truths.add(openOrdersChecksum(truth()));
        let wrong = 0;
        const subscription = client.accountOrders({ account: ACCOUNT });
        const mirror = new Mirror(subscription);
        subscription.on('change', ({ orders }) => {
          if (!truths.has(openOrdersChecksum(orders.open))) wrong += 1;
        });
        await turn();
        for (const one of steps) {
          if (one.do === 'change') await stage.change(one.id, one.cause, noteTruth);
          else if (one.do === 'pass') await vi.advanceTimersByTimeAsync(one.ms);
          else if (one.do === 'reconnect') client.reconnect();
          else if (one.do === 'restart') await stage.restart();
          else if (one.do === 'other') client.accountOrders({ account: ACCOUNT }).close();
          else if (one.do === 'fault') spoilNext(socket, one.fault);
          else stage.beginEpoch();
        }
        socket.tamper = (text) => text;
        await vi.advanceTimersByTimeAsync(HEALED_MS);
        // A change ends an epoch that nobody has seen yet.
        await stage.change(9, 'placed', noteTruth);
        await vi.advanceTimersByTimeAsync(HEALED_MS);
        expect(wrong + mirror.wrong).toBe(0);
        expect(subscription.orders()).toMatchObject({ isCurrent: true, open: truth() });
        expect([...mirror.orders.values()].sort(byMarketAndId)).toEqual(truth());
        for (const name of mirror.seen) {
          if (name === 'snapshot') counts.snapshots += 1;
          else if (name === 'resumed') counts.resumed += 1;
          else if (['disconnected', 'missing', 'different'].includes(name)) counts.stale += 1;
          else counts.changes += 1;
        }
      }),
      { numRuns: 60 },
    );
    for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(20);
  });
});
