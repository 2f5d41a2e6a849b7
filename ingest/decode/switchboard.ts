// Reads Switchboard's aggregator and pull feed accounts as prices (1e6), as Drift's program does
// (docs/internals/accounts.md, "Oracles").

import { magnitude } from '../../schemas/index.ts';
import { AccountError } from './account.ts';
import type { OraclePrice } from './oracle-price.ts';

/** First bytes of the accounts, little endian: Anchor's discriminators. */
export const AGGREGATOR_HEAD = 0x7d1b_a2c9_6541_e6d9n;
export const PULL_FEED_HEAD = 0x28db_d70a_c46c_1bc4n;
/** Bytes up to the end of the read members. */
export const AGGREGATOR_BYTES = 406;
export const PULL_FEED_BYTES = 2_376;

/** Members of an aggregator, which has no padding. Each decimal is an i128 and a u32. */
const AGGREGATOR = { resultsMin: 236, successes: 341, slot: 350, ts: 358, result: 366, deviation: 386 } as const;
/** Members of a pull feed. */
const PULL_FEED = { ts: 2_216, value: 2_264, deviation: 2_280, slot: 2_368 } as const;

const PRICE_DIGITS = 6;
const PULL_FEED_DIGITS = 18;
const MANTISSA_BYTES = 16;
/** Digits of Switchboard's decimals. */
const DIGITS_MAX = 28;
const I64_MAX = 2n ** 63n - 1n;
const U64_MAX = 2n ** 64n - 1n;
/** The program takes a thousandth of the price as the smallest confidence of an aggregator. */
const CONFIDENCE_PARTS = 1_000n;

export function readAggregator(view: DataView): OraclePrice {
  const price = inRange(decimal(view, AGGREGATOR.result));
  const deviation = decimal(view, AGGREGATOR.deviation);
  return {
    ...plain(view, AGGREGATOR),
    price,
    confidence: deviation < 0n ? U64_MAX : larger(inRange(deviation), magnitude(price) / CONFIDENCE_PARTS),
    hasSufficientNumberOfDataPoints:
      view.getUint32(AGGREGATOR.successes, true) >= view.getUint32(AGGREGATOR.resultsMin, true),
  };
}

/** Throws AccountError for a feed that has no result yet. */
export function readPullFeed(view: DataView): OraclePrice {
  if (view.getBigUint64(PULL_FEED.slot, true) === 0n) throw new AccountError('bad_value', 'a feed without a result');
  return {
    ...plain(view, PULL_FEED),
    price: inRange(scaled(int128(view, PULL_FEED.value), PULL_FEED_DIGITS)),
    confidence: magnitude(inRange(scaled(int128(view, PULL_FEED.deviation), PULL_FEED_DIGITS))),
    hasSufficientNumberOfDataPoints: true,
  };
}

function plain(view: DataView, at: { readonly slot: number; readonly ts: number }) {
  const slotAndTime = { oracleSlot: view.getBigUint64(at.slot, true), publishTs: view.getBigInt64(at.ts, true) };
  return { ...slotAndTime, twap: null, twapConfidence: null, maxPrice: null, sequenceId: null };
}

function decimal(view: DataView, at: number): bigint {
  const digits = view.getUint32(at + MANTISSA_BYTES, true);
  if (digits > DIGITS_MAX) throw new AccountError('bad_value', `${digits} digits of a Switchboard decimal`);
  return scaled(int128(view, at), digits);
}

/** At 1e6; further digits are cut off. */
function scaled(mantissa: bigint, digits: number): bigint {
  if (digits > PRICE_DIGITS) return mantissa / 10n ** BigInt(digits - PRICE_DIGITS);
  return mantissa * 10n ** BigInt(PRICE_DIGITS - digits);
}

/** The program refuses an account with a price beyond an i64. */
function inRange(value: bigint): bigint {
  if (magnitude(value) > I64_MAX) throw new AccountError('bad_value', `a Switchboard price of ${value}`);
  return value;
}

function int128(view: DataView, at: number): bigint {
  return (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true);
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
