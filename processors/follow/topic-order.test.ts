import { describe, expect, it, vi } from 'vitest';
import { TopicOrder, WAIT_MS } from './topic-order.ts';

/** Gives the batches of some topics to an order, each with its slots, and returns the order in which they ran. */
async function ran(topics: Readonly<Record<string, readonly number[]>>): Promise<string[]> {
  const done: string[] = [];
  const topicOrder = new TopicOrder();
  for (const [topic, places] of Object.entries(topics)) topicOrder.expect(topic, 0, BigInt(places.length));
  const loops = Object.entries(topics).map(async ([topic, places]) => {
    for (const [index, place] of places.entries()) {
      topicOrder.expect(topic, 0, BigInt(places.length - index - 1));
      await topicOrder.run(topic, place, async () => {
        await Promise.resolve();
        done.push(`${topic}${place}`);
      });
    }
  });
  await Promise.all(loops);
  return done;
}

describe('a topic order', () => {
  it('runs batches of several topics in the order in which they begin', async () => {
    expect(await ran({ a: [1, 2, 3, 10], b: [4, 9, 11] })).toEqual(['a1', 'a2', 'a3', 'b4', 'b9', 'a10', 'b11']);
  });
  it('does not wait for a topic that has no more', async () => {
    expect(await ran({ a: [5], b: [1, 2], c: [] })).toEqual(['b1', 'b2', 'a5']);
  });
  it('waits a limited time for a topic that should have more', async () => {
    vi.useFakeTimers();
    try {
      const topicOrder = new TopicOrder();
      topicOrder.expect('late', 0, 1n);
      const task = vi.fn(async () => {});
      const run = topicOrder.run('a', 1, task);
      await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
      expect(task).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await run).toBe(true);
      expect(task).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });
  it('runs nothing after a failed task', async () => {
    const topicOrder = new TopicOrder();
    topicOrder.expect('b', 0, 1n);
    const failing = topicOrder.run('a', 1, () => Promise.reject(new Error('no store')));
    const waiting = topicOrder.run('b', 2, async () => {});
    await expect(failing).rejects.toThrow('no store');
    expect(await waiting).toBe(false);
    expect(await topicOrder.run('c', 0, async () => {})).toBe(false);
  });
});
