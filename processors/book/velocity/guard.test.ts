import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardedSpreads } from './guard.ts';

const AT_HUNDRED = 100_000_000n;
const ONE = 1_000_000n;

describe('the oracle guard', () => {
  it.each([
    // Linear: 1.02 - 1. By the reserves: 2 * (1,009,951 - 1e6) + 1 = 19,903. The larger.
    ['an ask as far as the oracle', [500, 500], 0n, 102_000_000n, [20_000, 500]],
    // Linear: 1 - 0.98. By the reserves: 2 * (1e6 - 989,949) + 1 = 20,103.
    ['a bid as far as the oracle', [500, 500], 0n, 98_000_000n, [500, 20_103]],
    // Exact root: 5000 + 2 * 0, and one for the truncation.
    ['a bid that an offset lifts', [500, 500], 5_000n, AT_HUNDRED, [500, 5_001]],
    ['an ask that an offset lowers', [500, 500], -5_000n, AT_HUNDRED, [5_001, 500]],
    // 1e6 - 990,000
    ['a bid by no more than 100 % together', [990_000, 500], 0n, 98_000_000n, [990_000, 10_000]],
    // 1e6 - 500, although 3e6 would be needed
    ['an ask by no more than 100 % together', [500, 500], 0n, 400_000_000n, [999_500, 500]],
    ['nothing that is wide enough', [30_000, 500], 0n, 102_000_000n, [30_000, 500]],
  ])('widens %s', (_, [long = 0, short = 0], offset, oracle, expected) => {
    const guarded = guardedSpreads({ long: BigInt(long), short: BigInt(short) }, offset, AT_HUNDRED, oracle);
    expect([Number(guarded.long), Number(guarded.short)]).toEqual(expected);
  });

  const some = fc.record({
    long: fc.bigInt({ min: 0n, max: ONE }),
    short: fc.bigInt({ min: 0n, max: ONE }),
    offset: fc.bigInt({ min: -30_000n, max: 30_000n }),
    reserve: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    oracle: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  });

  it('only widens, and never beyond 100 % together', () => {
    fc.assert(
      fc.property(some, ({ long, short, offset, reserve, oracle }) => {
        const guarded = guardedSpreads({ long, short }, offset, reserve, oracle);
        expect(guarded.long).toBeGreaterThanOrEqual(long);
        expect(guarded.short).toBeGreaterThanOrEqual(short);
        const isWidened = guarded.long > long || guarded.short > short;
        if (isWidened) expect(guarded.long + guarded.short).toBeLessThanOrEqual(ONE);
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves no quote on the wrong side of the oracle unless 100 % are used up', () => {
    let held = 0;
    const near = fc.bigInt({ min: 70n, max: 140n });
    fc.assert(
      fc.property(some, near, ({ long, short, offset, reserve }, percent) => {
        const oracle = (reserve * percent) / 100n + 1n;
        const guarded = guardedSpreads({ long: long / 10n, short: short / 10n }, offset, reserve, oracle);
        if (guarded.long + guarded.short >= ONE) return;
        held += 1;
        const ask = ONE + offset + guarded.long;
        const bid = ONE + offset - guarded.short;
        expect(ask * reserve).toBeGreaterThanOrEqual(oracle * ONE);
        expect(bid * reserve).toBeLessThanOrEqual(oracle * ONE);
        // By the reserves: reserve price * (1 + s / 2) squared.
        expect((2n * ONE + offset + guarded.long) ** 2n * reserve).toBeGreaterThanOrEqual(4n * ONE * ONE * oracle);
        expect((2n * ONE + offset - guarded.short) ** 2n * reserve).toBeLessThanOrEqual(4n * ONE * ONE * oracle);
      }),
      { numRuns: 2_000 },
    );
    expect(held).toBeGreaterThan(1_000);
  });
});
