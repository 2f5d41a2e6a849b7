// Margins by hand: what the program would compute for the same account.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEALTH_BUCKETS, type HealthBucket, type MarketMargin, marketKey } from '../../schemas/index.ts';
import {
  account,
  perpMarket,
  position,
  quoteMarket,
  tokens,
} from '../../test/support/processors/notifications/records.ts';
import { bucketOf, healthOf, marginsOf, squareRoot } from './health.ts';

const BASE = 10n ** 9n;
const QUOTE = 10n ** 6n;

const finder = (...markets: MarketMargin[]) => {
  const byKey = new Map([quoteMarket(), perpMarket(), ...markets].map((market) => [marketKey(market), market]));
  return (type: 'perp' | 'spot', index: number) => byKey.get(marketKey({ marketType: type, marketIndex: index }));
};
const cross = (quote: bigint, members: Parameters<typeof position>[0], ...markets: MarketMargin[]) =>
  marginsOf(account(0, quote, [position(members)]), finder(...markets))?.[0];
/** A long of 10 SOL, bought at 150. */
const LONG = { baseAssetAmount: 10n * BASE, quoteAssetAmount: -1_500n * QUOTE };

describe('maintenance margin', () => {
  it('is deposits and P&L against a share of the position', () => {
    expect(cross(200n, LONG)).toEqual({ collateral: 200n * QUOTE, requirement: 75n * QUOTE, isBeingLiquidated: false });
    const fallen = perpMarket({ oraclePrice: 140_000_000n });
    expect(cross(200n, LONG, fallen)).toMatchObject({ collateral: 100n * QUOTE, requirement: 70n * QUOTE });
    const short = { baseAssetAmount: -10n * BASE, quoteAssetAmount: 1_500n * QUOTE };
    expect(cross(200n, short, fallen)).toMatchObject({ collateral: 300n * QUOTE, requirement: 70n * QUOTE });
  });

  it('counts unsettled funding, and weighs gains alone', () => {
    const { perp } = perpMarket();
    if (!perp) throw new Error('no perp');
    // 1 quote for each base: the long pays 10.
    const paying = perpMarket({ perp: { ...perp, cumulativeFundingRateLong: BASE } });
    expect(cross(200n, LONG, paying)?.collateral).toBe(200n * QUOTE - (10n * BASE * BASE) / 10n ** 12n);
    const weighed = perpMarket({ oraclePrice: 160_000_000n, perp: { ...perp, pnlAssetWeightMaintenance: 8_000 } });
    expect(cross(200n, LONG, weighed)?.collateral).toBe(280n * QUOTE);
    const lost = perpMarket({ oraclePrice: 140_000_000n, perp: { ...perp, pnlAssetWeightMaintenance: 8_000 } });
    expect(cross(200n, LONG, lost)?.collateral).toBe(100n * QUOTE);
  });

  it('takes the worse of the open sides, and a cent for each open order', () => {
    const orders = { ...LONG, openBids: 5n * BASE, openAsks: -30n * BASE, openOrders: 3 };
    // Sold down to -20, which is larger than 15.
    expect(cross(200n, orders)?.requirement).toBe(150n * QUOTE + 30_000n);
  });

  it('asks more for a large size, by the square root', () => {
    const large = { baseAssetAmount: 40_000n * BASE, quoteAssetAmount: -6_000_000n * QUOTE };
    const imf = perpMarket({ imfFactor: 1_000 });
    // 0.05 * 4/5 + 0.001 * sqrt(40000) = 0.24
    expect(cross(0n, large, imf)?.requirement).toBe((6_000_000n * QUOTE * 2_400n) / 10_000n);
    expect(cross(0n, LONG, imf)?.requirement).toBe(75n * QUOTE);
  });

  it('asks nothing for a position in settlement, at its expiry price', () => {
    const settled = perpMarket({ status: 'settlement', expiryPrice: 100_000_000n });
    expect(cross(200n, LONG, settled)).toMatchObject({ collateral: -300n * QUOTE, requirement: 0n });
  });

  it('weighs deposits down and debts up, and rounds debts up', () => {
    const sol = quoteMarket({
      marketIndex: 1,
      oraclePrice: 150_000_000n,
      spot: {
        assetWeightMaintenance: 9_000,
        liabilityWeightMaintenance: 11_000,
        cumulativeDepositInterest: 10n ** 10n,
        cumulativeBorrowInterest: 2n * 10n ** 10n,
        decimals: 9,
      },
    });
    const own = (isBorrow: boolean, scaledBalance: bigint) =>
      marginsOf(
        { ...account(0, 1_000n, []), balances: [{ marketIndex: 1, scaledBalance, isBorrow }] },
        finder(sol),
      )?.[0];
    expect(own(false, tokens(2n))).toMatchObject({ collateral: 270n * QUOTE, requirement: 0n });
    expect(own(true, tokens(1n))).toMatchObject({ collateral: 0n, requirement: 330n * QUOTE });
  });

  it('keeps an isolated position apart, with its own collateral', () => {
    const margins = marginsOf(
      account(0, 1_000n, [position({ ...LONG, isIsolated: true, isolatedScaledBalance: tokens(80n) })]),
      finder(),
    );
    expect(margins).toMatchObject([
      { collateral: 1_000n * QUOTE, requirement: 0n },
      { collateral: 80n * QUOTE, requirement: 75n * QUOTE },
    ]);
  });

  it('is unknown while a market is', () => {
    expect(marginsOf(account(0, 1n, [position({ marketIndex: 7 })]), finder())).toBeNull();
  });
});

