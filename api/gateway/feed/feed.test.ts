import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookFeedClient, BookKeeper, crc32 } from '../../../client/index.ts';
import { metricTotal } from '../../../platform/index.ts';
import type { BookSnapshotMessage } from '../../../schemas/index.ts';
import { MARKETS, marketView } from '../../testing/market-views.ts';
import { diff, MAKER_A, MAKER_B, snapshot } from '../../testing/stage.ts';
import {
  BOOK_HEARTBEAT_MS,
  JOIN_BUFFER_BYTES,
  KINDS_COST_MAX,
  LOG_ALLOWANCE,
  MAX_KINDS_PER_CONNECTION,
  MAX_STREAMS,
  MAX_WILDCARDS,
  RESUME_DIFFS_MAX,
} from './limits.ts';
import { type DirectSocket, FeedStage } from './testing/feed-stage.ts';

type Message = Record<string, unknown>;

const SUBSCRIBE = { type: 'subscribe', channel: 'book', market: 'SOL-PERP', marketType: 'perp' };

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

function ask(members: Message = {}, on = socket): Message[] {
  const before = on.heard.length;
  on.send(JSON.stringify({ ...SUBSCRIBE, ...members }));
  return on.heard.slice(before);
}

const ofType = (type: string, on = socket): Message[] => on.heard.filter((message) => message.type === type);
const diffs = (on = socket): Message[] => on.heard.filter((message) => 'diff' in message);
/** Snapshots of books that are published; those of others are empty. */
const published = (): Message[] => ofType('snapshot').filter(({ epoch }) => epoch !== 0);
const renderings = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_renderings_total');

