// Subscriptions to the `book` channel: answers, refusals and their end.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { crc32 } from '../../../client/index.ts';
import { metricTotal } from '../../../platform/index.ts';
import { MARKETS, marketView } from '../../../test/support/api/market-views.ts';
import { diff, MAKER_A, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { KINDS_COST_MAX, MAX_KINDS_PER_CONNECTION, MAX_STREAMS, MAX_WILDCARDS } from './limits.ts';

let stage: FeedStage;
let socket: DirectSocket;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new FeedStage();
  await stage.publish(snapshot());
  socket = stage.socket();
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

describe('subscribing to the book channel', () => {
  it('acknowledges, then gives the whole book with epoch, sequence and slot', () => {
    expect(socket.ask({ id: 7 })).toEqual([
      {
        channel: 'book',
        type: 'subscribed',
        id: 7,
        market: 'SOL-PERP',
        marketType: 'perp',
        streams: ['perp_0_l2'],
      },
      {
        channel: 'book',
        type: 'snapshot',
        stream: 'perp_0_l2',
        streamId: 1,
        market: 'SOL-PERP',
        level: 'l2',
        marketType: 'perp',
        marketIndex: 0,
        epoch: 1,
        seq: 1,
        slot: 487,
        ts: stage.reader.nowMs,
        bids: [
          ['81114210', '1000000000'],
          ['80260400', '6602100000', { dlob: '400000000', vamm: '6202100000' }],
        ],
        asks: [['81130450', '1000000000', 'vamm']],
      },
    ]);
  });

  it('sends each change with the sequence before it', async () => {
    socket.ask();
    await stage.publish(diff(2, 488), diff(3, 488, { bids: [{ price: 81_000_000, dlob: 0n, vamm: 0n }] }));
    expect(socket.diffs()).toEqual([
      expect.objectContaining({ seq: 2, prevSeq: 1, slot: 488, bids: [['81000000', '20']] }),
      expect.objectContaining({ seq: 3, prevSeq: 2, slot: 488, bids: [['81000000', '0']] }),
    ]);
  });

  it('gives L3 by order with maker, queue rank and removals', async () => {
    const [, book] = socket.ask({ level: 'l3' });
    expect(book).toMatchObject({
      stream: 'perp_0_l3',
      bids: [
        { price: '81114210', size: '1000000000', orderId: 412, source: 'user', rank: [0, 1, 1, 1] },
        { price: '80260400', orderId: 7 },
      ],
      asks: [],
    });
    await stage.publish(diff(2, 488, { gone: [{ maker: MAKER_A, orderId: 412, source: 'user' }] }));
    const [first] = (book as unknown as { bids: { maker: string }[] }).bids;
    expect(socket.diffs()[0]?.gone).toEqual([{ maker: first?.maker, orderId: 412, source: 'user' }]);
  });

  it.each([
    ['market', { market: 'DOGE-PERP' }],
    ['market', { market: 7 }],
    ['market', { marketType: 'future' }],
    ['level', { level: 'l1' }],
    ['level', { level: 2 }],
    ['depth', { depth: 0 }],
    ['depth', { depth: 1001 }],
    ['depth', { depth: '10' }],
    ['conflation', { conflation: 75 }],
    ['conflation', { conflation: '50' }],
    ['checksum', { checksum: 0 }],
    ['checksum', { checksum: 101 }],
    ['checksum', { checksum: 'yes' }],
    ['cause', { cause: 1 }],
    ['cause', { cause: true }],
    ['cause', { cause: true, level: 'l3', depth: 5 }],
    ['commitment', { commitment: 'final' }],
    ['commitment', { commitment: 1 }],
    ['resume', { resume: 5 }],
    ['resume', { resume: { epoch: 1 } }],
    ['resume', { resume: { epoch: 1, seq: -1 } }],
    ['resume', { market: '*', resume: { perp_0_l2: 4 } }],
    ['resume', { market: '*', resume: [] }],
  ])('refuses with the code %s: %j', (code, members) => {
    expect(socket.ask({ ...members, id: 'x' })).toEqual([
      { channel: 'book', type: 'error', code, error: expect.any(String), retry: code === 'market', id: 'x' },
    ]);
    expect([...stage.feed.connections]).toEqual([]);
  });

  it('treats null as absent', () => {
    const none = {
      marketType: null,
      level: null,
      depth: null,
      conflation: null,
      checksum: null,
      resume: null,
      id: null,
    };
    expect(socket.ask(none)).toMatchObject([{ type: 'subscribed', streams: ['perp_0_l2'] }, { type: 'snapshot' }]);
    expect(socket.ask({ ...none, type: 'unsubscribe' })).toMatchObject([
      { type: 'unsubscribed', streams: ['perp_0_l2'] },
    ]);
  });

  it('refuses more kinds of stream of a market than the limit of a connection', () => {
    for (let depth = 1; depth <= MAX_KINDS_PER_CONNECTION; depth += 1) socket.ask({ depth });
    expect(socket.ask({ depth: 99 })).toEqual([expect.objectContaining({ type: 'error', code: 'limit', retry: true })]);
    expect(socket.ask({ depth: 1 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
    socket.ask({ type: 'unsubscribe', depth: 1 });
    expect(socket.ask({ depth: 99 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
  });

  it('keeps serving open kinds and whole books when the kinds of a market are used up', () => {
    const crowd = Array.from({ length: KINDS_COST_MAX / MAX_KINDS_PER_CONNECTION }, () => stage.socket());
    const refused = crowd.map((one, index) =>
      Array.from({ length: MAX_KINDS_PER_CONNECTION }, (_, kind) =>
        one.ask({ depth: 1 + index * MAX_KINDS_PER_CONNECTION + kind }),
      ).filter(([first]) => first?.code === 'limit'),
    );
    expect(refused[0]).toEqual([]);
    expect(refused.at(-1)).toHaveLength(MAX_KINDS_PER_CONNECTION);
    for (const members of [{}, { level: 'l3', checksum: true }, { conflation: 100 }, { depth: 5 }]) {
      expect(stage.socket().ask(members), JSON.stringify(members)).toHaveLength(2);
    }
    for (const one of crowd) one.close();
    expect(socket.ask({ depth: 999 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
  });

  it('sends an empty book of a market without one, and its first book later', async () => {
    const [, empty] = socket.ask({ market: 'BTC-PERP', checksum: true });
    expect(empty).toMatchObject({ type: 'snapshot', epoch: 0, seq: 0, slot: 0, bids: [], asks: [] });
    expect(empty?.checksum).toBe(crc32('bids\nasks'));
    await stage.publish(snapshot({ marketIndex: 1, seq: 4 }));
    await stage.publish(diff(5, 490, { marketIndex: 1 }));
    expect(socket.ofType('snapshot').slice(1)).toMatchObject([{ market: 'BTC-PERP', epoch: 1, seq: 4 }]);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 4, seq: 5 }]);
  });

  it('sends no book during a gap', async () => {
    await stage.publish(diff(5, 500));
    expect(socket.ask()).toHaveLength(1);
    await stage.publish(snapshot({ seq: 6, slot: 501 }));
    expect(socket.ofType('snapshot')).toMatchObject([{ seq: 6 }]);
  });

  it('sends every market for *, also later ones', async () => {
    expect(socket.ask({ market: '*', marketType: undefined })[0]).toMatchObject({ market: '*', marketType: '*' });
    expect(socket.published()).toMatchObject([{ market: 'SOL-PERP' }]);
    stage.reader.markets.put(marketView({ marketIndex: 9, symbol: 'NEW-PERP' }));
    await stage.publish(diff(1, 490, { marketIndex: 9 }));
    await stage.publish(diff(2, 491, { marketIndex: 9 }));
    expect(socket.published().map(({ market }) => market)).toEqual(['SOL-PERP', 'NEW-PERP']);
    expect(socket.diffs()).toMatchObject([{ diff: socket.ofType('snapshot').at(-1)?.streamId, prevSeq: 1, seq: 2 }]);
    expect(MARKETS.some(({ symbol }) => symbol === 'NEW-PERP')).toBe(false);
  });

  it('begins a book that is earlier than the description of its market when the description is there', async () => {
    socket.ask({ market: '*' });
    await stage.publish(diff(1, 490, { marketIndex: 9 }));
    await stage.publish(diff(2, 491, { marketIndex: 9 }));
    expect(socket.published().map(({ market }) => market)).toEqual(['SOL-PERP']);
    stage.describe(9);
    expect(socket.published()).toMatchObject([{ market: 'SOL-PERP' }, { market: 'M9-PERP', seq: 2 }]);
    await stage.publish(diff(3, 492, { marketIndex: 9 }));
    expect(socket.diffs()).toMatchObject([{ prevSeq: 2, seq: 3 }]);
  });

  it('begins each stream anew when its market gets another name', async () => {
    socket.ask({ market: '*' });
    socket.ask({ conflation: 100 });
    stage.reader.markets.put(marketView({ slot: 10_000, symbol: 'RENAMED-PERP' }));
    expect(socket.published().map(({ market, seq }) => [market, seq])).toEqual([
      ['SOL-PERP', 1],
      ['SOL-PERP', 1],
      ['RENAMED-PERP', 1],
      ['RENAMED-PERP', 1],
    ]);
    await stage.publish(diff(2, 10_001));
    vi.advanceTimersByTime(100);
    expect(socket.diffs()).toMatchObject([
      { prevSeq: 1, seq: 2 },
      { prevSeq: 1, seq: 2 },
    ]);
  });

  it('gives spot markets for * with the type spot only', async () => {
    socket.ask({ market: '*', marketType: 'spot' });
    await stage.publish(snapshot({ marketType: 'spot', marketIndex: 1 }));
    expect(socket.published().map(({ stream }) => stream)).toEqual(['spot_1_l2']);
  });
});

describe('streams', () => {
  const open = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_streams');

  it('end with a client that lags and is closed during its answer', async () => {
    const cut = stage.socket();
    cut.tamper = () => {
      cut.close(); // As the gateway does for a lagging client.
      return null;
    };
    cut.ask({ market: '*' });
    cut.ask({ depth: 3 });
    expect(await open()).toBe(0);
    expect([...stage.feed.connections]).toEqual([]);
  });

  it('of one wildcard cover 2,000 markets, and later ones', async () => {
    const indexes = Array.from({ length: 1999 }, (_, index) => 10 + index);
    stage.describe(...indexes, 5000);
    await stage.publish(...indexes.map((marketIndex) => snapshot({ marketIndex })));
    const [answer] = socket.ask({ market: '*', depth: 1 });
    expect(answer).toMatchObject({ type: 'subscribed', streams: { length: 2001 } }); // One of them is not published yet.
    expect(socket.published()).toHaveLength(2000);
    await stage.publish(snapshot({ marketIndex: 5000 }));
    expect(socket.published()).toHaveLength(2001);
    expect(socket.ofType('error')).toEqual([]);
    await stage.publish(...indexes.map((marketIndex) => diff(2, 488, { marketIndex, bids: [] })));
    expect(socket.diffs()).toHaveLength(1999);
  });

  it('beyond the limit are refused to a wildcard, market by market', async () => {
    socket.ask({ market: '*' });
    const indexes = Array.from({ length: MAX_STREAMS + 3 }, (_, index) => 10 + index);
    await stage.publish(...indexes.map((marketIndex) => snapshot({ marketIndex })));
    expect(await open()).toBe(MAX_STREAMS);
    const missing = indexes.slice(-5).map((marketIndex) => `perp_${marketIndex}_l2`);
    expect(socket.ofType('error')).toEqual(
      missing.map((stream) => ({
        channel: 'book',
        type: 'error',
        code: 'limit',
        error: 'too many book subscriptions',
        retry: true,
        stream,
      })),
    );
    expect(socket.ask({ depth: 7 })).toMatchObject([{ type: 'error', code: 'limit' }]);
    expect(await open()).toBe(MAX_STREAMS);
  });

  it('of every market are refused when a connection has too many wildcards', () => {
    for (let depth = 1; depth <= MAX_WILDCARDS / 2; depth += 1) {
      for (const marketType of ['perp', 'spot']) socket.ask({ market: '*', depth, marketType });
    }
    expect(socket.ask({ market: '*', depth: 1, marketType: '*' })).toMatchObject([
      { type: 'error', code: 'limit', retry: true },
    ]);
    expect(socket.ask({ market: '*', depth: 1, marketType: 'spot' })[0]).toMatchObject({ type: 'subscribed' });
  });
});

describe('unsubscribing', () => {
  it('ends the matching streams and keeps the others', async () => {
    socket.ask();
    socket.ask({ depth: 1 });
    socket.ask({ level: 'l3' });
    expect(socket.ask({ type: 'unsubscribe', level: 'l2' })).toMatchObject([
      { type: 'unsubscribed', streams: ['perp_0_l2', 'perp_0_l2_d1'] },
    ]);
    await stage.publish(diff(2, 488));
    const l3 = socket.ofType('snapshot').find(({ stream }) => stream === 'perp_0_l3');
    expect(socket.diffs().map(({ diff: streamId }) => streamId)).toEqual([l3?.streamId]);
  });

  it('ends a wildcard for later markets too', async () => {
    socket.ask({ market: '*' });
    socket.ask({ type: 'unsubscribe', market: '*', marketType: undefined });
    await stage.publish(snapshot({ marketIndex: 1 }));
    expect(socket.published()).toHaveLength(1);
    expect([...stage.feed.connections]).toEqual([]);
  });
});
