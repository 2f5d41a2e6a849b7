import { describe, expect, it } from 'vitest';
import type { TimeUpdate } from '../source.ts';
import { BlockClock } from './block-clock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function run(everySlots: number, slots: readonly number[], answer: (slot: number) => number | null) {
  const requested: number[] = [];
  const delivered: TimeUpdate[] = [];
  const ask = async (slot: number) => {
    requested.push(slot);
    return answer(slot);
  };
  const clock = new BlockClock(everySlots, ask, (update) => delivered.push(update));
  for (const slot of slots) {
    clock.slot(slot);
    await settled();
  }
  return { requested, delivered };
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('block clock', () => {
  it('requests the first slot, then one slot per interval', async () => {
    const { requested, delivered } = await run(50, range(100, 251), (slot) => slot * 10);
    expect(requested).toEqual([100, 150, 200, 250]);
    expect(delivered[1]).toEqual({ kind: 'time', slot: 150, ts: 1_500 });
  });

  it('repeats the request at the next slot while the node does not know the time', async () => {
    let tries = 0;
    const { requested, delivered } = await run(50, range(100, 110), () => (++tries < 4 ? null : 7));
    expect(requested).toEqual([100, 100, 100, 100]);
    expect(delivered).toEqual([{ kind: 'time', slot: 100, ts: 7 }]);
  });

  it('skips a slot without a block and takes the next', async () => {
    const { delivered } = await run(50, range(100, 140), (slot) => (slot === 100 ? null : slot));
    expect(delivered).toEqual([{ kind: 'time', slot: 120, ts: 120 }]);
  });

  it('treats a failure as a missing answer and runs one request at a time', async () => {
    const requested: number[] = [];
    const clock = new BlockClock(
      10,
      (slot) => {
        requested.push(slot);
        return requested.length === 1 ? Promise.reject(new Error('away')) : new Promise(() => {});
      },
      () => {},
    );
    for (const slot of range(0, 5)) {
      clock.slot(slot);
      await settled();
    }
    expect(requested).toEqual([0, 0]);
  });
});