describe('subscribing to the book channel', () => {
  it('acknowledges, then gives the whole book with epoch, sequence and slot', () => {
    expect(ask({ id: 7 })).toEqual([
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
        bids: [
          ['81114210', '1000000000'],
          ['80260400', '6602100000', { dlob: '400000000', vamm: '6202100000' }],
        ],
        asks: [['81130450', '1000000000', 'vamm']],
      },
    ]);
  });

  it('then gives each change with the sequence it follows', async () => {
    ask();
    await stage.publish(diff(2, 488), diff(3, 488, { bids: [{ price: 81_000_000, dlob: 0n, vamm: 0n }] }));
    expect(diffs()).toEqual([
      expect.objectContaining({ seq: 2, prevSeq: 1, slot: 488, bids: [['81000000', '20']] }),
      expect.objectContaining({ seq: 3, prevSeq: 2, slot: 488, bids: [['81000000', '0']] }),
    ]);
  });

  it('gives L3 by order with maker, queue rank and removals', async () => {
    const [, book] = ask({ level: 'l3' });
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
    expect(diffs()[0]?.gone).toEqual([{ maker: first?.maker, orderId: 412, source: 'user' }]);
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
    ['resume', { resume: 5 }],
    ['resume', { resume: { epoch: 1 } }],
    ['resume', { resume: { epoch: 1, seq: -1 } }],
    ['resume', { market: '*', resume: { perp_0_l2: 4 } }],
    ['resume', { market: '*', resume: [] }],
  ])('refuses with the code %s: %j', (code, members) => {
    expect(ask({ ...members, id: 'x' })).toEqual([
      { channel: 'book', type: 'error', code, error: expect.any(String), retry: code === 'market', id: 'x' },
    ]);
    expect([...stage.feed.connections]).toEqual([]);
  });

  it('takes null for a choice that is not made', () => {
    const none = {
      marketType: null,
      level: null,
      depth: null,
      conflation: null,
      checksum: null,
      resume: null,
      id: null,
    };
    expect(ask(none)).toMatchObject([{ type: 'subscribed', streams: ['perp_0_l2'] }, { type: 'snapshot' }]);
    expect(ask({ ...none, type: 'unsubscribe' })).toMatchObject([{ type: 'unsubscribed', streams: ['perp_0_l2'] }]);
  });

  it('refuses more kinds of stream of a market than a connection may hold', () => {
    for (let depth = 1; depth <= MAX_KINDS_PER_CONNECTION; depth += 1) ask({ depth });
    expect(ask({ depth: 99 })).toEqual([expect.objectContaining({ type: 'error', code: 'limit', retry: true })]);
    expect(ask({ depth: 1 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
    ask({ type: 'unsubscribe', depth: 1 });
    expect(ask({ depth: 99 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
  });

  it('serves the known kinds and those of whole books on when others have taken all that a market may have', () => {
    const crowd = Array.from({ length: KINDS_COST_MAX / MAX_KINDS_PER_CONNECTION }, () => stage.socket());
    const refused = crowd.map((one, index) =>
      Array.from({ length: MAX_KINDS_PER_CONNECTION }, (_, kind) =>
        ask({ depth: 1 + index * MAX_KINDS_PER_CONNECTION + kind }, one),
      ).filter(([first]) => first?.code === 'limit'),
    );
    expect(refused[0]).toEqual([]);
    expect(refused.at(-1)).toHaveLength(MAX_KINDS_PER_CONNECTION);
    for (const members of [{}, { level: 'l3', checksum: true }, { conflation: 100 }, { depth: 5 }]) {
      expect(ask(members, stage.socket()), JSON.stringify(members)).toHaveLength(2);
    }
    for (const one of crowd) one.close();
    expect(ask({ depth: 999 })).toMatchObject([{ type: 'subscribed' }, { type: 'snapshot' }]);
  });

  it('gives an empty book of a market that has none yet, and its book when it has', async () => {
    const [, empty] = ask({ market: 'BTC-PERP', checksum: true });
    expect(empty).toMatchObject({ type: 'snapshot', epoch: 0, seq: 0, slot: 0, bids: [], asks: [] });
    expect(empty?.checksum).toBe(crc32('bids\nasks'));
    await stage.publish(snapshot({ marketIndex: 1, seq: 4 }));
    await stage.publish(diff(5, 490, { marketIndex: 1 }));
    expect(ofType('snapshot').slice(1)).toMatchObject([{ market: 'BTC-PERP', epoch: 1, seq: 4 }]);
    expect(diffs()).toMatchObject([{ prevSeq: 4, seq: 5 }]);
  });

  it('gives no book while it has a hole', async () => {
    await stage.publish(diff(5, 500));
    expect(ask()).toHaveLength(1);
    await stage.publish(snapshot({ seq: 6, slot: 501 }));
    expect(ofType('snapshot')).toMatchObject([{ seq: 6 }]);
  });

  it('gives every market for *, those that appear later too', async () => {
    expect(ask({ market: '*', marketType: undefined })[0]).toMatchObject({ market: '*', marketType: '*' });
    expect(published()).toMatchObject([{ market: 'SOL-PERP' }]);
    stage.reader.markets.put(marketView({ marketIndex: 9, symbol: 'NEW-PERP' }));
    await stage.publish(diff(1, 490, { marketIndex: 9 }));
    await stage.publish(diff(2, 491, { marketIndex: 9 }));
    expect(published().map(({ market }) => market)).toEqual(['SOL-PERP', 'NEW-PERP']);
    expect(diffs()).toMatchObject([{ diff: ofType('snapshot').at(-1)?.streamId, prevSeq: 1, seq: 2 }]);
    expect(MARKETS.some(({ symbol }) => symbol === 'NEW-PERP')).toBe(false);
  });

  it('gives spot markets for * with the type spot only', async () => {
    ask({ market: '*', marketType: 'spot' });
    await stage.publish(snapshot({ marketType: 'spot', marketIndex: 1 }));
    expect(published().map(({ stream }) => stream)).toEqual(['spot_1_l2']);
  });
});

describe('streams', () => {
  const open = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_streams');

  it('end with a client that is closed for what it left unread while it is being answered', async () => {
    const cut = stage.socket();
    cut.tamper = () => {
      cut.close(); // as the gateway does when it finds too much unread
      return null;
    };
    ask({ market: '*' }, cut);
    ask({ depth: 3 }, cut);
    expect(await open()).toBe(0);
    expect([...stage.feed.connections]).toEqual([]);
  });

  it('are not opened for a wildcard that holds as many as it may', async () => {
    ask({ market: '*' });
    const indexes = Array.from({ length: MAX_STREAMS + 3 }, (_, index) => 10 + index);
    await stage.publish(...indexes.map((marketIndex) => snapshot({ marketIndex })));
    expect(await open()).toBe(MAX_STREAMS);
    expect(ask({ depth: 7 })).toMatchObject([{ type: 'error', code: 'limit' }]);
    expect(await open()).toBe(MAX_STREAMS);
  });

  it('of every market are refused when a connection has too many wildcards', () => {
    for (let depth = 1; depth <= MAX_WILDCARDS / 2; depth += 1) {
      for (const marketType of ['perp', 'spot']) ask({ market: '*', depth, marketType });
    }
    expect(ask({ market: '*', depth: 1, marketType: '*' })).toMatchObject([
      { type: 'error', code: 'limit', retry: true },
    ]);
    expect(ask({ market: '*', depth: 1, marketType: 'spot' })[0]).toMatchObject({ type: 'subscribed' });
  });
});

describe('unsubscribing', () => {
  it('ends the streams that match and keeps the others', async () => {
    ask();
    ask({ depth: 1 });
    ask({ level: 'l3' });
    expect(ask({ type: 'unsubscribe', level: 'l2' })).toMatchObject([
      { type: 'unsubscribed', streams: ['perp_0_l2', 'perp_0_l2_d1'] },
    ]);
    await stage.publish(diff(2, 488));
    const l3 = ofType('snapshot').find(({ stream }) => stream === 'perp_0_l3');
    expect(diffs().map(({ diff: streamId }) => streamId)).toEqual([l3?.streamId]);
  });

  it('ends a wildcard for markets to come', async () => {
    ask({ market: '*' });
    ask({ type: 'unsubscribe', market: '*', marketType: undefined });
    await stage.publish(snapshot({ marketIndex: 1 }));
    expect(published()).toHaveLength(1);
    expect([...stage.feed.connections]).toEqual([]);
  });
});

describe('conflation', () => {
  it('gives nothing of a stream that was left to one of the same name that was begun since', async () => {
    ask({ conflation: 1000 });
    await stage.publish(diff(2, 488));
    ask({ type: 'unsubscribe' });
    ask({ conflation: 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(diffs()).toEqual([]);
    expect(ofType('snapshot')).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  });

  it('merges what happens in a tick into the newest state and links to the last message', async () => {
    ask({ conflation: 100 });
    for (let seq = 2; seq <= 9; seq += 1) await stage.publish(diff(seq, 480 + seq));
    expect(diffs()).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(diffs()).toMatchObject([{ prevSeq: 1, seq: 9, bids: [['81000000', '90']] }]);
  });

  it('lets a newcomer wait for the tick, so that its snapshot stands where the stream stands', async () => {
    ask({ conflation: 1000 });
    await stage.publish(diff(2, 488));
    const late = stage.socket();
    expect(ask({ conflation: 1000 }, late)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(ofType('snapshot', late)).toMatchObject([{ seq: 2 }]);
    await stage.publish(diff(3, 489));
    await vi.advanceTimersByTimeAsync(1000);
    expect(diffs(late)).toMatchObject([{ prevSeq: 2, seq: 3 }]);
    expect(diffs()).toMatchObject([{ prevSeq: 1 }, { prevSeq: 2 }]);
  });

  it('serialises once for two thousand subscribers', async () => {
    const crowd = Array.from({ length: 2000 }, () => stage.socket());
    for (const one of crowd) ask({ conflation: 100 }, one);
    expect(await renderings()).toBe(1);
    for (let round = 0; round < 5; round += 1) {
      await stage.publish(diff(2 + round, 488 + round));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(await renderings()).toBe(6);
    expect(crowd.every((one) => diffs(one).length === 5)).toBe(true);
  });
});

describe('depth', () => {
  it('tells levels that enter and levels that are pushed out', async () => {
    ask({ depth: 1 });
    await stage.publish(diff(2, 487, { bids: [{ price: 81_120_000, dlob: 5n, vamm: 0n }] }));
    await stage.publish(diff(3, 487, { bids: [{ price: 80_000_000, dlob: 5n, vamm: 0n }] }));
    await stage.publish(diff(4, 487, { bids: [{ price: 81_120_000, dlob: 0n, vamm: 0n }] }));
    expect(diffs().map(({ prevSeq, seq, bids }) => ({ prevSeq, seq, bids }))).toEqual([
      {
        prevSeq: 1,
        seq: 2,
        bids: [
          ['81114210', '0'],
          ['81120000', '5'],
        ],
      },
      {
        prevSeq: 2,
        seq: 4,
        bids: [
          ['81120000', '0'],
          ['81114210', '1000000000'],
        ],
      },
    ]);
  });
});

describe('resuming', () => {
  const follow = async (from: number, to: number): Promise<void> => {
    for (let seq = from; seq <= to; seq += 1) await stage.publish(diff(seq, 480 + seq));
  };

  it('fills with every missed change in order, then goes on live', async () => {
    await follow(2, 6);
    expect(ask({ resume: { epoch: 1, seq: 3 } }).slice(1)).toMatchObject([
      { type: 'resumed', recovered: true, epoch: 1, seq: 3, stream: 'perp_0_l2', streamId: 1 },
      { diff: 1, prevSeq: 3, seq: 4 },
      { diff: 1, prevSeq: 4, seq: 5 },
      { diff: 1, prevSeq: 5, seq: 6 },
    ]);
    await follow(7, 7);
    expect(socket.heard.at(-1)).toMatchObject({ prevSeq: 6, seq: 7 });
  });

  it('says recovered at once when nothing was missed', () => {
    expect(ask({ resume: { epoch: 1, seq: 1 } }).slice(1)).toMatchObject([{ type: 'resumed', recovered: true }]);
  });

  it('merges what is too much to be told one by one', async () => {
    await follow(2, RESUME_DIFFS_MAX + 10);
    expect(ask({ resume: { epoch: 1, seq: 2 } }).slice(1)).toMatchObject([
      { type: 'resumed', recovered: true },
      { diff: 1, prevSeq: 2, seq: RESUME_DIFFS_MAX + 10 },
    ]);
  });

  it.each([
    ['of another epoch', { epoch: 0, seq: 1 }],
    ['before the first change', { epoch: 1, seq: 0 }],
  ])('gives a snapshot and recovered false to a position %s', async (_, resume) => {
    ask({ resume });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, ...resume },
      { type: 'snapshot', seq: 1 },
    ]);
  });

  it('waits for a gateway that is behind the client, and gives up in time', async () => {
    expect(ask({ resume: { epoch: 1, seq: 3 } })).toHaveLength(1);
    await follow(2, 4);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: true, seq: 3 },
      { diff: 1, prevSeq: 3, seq: 4 },
    ]);
    ask({ resume: { epoch: 1, seq: 99 } });
    await vi.advanceTimersByTimeAsync(6000);
    expect(socket.heard.slice(-2)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', seq: 4 },
    ]);
  });

  it('fills from the log what a restarted gateway never had in memory', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 40, slot: 520 }));
    await follow(41, 45);
    await stage.restart();
    socket = stage.socket();
    ask({ resume: { epoch: 1, seq: 5 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.heard[1]).toMatchObject({ type: 'resumed', recovered: true });
    expect(diffs().map(({ prevSeq, seq }) => [prevSeq, seq])).toEqual(
      Array.from({ length: 40 }, (_, index) => [index + 5, index + 6]),
    );
    expect(await metricTotal(stage.metrics, 'slotbook_feed_log_reads_total')).toBe(1);
  });

  it('tells nothing of a read for a client that has left the stream since', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 90, slot: 700 }));
    ask({ resume: { epoch: 1, seq: 5 } });
    ask({ type: 'unsubscribe' });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.heard.map(({ type }) => type)).toEqual(['subscribed', 'unsubscribed']);
  });

  it('reads the log once for a crowd that returns together', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 40, slot: 520 }));
    await stage.restart();
    const reads = vi.spyOn(stage.log, 'read');
    const crowd = Array.from({ length: 200 }, () => stage.socket());
    for (const one of crowd) ask({ resume: { epoch: 1, seq: 5 }, conflation: 50 }, one);
    await vi.advanceTimersByTimeAsync(500);
    expect(crowd.every((one) => ofType('resumed', one)[0]?.recovered === true)).toBe(true);
    expect(reads.mock.calls.length).toBeLessThan(5);
    expect(await renderings()).toBe(1);
  });

  it('reads nothing for a client that has left', async () => {
    await stage.publish(snapshot({ seq: 900, slot: 700 }));
    const reads = vi.spyOn(stage.log, 'read');
    for (let seq = 800; seq >= 1; seq -= 100) ask({ resume: { epoch: 1, seq } });
    socket.close();
    await vi.advanceTimersByTimeAsync(1000);
    expect(reads.mock.calls.length).toBeLessThan(2);
  });

  it('gives a snapshot to a client that would have more read back than it may', async () => {
    const { burst } = LOG_ALLOWANCE;
    await stage.publish(snapshot({ seq: burst, slot: 700 }));
    ask({ resume: { epoch: 1, seq: burst / 2 } });
    expect(ofType('resumed')).toEqual([]);
    ask({ resume: { epoch: 1, seq: 1 } });
    expect(socket.heard.slice(-2)).toMatchObject([{ type: 'resumed', recovered: false }, { type: 'snapshot' }]);
  });

  it('gives a snapshot when the log does not hold all that was missed', async () => {
    await stage.publish(snapshot({ seq: 90, slot: 700 }));
    ask({ resume: { epoch: 1, seq: 50 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', seq: 90 },
    ]);
  });

  it('resumes every stream of a wildcard at its own position', async () => {
    await stage.publish(snapshot({ marketIndex: 1 }));
    await follow(2, 4);
    ask({ market: '*', resume: { perp_0_l2: { epoch: 1, seq: 3 }, perp_1_l2: { epoch: 1, seq: 1 } } });
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', stream: 'perp_0_l2', recovered: true },
      { diff: 1, prevSeq: 3, seq: 4 },
      { type: 'resumed', stream: 'perp_1_l2', recovered: true },
    ]);
  });
});

