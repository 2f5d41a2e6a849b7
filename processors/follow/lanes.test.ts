import { describe, expect, it, vi } from 'vitest';
import { Lanes, WAIT_MS } from './lanes.ts';

/** Gives the batches of some topics to lanes, each a number of places, and says in which order they ran. */
async function ran(topics: Readonly<Record<string, readonly number[]>>): Promise<string[]> {
  const order: string[] = [];
  const lanes = new Lanes();
  for (const [topic, places] of Object.entries(topics)) lanes.expect(topic, 0, BigInt(places.length));
  const loops = Object.entries(topics).map(async ([topic, places]) => {
    for (const [index, place] of places.entries()) {
      lanes.expect(topic, 0, BigInt(places.length - index - 1));
      await lanes.run(topic, place, async () => {
        await Promise.resolve();
        order.push(`${topic}${place}`);
      });
    }
  });
  await Promise.all(loops);
  return order;
}

describe('lanes', () => {
  it('run batches of several topics in the order in which they begin', async () => {
    expect(await ran({ a: [1, 2, 3, 10], b: [4, 9, 11] })).toEqual(['a1', 'a2', 'a3', 'b4', 'b9', 'a10', 'b11']);
  });
  it('do not wait for a topic that has no more', async () => {
    expect(await ran({ a: [5], b: [1, 2], c: [] })).toEqual(['b1', 'b2', 'a5']);
  });
  it('wait for a topic that should have more, but not for good', async () => {
    vi.useFakeTimers();
    try {
      const lanes = new Lanes();
      lanes.expect('late', 0, 1n);
      const task = vi.fn(async () => {});
      const run = lanes.run('a', 1, task);
      await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
      expect(task).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await run).toBe(true);
      expect(task).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });
  it('run nothing after a task that failed, nor after they were closed', async () => {
    const lanes = new Lanes();
    lanes.expect('b', 0, 1n);
    const failing = lanes.run('a', 1, () => Promise.reject(new Error('no store')));
    const waiting = lanes.run('b', 2, async () => {});
    await expect(failing).rejects.toThrow('no store');
    expect(await waiting).toBe(false);
    expect(await lanes.run('c', 0, async () => {})).toBe(false);
  });
});
