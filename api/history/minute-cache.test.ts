import { describe, expect, it } from 'vitest';
import { FRESH_S, MinuteCache } from './minute-cache.ts';

function stage(staleS?: number) {
  let now = 1000;
  let loads = 0;
  const cache = new MinuteCache<number>(() => now, staleS);
  return {
    cache,
    pass: (seconds: number) => {
      now += seconds;
    },
    load: async () => ++loads,
    loads: () => loads,
  };
}

describe('minute cache', () => {
  it('answers for a minute without loading again', async () => {
    const { cache, load, loads, pass } = stage();
    await cache.get('a', load);
    pass(59);
    expect([await cache.get('a', load), loads()]).toEqual([1, 1]);
  });

  it('returns the old answer after a minute and a new one on the next request', async () => {
    const { cache, load, pass } = stage();
    await cache.get('a', load);
    pass(60);
    expect(await cache.get('a', load)).toBe(1);
    await Promise.resolve();
    expect(await cache.get('a', load)).toBe(2);
  });

  it('waits for a new answer after ten minutes', async () => {
    const { cache, load, pass } = stage();
    await cache.get('a', load);
    pass(600);
    expect(await cache.get('a', load)).toBe(2);
  });

  it('waits for a new answer after a minute where none may be stale', async () => {
    const { cache, load, pass } = stage(FRESH_S);
    await cache.get('a', load);
    pass(59);
    expect(await cache.get('a', load)).toBe(1);
    pass(1);
    expect(await cache.get('a', load)).toBe(2);
  });

  it('loads once for concurrent requests of a key', async () => {
    const { cache, load, loads } = stage();
    await Promise.all([cache.get('a', load), cache.get('a', load), cache.get('b', load)]);
    expect(loads()).toBe(2);
  });

  it('keeps the old answer when the reload fails, and fails without one', async () => {
    const { cache, load, pass } = stage();
    const fail = async () => {
      throw new Error('away');
    };
    await expect(cache.get('a', fail)).rejects.toThrow('away');
    await cache.get('a', load);
    pass(61);
    expect([await cache.get('a', fail), await cache.get('a', load)]).toEqual([1, 1]);
  });
});