describe('a book that is replaced', () => {
  it('begins anew with a snapshot of the new epoch', async () => {
    ask();
    await stage.publish(diff(1, 600, { epoch: 2 }));
    expect(socket.heard.at(-1)).toMatchObject({ type: 'snapshot', epoch: 2, seq: 1 });
  });

  it('keeps silent over a hole until a snapshot heals it', async () => {
    ask();
    await stage.publish(diff(5, 500));
    expect(diffs()).toEqual([]);
    await stage.publish(snapshot({ seq: 6, slot: 501 }));
    expect(socket.heard.at(-1)).toMatchObject({ type: 'snapshot', seq: 6 });
  });
});

describe('checksums', () => {
  it('are the CRC32 of the documented text', () => {
    const [, l2] = ask({ checksum: 2 });
    const sources = '81114210 1000000000 dlob=1000000000\n80260400 6602100000 dlob=400000000,vamm=6202100000';
    expect(l2?.checksum).toBe(crc32(`bids\n${sources}\nasks\n81130450 1000000000 vamm=1000000000`));
    const [, l3] = ask({ checksum: 1, level: 'l3' });
    const [order] = (l3 as unknown as { bids: { maker: string }[] }).bids;
    expect(l3?.checksum).toBe(crc32(`bids\n81114210 1000000000 ${order?.maker} 412 user\nasks`));
  });

  it('prove queue priority: the same orders in another order have another one', async () => {
    const orders = (first: number, second: number) => [
      { price: 10, size: 1n, maker: MAKER_A, orderId: 1, source: 'user' as const, rank: [0, 0, first] },
      { price: 10, size: 1n, maker: MAKER_B, orderId: 2, source: 'user' as const, rank: [0, 0, second] },
    ];
    await stage.publish(snapshot({ marketIndex: 1, bidOrders: orders(1, 2) }));
    const [, before] = ask({ market: 'BTC-PERP', level: 'l3', checksum: true });
    await stage.publish(snapshot({ marketIndex: 1, seq: 2, epoch: 2, bidOrders: orders(2, 1) }));
    const after = socket.heard.at(-1) as unknown as BookSnapshotMessage;
    expect(before?.checksum).not.toBe(after.checksum);
    const keeper = new BookKeeper({ level: 'l3', checksum: true });
    expect(keeper.apply(after)).toBe('applied');
    expect(keeper.orders('bids').map(({ orderId }) => orderId)).toEqual([2, 1]);
  });
});

