// Where a vAMM quotes from as the accounts of the cluster say: its curve moved to the oracle by the published client library, and
// the spread reserves of that curve.

import { type Big, loadSdk, type Sdk } from './peer-sdk.ts';

export type Fields = Record<string, unknown>;

const PPM = 1_000_000n;

export interface NaiveReserves {
  readonly base: bigint;
  readonly quote: bigint;
}

export interface NaiveCurve {
  readonly base: bigint;
  readonly k: bigint;
  readonly peg: bigint;
  readonly bids: NaiveReserves;
  readonly asks: NaiveReserves;
}

const big = (value: unknown): bigint => BigInt((value as Big).toString());

/** `market` as Anchor decodes a PerpMarket; `oracle` is the price that the vAMM goes by, 1e6. */
export function naiveCurve(market: Fields, oracle: bigint): NaiveCurve {
  const amm = market.amm as Fields;
  const sdk = loadSdk();
  const account = libraryNames(sdk, amm, market.fee_ledger as Fields);
  const moved = sdk.calculateUpdatedAMM(account, { price: new sdk.BN(String(oracle)) });
  const [sqrtK, peg] = [big(moved.sqrtK), big(moved.pegMultiplier)];
  if (sqrtK === big(amm.sqrt_k) && peg === big(amm.peg_multiplier)) {
    return {
      base: big(amm.base_asset_reserve),
      k: sqrtK * sqrtK,
      peg,
      bids: { base: big(amm.bid_base_asset_reserve), quote: big(amm.bid_quote_asset_reserve) },
      asks: { base: big(amm.ask_base_asset_reserve), quote: big(amm.ask_quote_asset_reserve) },
    };
  }
  const plain = { base: big(moved.baseAssetReserve), quote: big(moved.quoteAssetReserve) };
  const offset = Number(amm.reference_price_offset);
  const k = sqrtK * sqrtK;
  return {
    base: plain.base,
    k,
    peg,
    bids: spreadFrom(plain, k, BigInt(offset - Number(amm.short_spread))),
    asks: spreadFrom(plain, k, BigInt(offset + Number(amm.long_spread))),
  };
}

/** Half of the spread as a part of the quote reserve, at least a millionth of it (protocol 4.2). */
function spreadFrom(plain: NaiveReserves, k: bigint, spread: bigint): NaiveReserves {
  if (spread === 0n) return plain;
  const sign = spread < 0n ? -1n : 1n;
  const half = (spread * sign) / 2n || 1n;
  const quote = plain.quote + sign * (plain.quote / (PPM / half));
  return { base: k / quote, quote };
}

function libraryNames(sdk: Sdk, amm: Fields, fees: Fields): Fields {
  const theirs = (value: unknown) => new sdk.BN((value as Big).toString());
  return {
    baseAssetReserve: theirs(amm.base_asset_reserve),
    quoteAssetReserve: theirs(amm.quote_asset_reserve),
    terminalQuoteAssetReserve: theirs(amm.terminal_quote_asset_reserve),
    sqrtK: theirs(amm.sqrt_k),
    pegMultiplier: theirs(amm.peg_multiplier),
    baseAssetAmountWithAmm: theirs(amm.base_asset_amount_with_amm),
    totalFeeMinusDistributions: theirs(amm.total_fee_minus_distributions),
    totalExchangeFee: theirs(fees.total_exchange_fee),
    netRevenueSinceLastFunding: theirs(amm.net_revenue_since_last_funding),
    maxSpread: Number(amm.max_spread),
    curveUpdateIntensity: Number(amm.curve_update_intensity),
  };
}
