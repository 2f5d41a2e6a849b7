// Reads oracle accounts as prices (1e6): Pyth Lazer, pre-launch, Pyth push and pull, Switchboard (docs/internals/accounts.md,
// "Oracles").

import { createHash } from 'node:crypto';
import { PRICE_PRECISION } from '../../schemas/index.ts';
import { AccountError, discriminatorOf } from './account.ts';
import type { OraclePrice } from './oracle-price.ts';
import {
  AGGREGATOR_BYTES,
  AGGREGATOR_HEAD,
  PULL_FEED_BYTES,
  PULL_FEED_HEAD,
  readAggregator,
  readPullFeed,
} from './switchboard.ts';

const MICROSECONDS = 1_000_000n;
/** A stablecoin price within this distance of 1 (1e6) counts as 1 (docs/internals/accounts.md, "Oracles"). */
const STABLECOIN_BAND = 500n;

/** No feed has more digits. The bound protects against garbage bytes. */
const EXPONENT_MAX = 18;

/** Price of the quote asset: always 1. */
export function quoteAssetPrice(slot: number): OraclePrice {
  return {
    price: PRICE_PRECISION,
    oracleSlot: BigInt(slot),
    confidence: 1n,
    hasSufficientNumberOfDataPoints: true,
    twap: null,
    twapConfidence: null,
    maxPrice: null,
    sequenceId: null,
    publishTs: null,
  };
}

type ReadOracle = (view: DataView, scale: Scale) => OraclePrice;
type Scale = (value: bigint, exponent: number) => bigint;

function discriminator(name: string): bigint {
  return discriminatorOf(createHash('sha256').update(`account:${name}`).digest());
}

const LAZER_BYTES = 48;
const PRELAUNCH_BYTES = 50;
/** A Pyth push account begins with this magic number and version 2. */
const PUSH_HEAD = 0x2_a1b2_c3d4n;
const PUSH_BYTES = 240;
const PUSH_PRICE_KIND = 3;
/** Publishers that the program asks for, or fewer when the feed has fewer. */
const PUSH_PUBLISHERS_MIN = 3;
const PULL_HEAD_BYTES = 41;
const PULL_TAIL_BYTES = 32 + 8 + 8 + 4 + 8 + 8 + 8 + 8 + 8;

const READERS: ReadonlyMap<bigint, { readonly name: string; readonly bytesMin: number; readonly read: ReadOracle }> =
  new Map([
    [discriminator('PythLazerOracle'), { name: 'PythLazerOracle', bytesMin: LAZER_BYTES, read: readLazer }],
    [PUSH_HEAD, { name: 'Pyth push price', bytesMin: PUSH_BYTES, read: readPush }],
    [discriminator('PrelaunchOracle'), { name: 'PrelaunchOracle', bytesMin: PRELAUNCH_BYTES, read: readPrelaunch }],
    [
      discriminator('PriceUpdateV2'),
      { name: 'PriceUpdateV2', bytesMin: PULL_HEAD_BYTES + PULL_TAIL_BYTES, read: readPull },
    ],
    [AGGREGATOR_HEAD, { name: 'Switchboard aggregator', bytesMin: AGGREGATOR_BYTES, read: readAggregator }],
    [PULL_FEED_HEAD, { name: 'Switchboard pull feed', bytesMin: PULL_FEED_BYTES, read: readPullFeed }],
  ]);

/** Whether the bytes are an oracle account of a supported kind. */
export function isOracle(data: Uint8Array): boolean {
  return READERS.has(discriminatorOf(data));
}

/**
 * Price of an oracle account for a market with this oracle source. Throws AccountError when the account kind is unknown
 * or the data is too short.
 */
