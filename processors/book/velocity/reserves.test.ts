import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ammOf } from '../../../test/support/processors/book/messages.ts';
import { quotedReserves } from './reserves.ts';

/** Both reserves and sqrt k are 1e15. */
const curve = ammOf();

describe("a Velocity vAMM's spread reserves", () => {
  it.each([
    // 1e15 * 500 / 2e6 = 2.5e11; 1e30 / 1,000,250,000,000,000 and 1e30 / 999,750,000,000,000
    [
      'half of both spreads',
      500n,
      0n,
      [999_750_062_484_378n, 1_000_250_000_000_000n],
      [1_000_250_062_515_628n, 999_750_000_000_000n],
    ],
    // One part moves 5e8: no quotient of the spread is taken first.
    [
      'the smallest spread',
      1n,
      0n,
      [999_999_500_000_249n, 1_000_000_500_000_000n],
      [1_000_000_500_000_250n, 999_999_500_000_000n],
    ],
    // 1000 + 500 up, 1000 - 500 up
    [
      'an offset',
      500n,
      1_000n,
      [999_250_562_078_441n, 1_000_750_000_000_000n],
      [999_750_062_484_378n, 1_000_250_000_000_000n],
    ],
    ['no spread', 0n, 0n, [10n ** 15n, 10n ** 15n], [10n ** 15n, 10n ** 15n]],
  ])('are moved by %s', (_, spread, offset, [askBase, askQuote], [bidBase, bidQuote]) => {
    expect(quotedReserves(curve, { long: spread, short: spread }, offset)).toEqual({
      ask: { base: askBase, quote: askQuote },
      bid: { base: bidBase, quote: bidQuote },
    });
  });

  it('keep the ask at or above the curve and the bid at or below it when its reserves are not of one invariant', () => {
    const uneven = ammOf({ sqrtK: 10n ** 15n + 7n });
    const { ask, bid } = quotedReserves(uneven, { long: 0n, short: 0n }, 0n);
    expect(ask.base).toBeLessThanOrEqual(uneven.baseAssetReserve);
    expect(ask.quote).toBeGreaterThanOrEqual(uneven.quoteAssetReserve);
    expect(bid.base).toBeGreaterThanOrEqual(uneven.baseAssetReserve);
    expect(bid.quote).toBeLessThanOrEqual(uneven.quoteAssetReserve);
  });

  it('move further the wider the spread, the ask up and the bid down', () => {
    const spread = fc.bigInt({ min: 0n, max: 1_000_000n });
    fc.assert(
      fc.property(spread, spread, (one, other) => {
        const [less, more] = one < other ? [one, other] : [other, one];
        const narrow = quotedReserves(curve, { long: less, short: less }, 0n);
        const wide = quotedReserves(curve, { long: more, short: more }, 0n);
        expect(wide.ask.quote).toBeGreaterThanOrEqual(narrow.ask.quote);
        expect(wide.ask.base).toBeLessThanOrEqual(narrow.ask.base);
        expect(wide.bid.quote).toBeLessThanOrEqual(narrow.bid.quote);
        expect(wide.bid.base).toBeGreaterThanOrEqual(narrow.bid.base);
      }),
    );
  });
});
