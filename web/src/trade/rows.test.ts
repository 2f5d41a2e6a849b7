// Rows of the ladder: grouping never makes a row better than its levels, and loses no size.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupChoices, groupPrice, type Level, ladderRows } from './rows.ts';

const level = (price: bigint, size: bigint): Level => ({ price, size, sources: { dlob: size } });

describe('rows of the ladder', () => {
  it('keeps every level alone without a group, and sums up from the best', () => {
    const rows = ladderRows([level(105n, 3n), level(101n, 4n), level(99n, 5n)], 'bids', 0n, 2);
    expect(rows.map(({ price, size, total }) => [price, size, total])).toEqual([
      [105n, 3n, 3n],
      [101n, 4n, 7n],
    ]);
  });

  it('groups bids down and asks up, with the sum of the sources', () => {
    const bids = [level(109n, 1n), { price: 101n, size: 2n, sources: { vamm: 2n } }, level(99n, 4n)];
    expect(ladderRows(bids, 'bids', 10n, 9)).toEqual([
      { price: 100n, size: 3n, total: 3n, levels: 2, sources: { dlob: 1n, vamm: 2n } },
      { price: 90n, size: 4n, total: 7n, levels: 1, sources: { dlob: 4n } },
    ]);
    expect(
      ladderRows([level(101n, 1n), level(110n, 2n)], 'asks', 10n, 9).map(({ price, size }) => [price, size]),
    ).toEqual([[110n, 3n]]);
  });

  it('loses no size and names no better price, for any levels', () => {
    const side = fc.constantFrom('bids' as const, 'asks' as const);
    const entries = fc.uniqueArray(fc.tuple(fc.bigInt(1n, 10_000n), fc.bigInt(1n, 1_000n)), {
      selector: ([price]) => price,
    });
    fc.assert(
      fc.property(side, entries, fc.bigInt(0n, 700n), (name, list, group) => {
        const sign = name === 'bids' ? -1 : 1;
        const levels = list.toSorted(([a], [b]) => sign * Number(a - b)).map(([price, size]) => level(price, size));
        const rows = ladderRows(levels, name, group, Number.POSITIVE_INFINITY);
        expect(rows.at(-1)?.total ?? 0n).toBe(levels.reduce((sum, { size }) => sum + size, 0n));
        for (const { price } of levels) {
          const row = group === 0n ? price : groupPrice(price, name, group);
          expect(name === 'bids' ? row <= price : row >= price).toBe(true);
          expect(rows.filter((one) => one.price === row)).toHaveLength(1);
        }
      }),
    );
  });

  it('offers the widths that the gateway groups by', () => {
    expect(groupChoices(100n)).toEqual([0n, 100n, 1_000n, 10_000n, 50_000n, 100_000n]);
  });
});