export function readOracle(data: Uint8Array, oracleSource: string): OraclePrice {
  const reader = READERS.get(discriminatorOf(data));
  if (!reader) throw new AccountError('unknown_discriminator', 'not an oracle account');
  if (data.byteLength < reader.bytesMin) {
    throw new AccountError('wrong_length', `${reader.name} has ${data.byteLength} bytes, needs ${reader.bytesMin}`);
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const value = reader.read(view, scaleFor(oracleSource));
  return oracleSource.toLowerCase().includes('stablecoin') ? snapped(value) : value;
}

/** The 1K and 1M sources quote a thousand or a million units of the asset. */
function scaleFor(oracleSource: string): Scale {
  const source = oracleSource.toLowerCase();
  const multiple = source.includes('1k') ? 1_000n : source.includes('1m') ? 1_000_000n : 1n;
  return (value, exponent) => {
    const digits = Math.abs(exponent);
    if (digits > EXPONENT_MAX) throw new AccountError('bad_value', `oracle exponent ${exponent}`);
    return (value * PRICE_PRECISION * multiple) / 10n ** BigInt(digits);
  };
}

function snapped(value: OraclePrice): OraclePrice {
  const gap = value.price > PRICE_PRECISION ? value.price - PRICE_PRECISION : PRICE_PRECISION - value.price;
  const band = value.confidence < STABLECOIN_BAND ? value.confidence : STABLECOIN_BAND;
  return gap < band ? { ...value, price: PRICE_PRECISION } : value;
}

function readLazer(view: DataView, scale: Scale): OraclePrice {
  const exponent = view.getInt32(32, true);
  const publishTime = view.getBigUint64(16, true);
  const price = scale(view.getBigInt64(8, true), exponent);
  return {
    price,
    oracleSlot: view.getBigUint64(24, true),
    confidence: scale(view.getBigUint64(40, true), exponent),
    hasSufficientNumberOfDataPoints: true,
    // The account has no TWAP, so both members carry the price (docs/internals/order-book-server.md, "Oracle feed").
    twap: price,
    twapConfidence: price < 0n ? 0n : price,
    maxPrice: null,
    sequenceId: publishTime,
    publishTs: publishTime / MICROSECONDS,
  };
}

/** Pre-launch prices are already 1e6. Their age counts from the AMM update that made them, not from the account write. */
function readPrelaunch(view: DataView): OraclePrice {
  return {
    price: view.getBigInt64(8, true),
    oracleSlot: view.getBigUint64(40, true),
    confidence: view.getBigUint64(24, true),
    hasSufficientNumberOfDataPoints: true,
    twap: null,
    twapConfidence: null,
    maxPrice: view.getBigInt64(16, true),
    sequenceId: null,
    publishTs: null,
  };
}

/** Product and mapping accounts share the head and hold no price. */
function readPush(view: DataView, scale: Scale): OraclePrice {
  const kind = view.getUint32(8, true);
  if (kind !== PUSH_PRICE_KIND) throw new AccountError('bad_value', `Pyth account of kind ${kind}`);
  const exponent = view.getInt32(20, true);
  const publishers = view.getUint32(24, true);
  const quoting = view.getUint32(28, true);
  return {
    price: scale(view.getBigInt64(208, true), exponent),
    confidence: scale(view.getBigUint64(216, true), exponent),
    twap: scale(view.getBigInt64(48, true), exponent),
    twapConfidence: scale(view.getBigInt64(72, true), exponent),
    oracleSlot: view.getBigUint64(40, true),
    publishTs: view.getBigInt64(96, true),
    hasSufficientNumberOfDataPoints: quoting >= Math.min(publishers, PUSH_PUBLISHERS_MIN),
    maxPrice: null,
    sequenceId: null,
  };
}

function readPull(view: DataView, scale: Scale): OraclePrice {
  // verification_level is one byte, followed by a signature count only when it is 0 (Partial).
  const partial = view.getUint8(40) === 0 ? 1 : 0;
  const at = PULL_HEAD_BYTES + partial + 32;
  if (view.byteLength < at + PULL_TAIL_BYTES - 32) {
    throw new AccountError('wrong_length', `PriceUpdateV2 has ${view.byteLength} bytes`);
  }
  const exponent = view.getInt32(at + 16, true);
  return {
    price: scale(view.getBigInt64(at, true), exponent),
    confidence: scale(view.getBigUint64(at + 8, true), exponent),
    twap: scale(view.getBigInt64(at + 36, true), exponent),
    twapConfidence: scale(view.getBigUint64(at + 44, true), exponent),
    oracleSlot: view.getBigUint64(at + 52, true),
    publishTs: view.getBigInt64(at + 20, true),
    hasSufficientNumberOfDataPoints: true,
    maxPrice: null,
    sequenceId: null,
  };
}
