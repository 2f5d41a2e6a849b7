// A resume that needs the log ends in time, however slow the log and however many changes arrive meanwhile.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { metricTotal } from '../../../platform/index.ts';
import type { ViewOrder } from '../../../schemas/index.ts';
import { diff, MAKER_A, snapshot } from '../../../test/support/api/stage.ts';
import { type DirectSocket, FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { RESUME_WAIT_MS, RINGS_BYTES_MAX } from './limits.ts';

/** Orders that only enlarge changes: a ring's share holds some sixteen such changes, and four times as many during a backfill. */
const ORDERS = Array.from({ length: 1000 }, (_, orderId): ViewOrder => {
  return { price: 1000, size: 0n, maker: MAKER_A, orderId, source: 'user', rank: [0, 1, orderId] };
});
const HELD_SEQ = 3;
let stage: FeedStage;
let socket: DirectSocket;
let seq: number;
let letRead: () => void;

async function follow(count: number): Promise<void> {
  for (const until = seq + count; seq < until; ) await stage.publish(diff(++seq, 480 + seq, { bidOrders: ORDERS }));
}

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new FeedStage();
  stage.rings.bytes = RINGS_BYTES_MAX;
  await stage.publish(snapshot());
  seq = 1;
  await follow(40);
  const read = stage.log.read.bind(stage.log);
  const gate = new Promise<void>((resolve) => {
    letRead = resolve;
  });
  vi.spyOn(stage.log, 'read').mockImplementation((...args) => gate.then(() => read(...args)));
  socket = stage.socket();
  socket.ask({ resume: { epoch: 1, seq: HELD_SEQ } });
  await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS / 2);
  expect(socket.received).toHaveLength(1);
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

const reads = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_log_reads_total');

describe('a resume from the log', () => {
  it('takes one read, while as many changes arrive as memory holds', async () => {
    await follow(20);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.ofType('resumed')).toMatchObject([{ recovered: true, seq: HELD_SEQ }]);
    await follow(2);
    expect(socket.diffs().map(({ prevSeq }) => prevSeq)).toEqual(
      Array.from({ length: seq - HELD_SEQ }, (_, at) => HELD_SEQ + at),
    );
    expect(await reads()).toBe(1);
  });

  it('ends with the book, without a second read, when more changes arrive', async () => {
    await follow(150);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, seq: HELD_SEQ },
      { type: 'snapshot', seq },
    ]);
    expect(await reads()).toBe(1);
  });

  it('ends with the book, once, when the log does not answer in time, and continues live', async () => {
    await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS / 2);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    await follow(1);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, seq: HELD_SEQ },
      { type: 'snapshot', seq: seq - 1 },
      { prevSeq: seq - 1, seq },
    ]);
  });
});
