// A resume that needs the log ends in time, whatever the log does and however much is published meanwhile.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { metricTotal } from '../../../platform/index.ts';
import type { ViewOrder } from '../../../schemas/index.ts';
import { diff, MAKER_A, snapshot } from '../../testing/stage.ts';
import { RESUME_WAIT_MS, RINGS_BYTES_MAX } from './limits.ts';
import { type DirectSocket, FeedStage } from './testing/feed-stage.ts';

/** Bytes that streams of levels do not tell: a share of memory holds some sixteen of them, and four times as many while it is held. */
const ORDERS = Array.from({ length: 1000 }, (_, orderId): ViewOrder => {
  return { price: 1000, size: 0n, maker: MAKER_A, orderId, source: 'user', rank: [0, 1, orderId] };
});
const STANDS = 3;
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
  socket.ask({ resume: { epoch: 1, seq: STANDS } });
  await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS / 2);
  expect(socket.heard).toHaveLength(1);
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

const reads = (): Promise<number> => metricTotal(stage.metrics, 'slotbook_feed_log_reads_total');

describe('a client whose changes are read from the log', () => {
  it('gets all of them by one read, while as many again are published as memory holds', async () => {
    await follow(20);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.ofType('resumed')).toMatchObject([{ recovered: true, seq: STANDS }]);
    await follow(2);
    expect(socket.diffs().map(({ prevSeq }) => prevSeq)).toEqual(
      Array.from({ length: seq - STANDS }, (_, at) => STANDS + at),
    );
    expect(await reads()).toBe(1);
  });

  it('gets the book, and no second read, when more is published than that', async () => {
    await follow(150);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, seq: STANDS },
      { type: 'snapshot', seq },
    ]);
    expect(await reads()).toBe(1);
  });

  it('gets the book when the log does not answer in time, once, and goes on live', async () => {
    await vi.advanceTimersByTimeAsync(RESUME_WAIT_MS / 2);
    letRead();
    await vi.advanceTimersByTimeAsync(100);
    await follow(1);
    expect(socket.heard.slice(1)).toMatchObject([
      { type: 'resumed', recovered: false, seq: STANDS },
      { type: 'snapshot', seq: seq - 1 },
      { prevSeq: seq - 1, seq },
    ]);
  });
});
