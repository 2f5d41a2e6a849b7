// Messages of the `book` channel while the book changes: ticks, depths, checksums, new epochs, heartbeats.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookKeeper, crc32 } from '../../../client/index.ts';
import { metricTotal } from '../../../platform/index.ts';
import type { BookSnapshotMessage } from '../../../schemas/index.ts';
import { IdleClient } from '../../../test/support/api/idle-client.ts';
import { diff, MAKER_A, MAKER_B, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { BACKPRESSURE_BYTES } from '../limits.ts';
import { Feeds } from './feeds.ts';
import { BOOK_HEARTBEAT_MS, MAX_KINDS_PER_CONNECTION } from './limits.ts';

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

const renderings = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_renderings_total');

describe('conflation', () => {
  it('sends nothing of an ended stream to a newer stream of the same name', async () => {
    socket.ask({ conflation: 1000 });
    await stage.publish(diff(2, 488));
    socket.ask({ type: 'unsubscribe' });
    socket.ask({ conflation: 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.diffs()).toEqual([]);
    expect(socket.ofType('snapshot')).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  });

  it('merges the changes of a tick into the newest state and links it to the last message', async () => {
    socket.ask({ conflation: 100 });
    for (let seq = 2; seq <= 9; seq += 1) await stage.publish(diff(seq, 480 + seq));
    expect(socket.diffs()).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 1, seq: 9, bids: [['81000000', '90']] }]);
  });

  it('lets a new subscriber wait for the tick, so that its snapshot has the version of the stream', async () => {
    socket.ask({ conflation: 1000 });
    await stage.publish(diff(2, 488));
    const late = stage.socket();
    expect(late.ask({ conflation: 1000 })).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(late.ofType('snapshot')).toMatchObject([{ seq: 2 }]);
    await stage.publish(diff(3, 489));
    await vi.advanceTimersByTimeAsync(1000);
    expect(late.diffs()).toMatchObject([{ prevSeq: 2, seq: 3 }]);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 1 }, { prevSeq: 2 }]);
  });

  it('serialises once for two thousand subscribers', async () => {
    const crowd = Array.from({ length: 2000 }, () => stage.socket());
    for (const one of crowd) one.ask({ conflation: 100 });
    expect(await renderings()).toBe(1);
    for (let round = 0; round < 5; round += 1) {
      await stage.publish(diff(2 + round, 488 + round));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(await renderings()).toBe(6);
    expect(crowd.every((one) => one.diffs().length === 5)).toBe(true);
  });
});

