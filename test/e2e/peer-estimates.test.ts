// Estimated fills beside the published client library's walk over the same levels. Runs where the bench has installed
// the peer (`npm run bench book`), else says that it is absent.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateFill, type Level } from '../../processors/index.ts';

const FOLDER = new URL('../peers/dlob/', import.meta.url);
const isInstalled = existsSync(new URL('node_modules/@drift-labs/sdk/package.json', FOLDER));
const RUNS = 5_000;
if (!isInstalled) process.stdout.write('peer of estimated fills is not installed: not compared\n');

interface BigNumber {
  toString(): string;
}

interface Peer {
  readonly BN: new (text: string) => BigNumber;
  readonly calculateEstimatedEntryPriceWithL2: (
    assetType: 'base' | 'quote',
    amount: BigNumber,
    direction: object,
    basePrecision: BigNumber,
    l2: { bids: readonly object[]; asks: readonly object[] },
  ) => Readonly<Record<string, BigNumber>>;
}

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
  it.skipIf(!isInstalled)('agree in every value on random books and amounts', () => {
    const peer = createRequire(FOLDER)('@drift-labs/sdk') as Peer;
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
