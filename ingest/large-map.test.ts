import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LargeMap } from './large-map.ts';

const key = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 9 })).map(([last, sub]) => {
    const address = `${'a'.repeat(31)}${String.fromCharCode(last)}`;
    return sub === 0 ? address : `${address}${sub}`;
  }),
  fc.string({ maxLength: 4 }),
);
const step = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.constant('set' as const), key, fc.nat()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('clear' as const), key, fc.nat()) },
);

it('holds what a plain map holds, whatever the keys', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), key, (steps, asked) => {
      const [plain, large] = [new Map<string, number>(), new LargeMap<number>()];
      for (const [what, at, value] of steps) {
        if (what === 'clear') for (const map of [plain, large]) map.clear();
        else for (const map of [plain, large]) map.set(at, value);
      }
      expect(large.size).toBe(plain.size);
      expect(large.get(asked)).toBe(plain.get(asked));
      expect([...large].sort()).toEqual([...plain].sort());
      expect([...large.values()].sort()).toEqual([...plain.values()].sort());
    }),
  );
});

it('meets each key once when values are replaced meanwhile', () => {
  const map = new LargeMap<number>();
  const keys = Array.from(
    { length: 300 },
    (_, index) => `${'a'.repeat(31)}${String.fromCharCode(index % 256)}${index}`,
  );
  for (const one of keys) map.set(one, 0);
  const met: string[] = [];
  for (const [one] of map) {
    met.push(one);
    map.set(one, 1);
  }
  expect(met.sort()).toEqual(keys.sort());
});