describe('the keeper', () => {
  const start = async (members: { checksum?: boolean } = {}): Promise<BookFeedClient> => {
    socket = stage.socket();
    const client = new BookFeedClient({ url: '', open: () => socket });
    client.subscribe({ market: 'SOL-PERP', ...members });
    client.connect();
    await vi.advanceTimersByTimeAsync(1);
    return client;
  };

  it('notices a missing message at the next one and heals', async () => {
    const gaps: unknown[] = [];
    const client = await start();
    client.on('gap', (gap) => gaps.push(gap));
    socket.tamper = (text) => (text.startsWith('{"diff":') ? null : text);
    await stage.publish(diff(2, 488));
    socket.tamper = (text) => text;
    await stage.publish(diff(3, 489));
    expect(gaps).toEqual([{ stream: 'perp_0_l2', held: { epoch: 1, seq: 1 }, by: 'diff' }]);
    expect(client.book('SOL-PERP')?.position).toEqual({ epoch: 1, seq: 3 });
    client.close();
  });

  it('tries again when a socket only says `error`, as Node does when nobody listens', async () => {
    let attempts = 0;
    const client = new BookFeedClient({
      url: '',
      open: () => {
        attempts += 1;
        if (attempts === 3) return stage.socket();
        const dead = stage.socket();
        dead.isOpen = false;
        queueMicrotask(() => (dead.onerror as (() => void) | null)?.());
        return dead;
      },
    });
    client.subscribe({ market: 'SOL-PERP' });
    client.connect();
    await vi.advanceTimersByTimeAsync(2000);
    expect([attempts, client.book('SOL-PERP')?.position]).toEqual([3, { epoch: 1, seq: 1 }]);
    client.close();
  });

  it('notices a missing last message by the heartbeat', async () => {
    const gaps: unknown[] = [];
    const client = await start();
    client.on('gap', (gap) => gaps.push(gap));
    socket.tamper = (text) => (text.startsWith('{"diff":') ? null : text);
    await stage.publish(diff(2, 488));
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    expect(gaps).toEqual([{ stream: 'perp_0_l2', held: { epoch: 1, seq: 1 }, by: 'heartbeat' }]);
    expect(client.book('SOL-PERP')?.position).toEqual({ epoch: 1, seq: 2 });
    client.close();
  });

  it('notices altered messages by the checksum, asks again without haste, and heals', async () => {
    const mismatches: unknown[] = [];
    const client = await start({ checksum: true });
    client.on('mismatch', (mismatch) => mismatches.push(mismatch));
    socket.tamper = (text) => text.replace('"20"', '"21"');
    await stage.publish(diff(2, 488));
    const mismatch = { stream: 'perp_0_l2_k10', position: { epoch: 1, seq: 2 } };
    expect(mismatches).toEqual([mismatch, mismatch]); // the change, and the snapshot asked for
    socket.tamper = (text) => text;
    await stage.publish(diff(3, 489));
    await vi.advanceTimersByTimeAsync(1000);
    expect(client.book('SOL-PERP')?.levels('bids')[1]).toMatchObject({ price: 81_000_000n, size: 30n });
    expect(ofType('subscribed').length).toBeLessThan(5);
    client.close();
  });
});

