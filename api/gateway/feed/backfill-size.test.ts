// A resuming client gets at most a small multiple of the book, however much the market moved meanwhile.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BookChoice, BookKeeper } from '../../../client/index.ts';
import type { BookDiffMessage, BookSnapshotMessage, ViewLevel, ViewOrder } from '../../../schemas/index.ts';
import { diff, MAKER_A, snapshot } from '../../../test/support/api/stage.ts';
import { dumpKeeper, dumpView } from '../../../test/support/feed/dump.ts';
import { FeedStage } from '../../../test/support/feed/feed-stage.ts';
import { RESUME_DIFFS_MAX } from './limits.ts';

/** Levels per side that each change replaces, with one order each. */
const QUOTED = 20;
const MOVES = 60;
const STEP = 1000;

function levelsAt(move: number, sign: 1 | -1): ViewLevel[] {
  const mid = 81_000_000 + move * 7 * STEP;
  return Array.from({ length: QUOTED }, (_, at) => ({
    price: mid + sign * (at + 1) * STEP + move,
    dlob: BigInt(1_000_000_000 + move),
    vamm: 0n,
  }));
}

function ordersAt(move: number, sign: 1 | -1): ViewOrder[] {
  return levelsAt(move, sign).map(({ price, dlob: size }, at) => {
    const orderId = (2 * move + (sign > 0 ? 1 : 0)) * QUOTED + at;
    return { price, size, maker: MAKER_A, orderId, source: 'user', rank: [0, 1, orderId] };
  });
}

const gone = (levels: readonly ViewLevel[]): ViewLevel[] => levels.map(({ price }) => ({ price, dlob: 0n, vamm: 0n }));

/** Replaces every level and order. */
function move(at: number) {
  return diff(at + 1, 487 + at, {
    bids: [...gone(levelsAt(at - 1, -1)), ...levelsAt(at, -1)],
    asks: [...gone(levelsAt(at - 1, 1)), ...levelsAt(at, 1)],
    gone: [...ordersAt(at - 1, -1), ...ordersAt(at - 1, 1)],
    bidOrders: ordersAt(at, -1),
    askOrders: ordersAt(at, 1),
  });
}

const FIRST = snapshot({
  bids: levelsAt(0, -1),
  asks: levelsAt(0, 1),
  bidOrders: ordersAt(0, -1),
  askOrders: ordersAt(0, 1),
});

let stage: FeedStage;

beforeEach(async () => {
  vi.useFakeTimers();
  stage = new FeedStage();
  await stage.publish(FIRST);
});

afterEach(() => {
  stage.feed.stop();
  vi.useRealTimers();
});

type BookMessage = BookSnapshotMessage | BookDiffMessage;
const lengthOf = (message: unknown): number => JSON.stringify(message).length;

async function comeBack(choice: Omit<BookChoice, 'market'>, moves: number) {
  const { level = 'l2', depth } = choice;
  const socket = stage.socket();
  socket.ask(choice);
  const held = socket.received.at(-1) as unknown as BookMessage;
  socket.close();
  const keeper = new BookKeeper({ level, ...(depth ? { depth } : {}) });
  expect(keeper.apply(held)).toBe('applied');
  for (let at = 1; at <= moves; at += 1) await stage.publish(move(at));
  const back = stage.socket();
  back.ask({ ...choice, resume: { epoch: held.epoch, seq: held.seq } });
  await vi.advanceTimersByTimeAsync(2000);
  expect(back.received[1]).toMatchObject({ type: 'resumed', recovered: true });
  const filled = back.received.slice(2) as unknown as BookMessage[];
  for (const message of filled) expect(keeper.apply(message)).toBe('applied');
  const view = stage.reader.bookByKey('perp-0')?.view;
  expect(dumpKeeper(keeper)).toBe(view && dumpView(view, level, depth));
  return { filled, bytes: filled.reduce((sum, message) => sum + lengthOf(message), 0), book: lengthOf(held) };
}

describe('a client of a market whose levels move', () => {
  it.each([
    { depth: 1 },
    { depth: 5, conflation: 100 },
    { depth: 20 },
    { conflation: 1000 },
    { level: 'l3', depth: 1 },
    { level: 'l3', depth: 20 },
    { level: 'l3', conflation: 400 },
  ] as const)('gets at most a small multiple of the book when it comes back, %j', async (choice) => {
    const { bytes, book } = await comeBack(choice, MOVES);
    expect(bytes).toBeLessThan(1.5 * book);
  });

  it('gets the book when single changes are too many', async () => {
    const { filled, bytes, book } = await comeBack({}, RESUME_DIFFS_MAX / 4);
    expect(filled).toMatchObject([{ type: 'snapshot' }]);
    expect(bytes).toBeLessThan(1.5 * book);
  });

  it('gets single changes of the whole book while they are few', async () => {
    const { filled } = await comeBack({}, 5);
    expect(filled.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6]);
  });

  it('gets the merged change while it is shorter than the book', async () => {
    await stage.publish(move(1));
    const socket = stage.socket();
    socket.ask({ resume: { epoch: 1, seq: 2 }, depth: 20 });
    for (let seq = 3; seq <= 9; seq += 1)
      await stage.publish(diff(seq, 500 + seq, { bids: levelsAt(1, -1).slice(0, 2) }));
    const back = stage.socket();
    back.ask({ resume: { epoch: 1, seq: 2 }, conflation: 50 });
    await vi.advanceTimersByTimeAsync(200);
    expect(back.received.slice(1)).toMatchObject([
      { type: 'resumed', recovered: true },
      { prevSeq: 2, seq: 9 },
    ]);
  });

  it.each(['l2', 'l3'] as const)('gets the book for a tick that changed all of it, %s', async (level) => {
    const socket = stage.socket();
    socket.ask({ level, conflation: 1000 });
    for (let at = 1; at <= MOVES; at += 1) await stage.publish(move(at));
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.received.slice(1)).toMatchObject([
      { type: 'snapshot', seq: 1 },
      { type: 'snapshot', seq: MOVES + 1 },
    ]);
    await stage.publish(diff(MOVES + 2, 999, { bids: levelsAt(MOVES, -1).slice(0, 1) }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.diffs()).toMatchObject([{ prevSeq: MOVES + 1, seq: MOVES + 2 }]);
  });

  it('gets no entry for levels that came and went within a tick', async () => {
    const socket = stage.socket();
    socket.ask({ conflation: 1000 });
    const level = { price: 80_000_000, dlob: 5n, vamm: 0n };
    await stage.publish(diff(2, 500, { bids: [level] }), diff(3, 501, { bids: gone([level]) }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.diffs()).toEqual([{ diff: 1, epoch: 1, seq: 3, prevSeq: 1, slot: 501, ts: stage.reader.nowMs }]);
    await stage.publish(diff(4, 502, { bids: [level] }));
    await vi.advanceTimersByTimeAsync(1000);
    await stage.publish(diff(5, 503, { bids: gone([level]) }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(socket.diffs().at(-1)).toMatchObject({ bids: [['80000000', '0']] });
  });
});
