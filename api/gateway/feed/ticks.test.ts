import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Ticks } from './ticks.ts';

const INTERVAL_MS = 50;
/** As engines do: a timer is cut to whole milliseconds, and what it reads then may lie before what was asked for. */
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

/** Passes milliseconds one by one, with something to tell in each of them. */
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
    expect(fired).toHaveLength(20);
    for (const atMs of fired) expect(atMs % INTERVAL_MS).toBeLessThan(1);
  });

  it('do not come twice for one boundary when a timer was early', () => {
    ticks.add('stream', INTERVAL_MS);
    nowMs = 1049.6;
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(fired).toEqual([1049.6]);
    ticks.add('stream', INTERVAL_MS);
    vi.advanceTimersByTime(INTERVAL_MS - 1);
    expect(fired).toHaveLength(1);
    vi.advanceTimersByTime(2);
    expect(fired).toHaveLength(2);
  });

  it('bring what waited, once', () => {
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
