// Open positions follow from the newest funding payment or turning fill of a market, and the fills after it.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openPositions } from './open-positions.ts';
import type { Row } from './row.ts';

const US = 'us';
const row = (values: Record<string, string | number>): Row => ({ ts: 1, txSig: 't', marketType: 'perp', ...values });
const fill = (slot: number, direction: string, size: string, symbol = 'SOL-PERP') =>
  row({ slot, symbol, taker: US, takerOrderDirection: direction, baseAssetAmountFilled: size });

it('adds the fills after the newest funding payment to its position', () => {
  const fundings = [
    row({ slot: 20, symbol: 'SOL-PERP', baseAssetAmount: '-50' }),
    row({ slot: 10, symbol: 'SOL-PERP', baseAssetAmount: '7' }),
  ];
  const fills = [fill(30, 'long', '20'), fill(20, 'short', '999'), fill(5, 'short', '999')];
  expect(openPositions(US, fundings, fills, false)).toEqual([
    { symbol: 'SOL-PERP', base: -30n, slot: 30, isCertain: true },
  ]);
});

it('says when older fills may be missing, and leaves out closed positions', () => {
  const fills = [fill(3, 'long', '5', 'BTC-PERP'), fill(2, 'short', '4'), fill(1, 'long', '4')];
  expect(openPositions(US, [], fills, false)).toEqual([{ symbol: 'BTC-PERP', base: 5n, slot: 3, isCertain: false }]);
});

it('reads the side of a maker', () => {
  const made = row({
    slot: 1,
    symbol: 'X-PERP',
    taker: 'b',
    maker: US,
    makerOrderDirection: 'short',
    baseAssetAmountFilled: '2',
  });
  expect(openPositions(US, [], [made], true)).toEqual([{ symbol: 'X-PERP', base: -2n, slot: 1, isCertain: true }]);
});

it('is certain after a fill that turned the position around, whatever is older', () => {
  const turning = { ...fill(40, 'long', '50'), takerExistingBaseAssetAmount: '30' };
  const fills = [fill(50, 'long', '5'), turning, fill(35, 'short', '999'), fill(5, 'long', '1')];
  const turned = [{ symbol: 'SOL-PERP', base: 25n, slot: 50, isCertain: true }];
  expect(openPositions(US, [], fills, false)).toEqual(turned);
  const fundings = [row({ slot: 20, symbol: 'SOL-PERP', baseAssetAmount: '969' })];
  expect(openPositions(US, fundings, fills, false)).toEqual(turned);
});

it('follows every series of fills, with and without the older ones', () => {
  const sizes = fc.array(
    fc.bigInt(-9n, 9n).filter((size) => size !== 0n),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(sizes, fc.nat(30), (list, cut) => {
      let held = 0n;
      const fills = list.map((size, index) => {
        const before = held;
        held += size;
        const isTurned = before !== 0n && held !== 0n && before > 0n !== held > 0n;
        const whole = fill(index + 1, size > 0n ? 'long' : 'short', String(size > 0n ? size : -size));
        return isTurned ? { ...whole, takerExistingBaseAssetAmount: String(before > 0n ? before : -before) } : whole;
      });
      const newestFirst = fills.toReversed();
      const expected = held === 0n ? [] : [{ symbol: 'SOL-PERP', base: held, slot: list.length, isCertain: true }];
      expect(openPositions(US, [], newestFirst, true)).toEqual(expected);
      const [partial] = openPositions(US, [], newestFirst.slice(0, cut + 1), false);
      if (partial?.isCertain) expect(partial.base).toBe(held);
    }),
  );
});