describe('depth', () => {
  it('sends levels that enter and removes levels that are pushed out', async () => {
    socket.ask({ depth: 1 });
    await stage.publish(diff(2, 487, { bids: [{ price: 81_120_000, dlob: 5n, vamm: 0n }] }));
    await stage.publish(diff(3, 487, { bids: [{ price: 80_000_000, dlob: 5n, vamm: 0n }] }));
    await stage.publish(diff(4, 487, { bids: [{ price: 81_120_000, dlob: 0n, vamm: 0n }] }));
    expect(socket.diffs().map(({ prevSeq, seq, bids }) => ({ prevSeq, seq, bids }))).toEqual([
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

describe('a book that is replaced', () => {
  it('begins anew with a snapshot of the new epoch', async () => {
    socket.ask();
    await stage.publish(diff(1, 600, { epoch: 2 }));
    expect(socket.received.at(-1)).toMatchObject({ type: 'snapshot', epoch: 2, seq: 1 });
  });

  it('sends nothing during a gap until a snapshot closes it', async () => {
    socket.ask();
    await stage.publish(diff(5, 500));
    expect(socket.diffs()).toEqual([]);
    await stage.publish(snapshot({ seq: 6, slot: 501 }));
    expect(socket.received.at(-1)).toMatchObject({ type: 'snapshot', seq: 6 });
  });
});

describe('checksums', () => {
  it('are the CRC32 of the documented text', () => {
    const [, l2] = socket.ask({ checksum: 2 });
    const sources = '81114210 1000000000 dlob=1000000000\n80260400 6602100000 dlob=400000000,vamm=6202100000';
    expect(l2?.checksum).toBe(crc32(`bids\n${sources}\nasks\n81130450 1000000000 vamm=1000000000`));
    const [, l3] = socket.ask({ checksum: 1, level: 'l3' });
    const [order] = (l3 as unknown as { bids: { maker: string }[] }).bids;
    expect(l3?.checksum).toBe(crc32(`bids\n81114210 1000000000 ${order?.maker} 412 user\nasks`));
  });

  it('prove queue priority: the same orders in another order have another one', async () => {
    const orders = (first: number, second: number) => [
      { price: 10, size: 1n, maker: MAKER_A, orderId: 1, source: 'user' as const, rank: [0, 0, first] },
      { price: 10, size: 1n, maker: MAKER_B, orderId: 2, source: 'user' as const, rank: [0, 0, second] },
    ];
    await stage.publish(snapshot({ marketIndex: 1, bidOrders: orders(1, 2) }));
    const [, before] = socket.ask({ market: 'BTC-PERP', level: 'l3', checksum: true });
    await stage.publish(snapshot({ marketIndex: 1, seq: 2, epoch: 2, bidOrders: orders(2, 1) }));
    const after = socket.received.at(-1) as unknown as BookSnapshotMessage;
    expect(before?.checksum).not.toBe(after.checksum);
    const keeper = new BookKeeper({ level: 'l3', checksum: true });
    expect(keeper.apply(after)).toBe('applied');
    expect(keeper.orders('bids').map(({ orderId }) => orderId)).toEqual([2, 1]);
  });
});

describe('heartbeats and shutdown', () => {
  it('carry the last sequence of every stream, and go to no other connection', async () => {
    const idle = stage.socket();
    socket.ask();
    socket.ask({ level: 'l3' });
    await stage.publish(diff(2, 488));
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    const version = { epoch: 1, seq: 2 };
    expect(socket.ofType('heartbeat')).toMatchObject([
      { channel: 'book', sequences: { perp_0_l2: version, perp_0_l3: version } },
    ]);
    expect(idle.received).toEqual([]);
  });

  it('announce a planned stop to users of the channel', () => {
    const feeds = new Feeds({ book: stage.feed, 'trades.v2': stage.feed, account: stage.feed });
    expect(feeds.announceShutdown()).toBe(0);
    socket.ask();
    expect(feeds.announceShutdown()).toBeGreaterThan(0);
    expect(socket.received.at(-1)).toMatchObject({ channel: 'server', type: 'serverShutdown' });
  });
});

describe('a client with backpressure', () => {
  it('becomes active when it has read the snapshot, with a backfill to the current version', async () => {
    socket.tamper = (text) => {
      if (text.includes('"type":"snapshot"')) socket.unreadBytes = BACKPRESSURE_BYTES + 1;
      return text;
    };
    socket.ask({ depth: 2 });
    await stage.publish(diff(2, 488), diff(3, 489));
    expect(socket.diffs()).toEqual([]);
    socket.unreadBytes = 0;
    stage.feed.drained(socket.connection);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 1, seq: 3 }]);
    expect(socket.ofType('resumed')).toEqual([]);
    await stage.publish(diff(4, 490));
    expect(socket.received.at(-1)).toMatchObject({ prevSeq: 3, seq: 4 });
  });

  it('is not closed by what else is due while it reads a book of more than 300,000 bytes', async () => {
    const client = new IdleClient();
    const { connection } = client;
    const book = { type: 'subscribe', channel: 'book', market: 'SOL-PERP', marketType: 'perp' };
    const ask = (members: object) => stage.feed.request(connection, 'subscribe', { ...book, ...members });
    const received = () => client.sent.map((text) => JSON.parse(text) as Record<string, unknown>);
    const bidOrders = Array.from({ length: 3_000 }, (_, orderId) => {
      return { price: 81_000_000, size: 1n, maker: MAKER_A, orderId, source: 'user' as const, rank: [orderId] };
    });
    await stage.publish(diff(2, 488, { bidOrders }));
    ask({});
    ask({ level: 'l3' });
    expect(client.getBufferedAmount()).toBeGreaterThan(300_000);
    await stage.publish(diff(3, 489));
    ask({ depth: 5 });
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    expect(client.ended).toBeNull();
    expect(received().slice(-3)).toMatchObject([{ diff: 1, seq: 3 }, { type: 'subscribed' }, { type: 'heartbeat' }]);
    client.sent = [];
    connection.drained();
    stage.feed.drained(connection);
    expect(received()).toContainEqual(expect.objectContaining({ diff: 2, prevSeq: 2, seq: 3 }));
    client.unreadBytes = 300_001;
    await stage.publish(diff(4, 490));
    expect(client.ended).toEqual([1008, 'Buffer overflow']);
  });

  it('costs nothing while it does not read, and starts its streams one after the other when it does', async () => {
    socket.unreadBytes = BACKPRESSURE_BYTES + 1;
    for (let depth = 1; depth <= MAX_KINDS_PER_CONNECTION; depth += 1) socket.ask({ depth });
    const looks = vi.spyOn(socket, 'unreadBytes', 'get').mockReturnValue(BACKPRESSURE_BYTES + 1);
    for (let seq = 2; seq <= 20; seq += 1) await stage.publish(diff(seq, 480 + seq));
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks).not.toHaveBeenCalled();
    stage.feed.drained(socket.connection);
    expect(looks).toHaveBeenCalledTimes(1);
    expect(socket.ofType('snapshot')).toEqual([]);
    looks.mockReturnValue(0);
    stage.feed.drained(socket.connection);
    expect(socket.ofType('snapshot')).toHaveLength(MAX_KINDS_PER_CONNECTION);
  });
});
