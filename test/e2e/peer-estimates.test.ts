// Estimated fills beside the published client library's walk over the same levels.

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { estimateFill, type Level } from '../../processors/index.ts';
import { loadSdk, type Sdk } from './harness/peer/sdk.ts';

const RUNS = 5_000;

const levels = (isBid: boolean) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 2_000_000_000 }), { maxLength: 10 })
    .chain((prices) =>
      fc.tuple(
        fc.constant(prices.sort((a, b) => (isBid ? b - a : a - b))),
        fc.array(fc.bigInt({ min: 1n, max: 10n ** 15n }), { minLength: 10, maxLength: 10 }),
      ),
    )
    .map(([prices, sizes]) => prices.map((price, at): Level => ({ price, dlob: sizes[at] ?? 1n, vamm: 0n })));

describe('estimated fills beside the client library', () => {
  let peer: Sdk;
  beforeAll(() => {
    peer = loadSdk();
  });

  it('agree in every value on random books and amounts', () => {
    const big = (value: bigint | number) => new peer.BN(String(value));
    const levelsOf = (list: readonly Level[]) =>
      list.map(({ price, dlob }) => ({ price: big(price), size: big(dlob), sources: {} }));
    fc.assert(
      fc.property(
        levels(true),
        levels(false),
        fc.constantFrom('long' as const, 'short' as const),
        fc.constantFrom('base' as const, 'quote' as const),
        fc.bigInt({ min: 0n, max: 10n ** 16n }),
        (bids, asks, direction, assetType, amount) => {
          const theirs = peer.calculateEstimatedEntryPriceWithL2(
            assetType,
            big(amount),
            { [direction]: {} },
            big(1_000_000_000),
            { bids: levelsOf(bids), asks: levelsOf(asks) },
          );
          const ours = estimateFill({ bids, asks }, direction, amount, assetType);
          for (const [name, value] of Object.entries(ours)) expect(`${name} ${theirs[name]}`).toBe(`${name} ${value}`);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
