import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FinalUpdate } from '../source.ts';
import { FinalityClock, type FinalityNode } from './finality-clock.ts';

describe('the finalized slot', () => {
  const time = (slot: number) => ({ kind: 'time', slot, ts: 1_000 + slot }) as const;
  let finalized = 0;
  let requests = 0;
  let found: FinalUpdate[];
  let stop: AbortController;
  const node: FinalityNode = {
    slot: async () => {
      requests += 1;
      if (finalized < 0) throw new Error('away');
      return finalized;
    },
    time: async (slot) => (slot % 10 === 9 ? null : 1_000 + slot),
  };
  const clockOf = (everySlots: number) => new FinalityClock(everySlots, node, (one) => found.push(one), stop.signal);
  const settled = () => vi.advanceTimersByTimeAsync(0);

  beforeEach(() => {
    vi.useFakeTimers();
    found = [];
    requests = 0;
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort();
    vi.useRealTimers();
  });

  it('comes with the time of its block, each once, at most once in so many slots', async () => {
    const clock = clockOf(10);
    finalized = 5;
    for (const slot of [10, 12, 19]) {
      clock.time(time(slot));
      await settled();
    }
    expect(requests).toBe(1);
    clock.time(time(20));
    await settled();
    finalized = 18;
    clock.time(time(30));
    await settled();
    expect(found).toEqual([
      { kind: 'final', slot: 5, ts: 1_005 },
      { kind: 'final', slot: 18, ts: 1_018 },
    ]);
  });

  it('is asked for again while the node is away, has no time of it, or has not reached the newest block time', async () => {
    const clock = clockOf(0);
    finalized = -1;
    clock.time(time(40));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(found).toEqual([]);
    finalized = 29;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(found).toEqual([]);
    finalized = 30;
    await vi.advanceTimersByTimeAsync(5_000);
    finalized = 40;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(found.map(({ slot }) => slot)).toEqual([30, 40]);
    const before = requests;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toBe(before);
  });

  it('is not asked for after the source stopped', async () => {
    const clock = clockOf(0);
    finalized = 1;
    clock.time(time(40));
    await settled();
    stop.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toBe(1);
  });
});
