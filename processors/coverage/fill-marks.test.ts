import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FillMarks } from './fill-marks.ts';
import { PieceMap } from './piece-map.ts';

it('bounds of fill numbers hold in any order of marks, over a restart and beyond the slot limit', () => {
  const stepsOf = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(
      stepsOf,
      fc.array(fc.nat(), { minLength: 1, maxLength: 50 }),
      fc.nat({ max: 130 }),
      (steps, order, cut) => {
        let slot = 0;
        // The slot of each fill, by its number from 1 on.
        const slots = steps.map((step) => (slot += step));
        const ids = slots
          .map((_, at) => at + 1)
          .sort((a, b) => (order[a % order.length] ?? 0) - (order[b % order.length] ?? 0));
        let marks = new FillMarks();
        for (const [at, id] of ids.entries()) {
          marks.note('perp-0', [slots[id - 1] ?? 0, id, id]);
          if (at !== cut) continue;
          const pieces = marks.takeChanges();
          marks = new FillMarks();
          for (const { name, bytes } of pieces) marks.restore(name, Buffer.from(bytes ?? []).toString('utf8'));
        }
        for (let at = 0; at <= slot + 1; at += 1) {
          const later = slots.findIndex((one) => one >= at) + 1 || slots.length + 1;
          expect(marks.afterId('perp-0', at)).toBeLessThan(later);
          const upTo = slots.findLastIndex((one) => one <= at) + 1;
          expect(marks.beforeId('perp-0', at) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(upTo);
        }
        expect(marks.afterId('perp-0', slot + 1)).toBe(slots.length);
      },
    ),
  );
});

it('a piece map forgets what was set longest ago, says so, and deletes its piece', () => {
  const forgotten: string[] = [];
  const map = new PieceMap<number>({
    prefix: 'p:',
    max: 2,
    save: (value) => value,
    load: Number,
    forgotten: (key, value) => forgotten.push(`${key} ${value}`),
  });
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect([forgotten, map.has('b'), map.get('a')]).toEqual([['b 2'], false, 3]);
  const pieces = map.takeChanges().map(({ name, bytes }) => [name, bytes && Buffer.from(bytes).toString('utf8')]);
  expect(pieces).toEqual([
    ['p:a', '3'],
    ['p:b', null],
    ['p:c', '4'],
  ]);
  expect(map.takeChanges()).toEqual([]);
});
