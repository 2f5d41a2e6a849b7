// What subscribers of the `book` channel hear while the book changes: ticks, depths, checksums, new epochs, heartbeats.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookKeeper, crc32 } from '../../../client/index.ts';
import { metricTotal } from '../../../platform/index.ts';
import type { BookSnapshotMessage } from '../../../schemas/index.ts';
import { diff, MAKER_A, MAKER_B, snapshot } from '../../testing/stage.ts';
import { BOOK_HEARTBEAT_MS, JOIN_BUFFER_BYTES, MAX_KINDS_PER_CONNECTION } from './limits.ts';
import { type DirectSocket, FeedStage } from './testing/feed-stage.ts';

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
  it('gives nothing of a stream that was left to one of the same name that was begun since', async () => {
    socket.ask({ conflation: 1000 });
    await stage.publish(diff(2, 488));
    socket.ask({ type: 'unsubscribe' });
    socket.ask({ conflation: 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.diffs()).toEqual([]);
    expect(socket.ofType('snapshot')).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  });

  it('merges what happens in a tick into the newest state and links to the last message', async () => {
    socket.ask({ conflation: 100 });
    for (let seq = 2; seq <= 9; seq += 1) await stage.publish(diff(seq, 480 + seq));
    expect(socket.diffs()).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 1, seq: 9, bids: [['81000000', '90']] }]);
  });

  it('lets a newcomer wait for the tick, so that its snapshot stands where the stream stands', async () => {
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
  it('tells levels that enter and levels that are pushed out', async () => {
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
    expect(socket.heard.at(-1)).toMatchObject({ type: 'snapshot', epoch: 2, seq: 1 });
  });

  it('keeps silent over a hole until a snapshot heals it', async () => {
    socket.ask();
    await stage.publish(diff(5, 500));
    expect(socket.diffs()).toEqual([]);
    await stage.publish(snapshot({ seq: 6, slot: 501 }));
    expect(socket.heard.at(-1)).toMatchObject({ type: 'snapshot', seq: 6 });
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
    const after = socket.heard.at(-1) as unknown as BookSnapshotMessage;
    expect(before?.checksum).not.toBe(after.checksum);
    const keeper = new BookKeeper({ level: 'l3', checksum: true });
    expect(keeper.apply(after)).toBe('applied');
    expect(keeper.orders('bids').map(({ orderId }) => orderId)).toEqual([2, 1]);
  });
});

describe('heartbeats and shutdown', () => {
  it('tell the last sequence of every stream held, and nothing to others', async () => {
    const idle = stage.socket();
    socket.ask();
    socket.ask({ level: 'l3' });
    await stage.publish(diff(2, 488));
    await vi.advanceTimersByTimeAsync(BOOK_HEARTBEAT_MS);
    const position = { epoch: 1, seq: 2 };
    expect(socket.ofType('heartbeat')).toEqual([
      { channel: 'book', type: 'heartbeat', sequences: { perp_0_l2: position, perp_0_l3: position } },
    ]);
    expect(idle.heard).toEqual([]);
  });

  it('announce a planned stop to users of the channel', () => {
    expect(stage.feed.announceShutdown()).toBe(0);
    socket.ask();
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
    socket.ask({ depth: 2 });
    await stage.publish(diff(2, 488), diff(3, 489));
    expect(socket.diffs()).toEqual([]);
    socket.unreadBytes = 0;
    stage.feed.drained(socket.connection);
    expect(socket.diffs()).toMatchObject([{ prevSeq: 1, seq: 3 }]);
    expect(socket.ofType('resumed')).toEqual([]);
    await stage.publish(diff(4, 490));
    expect(socket.heard.at(-1)).toMatchObject({ prevSeq: 3, seq: 4 });
  });

  it('costs nothing while it does not read, and begins its streams one after the other when it does', async () => {
    socket.unreadBytes = JOIN_BUFFER_BYTES + 1;
    for (let depth = 1; depth <= MAX_KINDS_PER_CONNECTION; depth += 1) socket.ask({ depth });
    const looks = vi.spyOn(socket, 'unreadBytes', 'get').mockReturnValue(JOIN_BUFFER_BYTES + 1);
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
