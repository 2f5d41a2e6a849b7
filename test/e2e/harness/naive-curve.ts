// Where a vAMM quotes from as the accounts of the cluster say: its curve moved to the oracle by the published client library, and
// the spread reserves that the library makes of it.

import { type Big, loadSdk, type PeerReserves, type PeerStruct, type Sdk } from './peer-sdk.ts';

export type Fields = Record<string, unknown>;

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

/** What the vAMM goes by: price and confidence 1e6, the slot of the price, and its time in Unix seconds. */
export interface NaiveOracle {
  readonly price: bigint;
  readonly confidence: bigint;
  readonly slot: bigint;
  readonly ts: bigint;
}

const big = (value: unknown): bigint => BigInt((value as Big).toString());

/** `market` as Anchor decodes a PerpMarket. Throws an Error where the library's rule of spreads is not the program's. */
export function naiveCurve(market: Fields, oracle: NaiveOracle): NaiveCurve {
  const amm = market.amm as Fields;
  // Velocity keeps dynamic spreads without a base spread, and knows a funding bias; the library does neither (protocol 4.3).
  if (Number(amm.base_spread) === 0 || Number(amm.funding_bias_sensitivity) !== 0) {
    throw new Error('the client library is no judge of this market');
  }
  const sdk = loadSdk();
  const theirs = (value: bigint) => new sdk.BN(String(value));
  const told = { price: theirs(oracle.price), confidence: theirs(oracle.confidence), slot: theirs(oracle.slot) };
  const moved = sdk.calculateUpdatedAMM(libraryNames(sdk, market), told);
  const reserves = sdk.calculateSpreadReserves(moved, told, theirs(oracle.ts), false, theirs(oracle.slot));
  const [bids, asks] = reserves.map(({ baseAssetReserve, quoteAssetReserve }: PeerReserves) => ({
    base: big(baseAssetReserve),
    quote: big(quoteAssetReserve),
  })) as [NaiveReserves, NaiveReserves];
  const sqrtK = big(moved.sqrtK);
  return { base: big(moved.baseAssetReserve), k: sqrtK * sqrtK, peg: big(moved.pegMultiplier), bids, asks };
}

function libraryNames(sdk: Sdk, market: Fields): PeerStruct {
  const amm = market.amm as Fields;
  const stats = market.market_stats as Fields;
  const history = stats.historical_oracle_data as Fields;
  const theirs = (value: unknown) => new sdk.BN((value as Big).toString());
  return {
    baseAssetReserve: theirs(amm.base_asset_reserve),
    quoteAssetReserve: theirs(amm.quote_asset_reserve),
    terminalQuoteAssetReserve: theirs(amm.terminal_quote_asset_reserve),
    minBaseAssetReserve: theirs(amm.min_base_asset_reserve),
    maxBaseAssetReserve: theirs(amm.max_base_asset_reserve),
    sqrtK: theirs(amm.sqrt_k),
    pegMultiplier: theirs(amm.peg_multiplier),
    baseAssetAmountWithAmm: theirs(amm.base_asset_amount_with_amm),
    baseAssetAmountWithUnsettledLp: new sdk.BN('0'),
    totalFeeMinusDistributions: theirs(amm.total_fee_minus_distributions),
    totalExchangeFee: theirs((market.fee_ledger as Fields).total_exchange_fee),
    netRevenueSinceLastFunding: theirs(amm.net_revenue_since_last_funding),
    lastUpdateSlot: theirs(amm.last_update_slot),
    baseSpread: Number(amm.base_spread),
    maxSpread: Number(amm.max_spread),
    curveUpdateIntensity: Number(amm.curve_update_intensity),
    ammSpreadAdjustment: Number(amm.amm_spread_adjustment),
    ammInventorySpreadAdjustment: Number(amm.amm_inventory_spread_adjustment),
    referencePriceOffset: Number(stats.last_reference_price_offset),
    referencePriceOffsetDeadbandPct: Number(amm.reference_price_offset_deadband_pct),
    markStd: theirs(stats.mark_std),
    oracleStd: theirs(stats.oracle_std),
    lastOracleConfPct: theirs(stats.last_oracle_conf_pct),
    longIntensityVolume: theirs(stats.long_intensity_volume),
    shortIntensityVolume: theirs(stats.short_intensity_volume),
    volume24H: theirs(stats.volume_24h),
    fundingPeriod: theirs(stats.funding_period),
    last24HAvgFundingRate: theirs(stats.last_24h_avg_funding_rate),
    lastMarkPriceTwap: theirs(stats.last_mark_price_twap),
    lastMarkPriceTwap5Min: theirs(stats.last_mark_price_twap_5min),
    historicalOracleData: {
      lastOraclePriceTwap: theirs(history.last_oracle_price_twap),
      lastOraclePriceTwap5Min: theirs(history.last_oracle_price_twap_5min),
      lastOraclePriceTwapTs: theirs(history.last_oracle_price_twap_ts),
    },
  };
}
