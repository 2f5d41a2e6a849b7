// Resumes from memory and log, and losses that the published keeper detects.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BookFeedClient } from '../../../client/index.ts';
import { metricTotal } from '../../../platform/index.ts';
import { diff, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { BOOK_HEARTBEAT_MS, LOG_READ_RATE, RESUME_DIFFS_MAX, RESUME_WAIT_MS } from './limits.ts';

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

describe('resuming', () => {
  const follow = async (from: number, to: number): Promise<void> => {
    for (let seq = from; seq <= to; seq += 1) await stage.publish(diff(seq, 480 + seq));
  };

  it('sends every missed change in order, then live messages', async () => {
    await follow(2, 6);
    expect(socket.ask({ resume: { epoch: 1, seq: 3 } }).slice(1)).toMatchObject([
      { type: 'resumed', recovered: true, epoch: 1, seq: 3, stream: 'perp_0_l2', streamId: 1 },
      { diff: 1, prevSeq: 3, seq: 4 },
      { diff: 1, prevSeq: 4, seq: 5 },
      { diff: 1, prevSeq: 5, seq: 6 },
    ]);
    await follow(7, 7);
    expect(socket.received.at(-1)).toMatchObject({ prevSeq: 6, seq: 7 });
  });

  it('answers recovered at once when nothing was missed', () => {
    expect(socket.ask({ resume: { epoch: 1, seq: 1 } }).slice(1)).toMatchObject([{ type: 'resumed', recovered: true }]);
  });

  it('merges changes that are too many to send singly', async () => {
    await follow(2, RESUME_DIFFS_MAX + 10);
    socket.ask({ resume: { epoch: 1, seq: 2 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: true },
      { diff: 1, prevSeq: 2, seq: RESUME_DIFFS_MAX + 10 },
    ]);
  });

  it.each([
    ['of another epoch', { epoch: 0, seq: 1 }],
    ['before the first change', { epoch: 1, seq: 0 }],
  ])('gives a snapshot and recovered false to a version %s', async (_, resume) => {
    socket.ask({ resume });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, ...resume },
      { type: 'snapshot', seq: 1 },
    ]);
  });

  it('waits for a gateway that is behind the client, and gives up in time', async () => {
    expect(socket.ask({ resume: { epoch: 1, seq: 3 } })).toHaveLength(1);
    await follow(2, 4);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: true, seq: 3 },
      { diff: 1, prevSeq: 3, seq: 4 },
    ]);
    socket.ask({ resume: { epoch: 1, seq: 99 } });
    await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS);
    expect(socket.received.slice(-2)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', seq: 4 },
    ]);
  });

  it('gives up in time although the client asks again meanwhile', async () => {
    for (let asked = 0; asked < 3; asked += 1) {
      socket.ask({ resume: { epoch: 1, seq: 99 } });
      await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS / 2);
    }
    expect(socket.ofType('resumed')).toMatchObject([{ recovered: false }]);
    expect(socket.ofType('snapshot')).toHaveLength(1);
  });

  it('reads changes from the log that a restarted gateway never had in memory', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 40, slot: 520 }));
    await follow(41, 45);
    await stage.restart();
    socket = stage.socket();
    socket.ask({ resume: { epoch: 1, seq: 5 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received[1]).toMatchObject({ type: 'resumed', recovered: true });
    expect(socket.diffs().map(({ prevSeq, seq }) => [prevSeq, seq])).toEqual(
      Array.from({ length: 40 }, (_, index) => [index + 5, index + 6]),
    );
    expect(await metricTotal(stage.metrics, 'slotbook_feed_log_reads_total')).toBe(1);
  });

  it('sends nothing of a log read to a client that has left the stream', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 90, slot: 700 }));
    socket.ask({ resume: { epoch: 1, seq: 5 } });
    socket.ask({ type: 'unsubscribe' });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received.map(({ type }) => type)).toEqual(['subscribed', 'unsubscribed']);
  });

  it('reads the log once for a crowd that returns together', async () => {
    await follow(2, 40);
    await stage.publish(snapshot({ seq: 40, slot: 520 }));
    await stage.restart();
    const reads = vi.spyOn(stage.log, 'read');
    const crowd = Array.from({ length: 200 }, () => stage.socket());
    for (const one of crowd) one.ask({ resume: { epoch: 1, seq: 5 }, conflation: 50 });
    await vi.advanceTimersByTimeAsync(500);
    expect(crowd.every((one) => one.ofType('resumed')[0]?.recovered === true)).toBe(true);
    expect(reads.mock.calls.length).toBeLessThan(5);
    expect(await renderings()).toBe(1);
  });

  it('reads nothing for a client that has left', async () => {
    await stage.publish(snapshot({ seq: 900, slot: 700 }));
    const reads = vi.spyOn(stage.log, 'read');
    for (let seq = 800; seq >= 1; seq -= 100) socket.ask({ resume: { epoch: 1, seq } });
    socket.close();
    await vi.advanceTimersByTimeAsync(1000);
    expect(reads.mock.calls.length).toBeLessThan(2);
  });

  it('sends a snapshot to a client that exceeds its rate of log reads', async () => {
    const { burst } = LOG_READ_RATE;
    await stage.publish(snapshot({ seq: burst, slot: 700 }));
    socket.ask({ resume: { epoch: 1, seq: burst / 2 } });
    expect(socket.ofType('resumed')).toEqual([]);
    socket.ask({ resume: { epoch: 1, seq: 1 } });
    expect(socket.received.slice(-2)).toMatchObject([{ type: 'resumed', recovered: false }, { type: 'snapshot' }]);
  });

  it('sends a snapshot when the log lacks missed changes', async () => {
    await stage.publish(snapshot({ seq: 90, slot: 700 }));
    socket.ask({ resume: { epoch: 1, seq: 50 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false },
      { type: 'snapshot', seq: 90 },
    ]);
  });

  it('resumes every stream of a wildcard at its own version', async () => {
    await stage.publish(snapshot({ marketIndex: 1 }));
    await follow(2, 4);
    socket.ask({ market: '*', resume: { perp_0_l2: { epoch: 1, seq: 3 }, perp_1_l2: { epoch: 1, seq: 1 } } });
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', stream: 'perp_0_l2', recovered: true },
      { diff: 1, prevSeq: 3, seq: 4 },
      { type: 'resumed', stream: 'perp_1_l2', recovered: true },
    ]);
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

  it('detects a missing message at the next one and recovers', async () => {
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

  it('tries again when a socket only emits `error`, as Node does when no server listens', async () => {
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

  it('detects a missing last message by the heartbeat', async () => {
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

  it('detects altered messages by the checksum, subscribes again with a delay, and recovers', async () => {
    const mismatches: unknown[] = [];
    const client = await start({ checksum: true });
    client.on('mismatch', (mismatch) => mismatches.push(mismatch));
    socket.tamper = (text) => text.replace('"20"', '"21"');
    await stage.publish(diff(2, 488));
    const mismatch = { stream: 'perp_0_l2_k10', position: { epoch: 1, seq: 2 } };
    expect(mismatches).toEqual([mismatch, mismatch]); // The change, and the requested snapshot.
    socket.tamper = (text) => text;
    await stage.publish(diff(3, 489));
    await vi.advanceTimersByTimeAsync(1000);
    expect(client.book('SOL-PERP')?.levels('bids')[1]).toMatchObject({ price: 81_000_000n, size: 30n });
    expect(socket.ofType('subscribed').length).toBeLessThan(5);
    client.close();
  });
});