describe('health', () => {
  const of = (collateral: bigint, requirement: bigint, isBeingLiquidated = false) =>
    healthOf({ collateral, requirement, isBeingLiquidated });

  it('is the free share of the collateral', () => {
    expect(of(200n, 50n)).toBe(7_500n);
    expect(of(0n, 0n)).toBe(10_000n);
    expect(of(100n, 100n)).toBe(0n);
    expect(of(99n, 100n)).toBe(-1n);
    expect(of(-1n, 0n)).toBe(-1n);
    expect(of(200n, 50n, true)).toBe(-1n);
  });

  it.each([
    [10_000n, 'HEALTHY'],
    [5_000n, 'HEALTHY'],
    [4_999n, 'MODERATE'],
    [2_500n, 'MODERATE'],
    [2_499n, 'AT_RISK'],
    [1_000n, 'AT_RISK'],
    [999n, 'CRITICAL'],
    [0n, 'CRITICAL'],
    [-1n, 'LIQUIDATABLE'],
  ])('of %s is %s', (health, bucket) => {
    expect(bucketOf(health, null)).toBe(bucket);
  });

  it('leaves a bucket for a better one only well above its floor, and for a worse one at once', () => {
    expect(bucketOf(5_499n, 'MODERATE')).toBe('MODERATE');
    expect(bucketOf(5_500n, 'MODERATE')).toBe('HEALTHY');
    expect(bucketOf(4_999n, 'HEALTHY')).toBe('MODERATE');
    expect(bucketOf(499n, 'LIQUIDATABLE')).toBe('LIQUIDATABLE');
    expect(bucketOf(2_600n, 'LIQUIDATABLE')).toBe('AT_RISK');
    expect(bucketOf(10_000n, 'LIQUIDATABLE')).toBe('HEALTHY');
  });

  it('does not flap while the health moves less than the recovery', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_000n }), fc.array(fc.bigInt({ min: 0n, max: 499n })), (least, moves) => {
        let bucket: HealthBucket = bucketOf(least, null);
        let changes = 0;
        for (const move of moves) {
          const next = bucketOf(least + move, bucket);
          if (next !== bucket) changes += 1;
          bucket = next;
        }
        expect(changes).toBeLessThanOrEqual(1);
        expect(HEALTH_BUCKETS).toContain(bucket);
      }),
    );
  });
});

describe('square root', () => {
  it('is the largest whole number whose square fits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (value) => {
        const root = squareRoot(value);
        expect(root * root <= value && (root + 1n) * (root + 1n) > value).toBe(true);
      }),
    );
  });
});
