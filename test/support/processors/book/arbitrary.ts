// Random messages of one market, for property tests.

import fc from 'fast-check';
import type { BookMessage } from '../../../../processors/book/engine.ts';
import type { Cause, OrderState } from '../../../../schemas/index.ts';
import {
  ammOf,
  beginOf,
  endOf,
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  slotOf,
  spreadInputsOf,
} from './messages.ts';

export const MAKERS = ['ann', 'bob', 'cid', 'dot', 'eve'].map(keyOf);
export const BEYOND_NUMBERS = 2n ** 53n + 1n;

// Few prices, slots and makers, so that orders meet at one level and messages meet the same order again.
export const order: fc.Arbitrary<OrderState> = fc
  .record({
    maker: fc.constantFrom(...MAKERS),
    orderId: fc.integer({ min: 0, max: 12 }),
    orderType: fc.constantFrom(
      'limit' as const,
      'limit' as const,
      'limit' as const,
      'triggerLimit' as const,
      'market' as const,
    ),
    direction: fc.constantFrom('long' as const, 'short' as const),
    price: fc.oneof(
      { weight: 20, arbitrary: fc.bigInt({ min: 90n, max: 110n }) },
      { weight: 1, arbitrary: fc.constantFrom(BEYOND_NUMBERS, 2n ** 64n - 1n, 0n) },
    ),
    baseAssetAmount: fc.oneof(
      { weight: 10, arbitrary: fc.bigInt({ min: 0n, max: 20n }) },
      { weight: 2, arbitrary: fc.constantFrom(BEYOND_NUMBERS, 2n ** 64n - 1n, 2n ** 32n, 2n ** 32n - 1n) },
    ),
    baseAssetAmountFilled: fc.bigInt({ min: 0n, max: 10n }),
    triggerCondition: fc.constantFrom('above' as const, 'triggeredAbove' as const, 'triggeredBelow' as const),
    oraclePriceOffset: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0n) },
      { weight: 1, arbitrary: fc.bigInt({ min: -120n, max: 10n }) },
    ),
    postOnly: fc.boolean(),
    reduceOnly: fc.boolean(),
    auctionDurationSlots: fc.constantFrom(0, 0, 3, 7),
    auctionStartPrice: fc.constantFrom(0n, 95n, -5n, BEYOND_NUMBERS),
    auctionEndPrice: fc.constantFrom(0n, 105n, 5n),
    placedSlot: fc.integer({ min: 1, max: 30 }),
    positionBaseAmount: fc.bigInt({ min: -15n, max: 15n }),
    bitFlags: fc.constantFrom(0, 0, 64),
    bookOrderId: fc.bigInt({ min: 1n, max: 9n }),
  })
  .map((terms) => orderOf(terms));

/** Some with the same signature, some without index; null where the source knows none. */
const cause: fc.Arbitrary<Cause | null> = fc.option(
  fc.record({
    slot: fc.integer({ min: 1, max: 40 }),
    signature: fc.integer({ min: 0, max: 9 }).map((byte) => new Uint8Array(64).fill(byte)),
    index: fc.option(fc.integer({ min: 0, max: 3 })),
  }),
);

const message: fc.Arbitrary<BookMessage> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        slot: fc.integer({ min: 1, max: 40 }),
        source: fc.constantFrom('user' as const, 'user' as const, 'clob' as const),
        upserts: fc.uniqueArray(order, {
          maxLength: 4,
          selector: ({ maker, orderId }) => `${maker.join()}/${orderId}`,
        }),
        removals: fc.array(fc.record({ maker: fc.constantFrom(...MAKERS), orderId: fc.integer({ min: 0, max: 12 }) }), {
          maxLength: 3,
        }),
        cause,
      })
      .map(ordersOf),
  },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 220 }).map(slotOf) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        price: fc.bigInt({ min: 80n, max: 120n }),
        slot: fc.integer({ min: 1, max: 40 }),
        confidence: fc.bigInt({ min: 0n, max: 3n }),
        publishTs: fc.constantFrom(null, 1_700_000_001n, 1_700_000_060n),
      })
      .map(oracleOf),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        slot: fc.integer({ min: 1, max: 40 }),
        clobMarket: fc.constantFrom(null, keyOf('clob')),
        ammPaused: fc.boolean(),
        tickSize: fc.constantFrom(1n, 10n),
        mmOraclePrice: fc.constantFrom(0n, 100n),
        mmOracleSlot: fc.constantFrom(1n, 50n),
        lastOraclePriceTwap5Min: fc.constant(100n),
        amm: fc.constantFrom(
          null,
          ammOf({ pegMultiplier: 100n, maxBaseAssetReserve: 1_000_000_100_000_000n }),
          ammOf({ pegMultiplier: 90n, longSpread: 20_000, shortSpread: 5_000 }),
          ammOf({ pegMultiplier: 95n, curveUpdateIntensity: 150, baseAssetAmountWithAmm: 10_000_000_000_000n }),
        ),
        spreadInputs: fc.constantFrom(null, spreadInputsOf({ markStd: 4n, lastReferencePriceOffset: -500 })),
      })
      .map(marketOf),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map(beginOf) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map(endOf) },
);
/** Any messages of one market, in any order. */
export const messages = fc.array(message, { minLength: 1, maxLength: 60 });
