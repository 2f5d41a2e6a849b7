import { describe, expect, it } from 'vitest';
import type { TimeUpdate } from '../source.ts';
import { BlockClock } from './block-clock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function run(everySlots: number, slots: readonly number[], answer: (slot: number) => number | null) {
  const asked: number[] = [];
  const told: TimeUpdate[] = [];
  const ask = async (slot: number) => {
    asked.push(slot);
    return answer(slot);
  };
  const clock = new BlockClock(everySlots, ask, (update) => told.push(update));
  for (const slot of slots) {
    clock.slot(slot);
    await settled();
  }
  return { asked, told };
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('block clock', () => {
  it('asks for the first slot and then once in the given number of slots', async () => {
    const { asked, told } = await run(50, range(100, 251), (slot) => slot * 10);
    expect(asked).toEqual([100, 150, 200, 250]);
    expect(told[1]).toEqual({ kind: 'time', slot: 150, ts: 1_500 });
  });

  it('asks again at the next slot while the node does not know the time', async () => {
    let tries = 0;
    const { asked, told } = await run(50, range(100, 110), () => (++tries < 4 ? null : 7));
    expect(asked).toEqual([100, 100, 100, 100]);
    expect(told).toEqual([{ kind: 'time', slot: 100, ts: 7 }]);
  });

  it('gives a slot up that has no block, and takes the next', async () => {
    const { told } = await run(50, range(100, 140), (slot) => (slot === 100 ? null : slot));
    expect(told).toEqual([{ kind: 'time', slot: 120, ts: 120 }]);
  });

  it('takes a failure for a missing answer, and never asks twice at once', async () => {
    const asked: number[] = [];
    const clock = new BlockClock(
      10,
      (slot) => {
        asked.push(slot);
        return asked.length === 1 ? Promise.reject(new Error('away')) : new Promise(() => {});
      },
      () => {},
    );
    for (const slot of range(0, 5)) {
      clock.slot(slot);
      await settled();
    }
    expect(asked).toEqual([0, 0]);
  });
});
