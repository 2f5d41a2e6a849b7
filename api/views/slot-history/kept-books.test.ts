// What stays when too much is kept: the books used last.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptBooks } from './kept-books.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;

describe('kept books', () => {
  it('lose the one whose last use is oldest, not the one that came first', () => {
    const kept = new KeptBooks<string>(2, 100);
    kept.add('a', 'A', 1);
    kept.add('b', 'B', 1);
    expect(kept.get('a')).toBe('A');
    kept.add('c', 'C', 1);
    expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual(['A', undefined, 'C']);
  });

  it('are those used last that fit, the newest one always', () => {
    const uses = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 0, max: 9 })), { maxLength: 40 });
    fc.assert(
      fc.property(uses, (steps) => {
        const kept = new KeptBooks<number>(3, 12);
        let expected: { readonly name: string; readonly orders: number }[] = [];
        for (const [name, orders] of steps) {
          const known = expected.find((one) => one.name === name);
          expect(kept.get(name)).toBe(known?.orders);
          if (!known) kept.add(name, orders, orders);
          expected = [...expected.filter((one) => one.name !== name), known ?? { name, orders }];
          const total = () => expected.reduce((sum, one) => sum + one.orders, 0);
          while (expected.length > 1 && (expected.length > 3 || total() > 12)) expected.shift();
        }
      }),
    );
  });
});
