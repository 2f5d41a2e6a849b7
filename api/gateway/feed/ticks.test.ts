import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FIRST_CHANGE_WAIT_MS } from './limits.ts';
import { Ticks } from './ticks.ts';

const INTERVAL_MS = 50;
/** Timers are cut to whole milliseconds, so the clock may read less than the due time. */
const START_MS = 1000.4;

let nowMs: number;
let fired: number[];
let ticks: Ticks<string>;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = START_MS;
  fired = [];
  ticks = new Ticks(
    () => fired.push(nowMs),
    () => nowMs,
  );
});

afterEach(() => {
  ticks.stop();
  vi.useRealTimers();
});

/** Passes milliseconds one by one, with a change in each. */
function pass(count: number): void {
  for (let passed = 0; passed < count; passed += 1) {
    ticks.add('stream', INTERVAL_MS);
    nowMs += 1;
    vi.advanceTimersByTime(1);
  }
}

describe('ticks', () => {
  it('come once in each interval, at or after its boundary, however many changes there are', () => {
    pass(20 * INTERVAL_MS);
    const last = Math.floor(nowMs / INTERVAL_MS);
    expect(fired.map((atMs) => Math.floor(atMs / INTERVAL_MS))).toEqual(
      Array.from({ length: 21 }, (_, index) => last - 20 + index),
    );
    for (const atMs of fired.slice(1)) expect(atMs % INTERVAL_MS).toBeLessThan(1);
  });

  it('delay the first change after a quiet tick only by FIRST_CHANGE_WAIT_MS', () => {
    ticks.add('stream', INTERVAL_MS);
    pass(FIRST_CHANGE_WAIT_MS);
    expect(fired).toEqual([START_MS + FIRST_CHANGE_WAIT_MS]);
    pass(INTERVAL_MS - FIRST_CHANGE_WAIT_MS - 1);
    expect(fired).toHaveLength(1);
    pass(1);
    expect(fired).toHaveLength(2);
    nowMs += 3 * INTERVAL_MS;
    vi.advanceTimersByTime(3 * INTERVAL_MS);
    fired = [];
    pass(FIRST_CHANGE_WAIT_MS);
    expect(fired).toHaveLength(1);
  });

  it('do not come twice for one boundary when a timer was early', () => {
    ticks.add('stream', INTERVAL_MS);
    vi.advanceTimersByTime(FIRST_CHANGE_WAIT_MS);
    expect(fired).toEqual([START_MS]);
    ticks.add('stream', INTERVAL_MS);
    nowMs = 1049.6;
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(fired).toEqual([START_MS, 1049.6]);
    ticks.add('stream', INTERVAL_MS);
    vi.advanceTimersByTime(INTERVAL_MS - 1);
    expect(fired).toHaveLength(2);
    vi.advanceTimersByTime(2);
    expect(fired).toHaveLength(3);
  });

  it('flush each waiting item once', () => {
    const brought: string[][] = [];
    const own = new Ticks<string>(
      (items) => brought.push([...items]),
      () => nowMs,
    );
    own.add('a', INTERVAL_MS);
    own.add('b', INTERVAL_MS);
    own.add('a', INTERVAL_MS);
    vi.advanceTimersByTime(4 * INTERVAL_MS);
    expect(brought).toEqual([['a', 'b']]);
  });
});
