import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlotMarks } from './slot-marks.ts';

/** Slots of a live stream that goes on in steps, with backfills of older slots in between. */
const stream = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ ahead: fc.integer({ min: 0, max: 900 }) }) },
      { weight: 1, arbitrary: fc.record({ back: fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 40 }) }) },
    ),
    { maxLength: 200 },
  )
  .map((parts) => {
    let live = 200_000;
    return parts.flatMap((part) => {
      if ('back' in part) return part.back.map((slots) => live - slots);
      live += part.ahead;
      return [live];
    });
  });

/** Marks after batches of some size, and the same restored after each of them. */
function marksOf(slots: readonly number[], batch: number, restarts: boolean): SlotMarks {
  let marks = new SlotMarks(2);
  let saved: Buffer | null = null;
  for (let next = batch; next <= slots.length; next += batch) {
    const newest = slots.slice(0, next).reduce((a, b) => Math.max(a, b));
    marks.note(newest, [BigInt(next), BigInt(next * 2)]);
    saved = marks.takeChange() ?? saved;
    if (!restarts || saved === null) continue;
    marks = new SlotMarks(2);
    marks.restore(saved);
  }
  return marks;
}

describe('marks of slots', () => {
  it('begin before every record above a slot, whatever older records came in between, over restarts', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 3 }), (slots, batch, earlier) => {
        for (const restarts of [false, true]) {
          const marks = marksOf(slots, batch, restarts);
          for (const slot of slots) {
            const [start = 0n, other = 0n] = marks.before(slot, earlier) ?? [];
            expect(other).toBe(start * 2n);
            expect(slots.slice(0, Number(start)).every((one) => one <= slot)).toBe(true);
          }
        }
      }),
    );
  });

  it('behind the end of a partition that lost its tail give way to one at the end', () => {
    const marks = new SlotMarks(2);
    marks.note(2_000, [10n, 20n]);
    marks.note(4_000, [30n, 40n]);
    marks.takeChange();
    marks.note(4_000, [30n, 35n]);
    expect(marks.before(9_000)).toEqual([30n, 35n]);
    const restored = new SlotMarks(2);
    restored.restore(marks.takeChange() ?? new Uint8Array());
    expect(restored.before(9_000)).toEqual([30n, 35n]);
  });

  it('are near: less than the step and one batch before the first record above the slot', () => {
    const slots = Array.from({ length: 20_000 }, (_, n) => n);
    const [start = 0n] = marksOf(slots, 100, false).before(10_000) ?? [];
    expect(Number(start)).toBeGreaterThan(10_000 - 1_700);
  });
});