describe('heartbeats and shutdown', () => {
  it('tell the last sequence of every stream held, and nothing to others', async () => {
    const idle = stage.socket();
    ask();
    ask({ level: 'l3' });
    await stage.publish(diff(2, 488));
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    const position = { epoch: 1, seq: 2 };
    expect(ofType('heartbeat')).toEqual([
      { channel: 'book', type: 'heartbeat', sequences: { perp_0_l2: position, perp_0_l3: position } },
    ]);
    expect(idle.heard).toEqual([]);
  });

  it('announce a planned stop to users of the channel', () => {
    expect(stage.feed.announceShutdown()).toBe(0);
    ask();
    expect(stage.feed.announceShutdown()).toBeGreaterThan(0);
    expect(socket.heard.at(-1)).toMatchObject({ channel: 'server', type: 'serverShutdown' });
  });
});

describe('a client with much unread', () => {
  it('enters a stream when it has read the snapshot, from where the stream then stands', async () => {
    socket.tamper = (text) => {
      if (text.includes('"type":"snapshot"')) socket.unreadBytes = JOIN_BUFFER_BYTES + 1;
      return text;
    };
    ask({ depth: 2 });
    await stage.publish(diff(2, 488), diff(3, 489));
    expect(diffs()).toEqual([]);
    socket.unreadBytes = 0;
    stage.feed.drained(socket.connection);
    expect(diffs()).toMatchObject([{ prevSeq: 1, seq: 3 }]);
    expect(ofType('resumed')).toEqual([]);
    await stage.publish(diff(4, 490));
    expect(socket.heard.at(-1)).toMatchObject({ prevSeq: 3, seq: 4 });
  });

  it('costs nothing while it does not read, and begins its streams one after the other when it does', async () => {
    socket.unreadBytes = JOIN_BUFFER_BYTES + 1;
    for (let depth = 1; depth <= MAX_KINDS_PER_CONNECTION; depth += 1) ask({ depth });
    const looks = vi.spyOn(socket, 'unreadBytes', 'get').mockReturnValue(JOIN_BUFFER_BYTES + 1);
    for (let seq = 2; seq <= 20; seq += 1) await stage.publish(diff(seq, 480 + seq));
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks).not.toHaveBeenCalled();
    stage.feed.drained(socket.connection);
    expect(looks).toHaveBeenCalledTimes(1);
    expect(ofType('snapshot')).toEqual([]);
    looks.mockReturnValue(0);
    stage.feed.drained(socket.connection);
    expect(ofType('snapshot')).toHaveLength(MAX_KINDS_PER_CONNECTION);
  });
});
