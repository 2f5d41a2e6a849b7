// What is made of a market over time: samples, candles, and the summary of its last 24 hours. Units: see ../messages.ts.

import type { MarketRef } from '../market.ts';

/** How a market stood at a block time. Prices and spreads 1e6, base 1e9. */
export interface MarketSample extends MarketRef {
  readonly slot: number;
  /** Block time of `slot`, Unix seconds. */
  readonly ts: number;
  /** Null until the first oracle price is known. */
  readonly oraclePrice: bigint | null;
  /** Extremes of the oracle price since the sample before, the price at that sample included. */
  readonly oracleHigh: bigint | null;
  readonly oracleLow: bigint | null;
  /** What the vAMM quotes for the smallest size, spread included; null for a market without vAMM. */
  readonly bidPrice: bigint | null;
  readonly askPrice: bigint | null;
  /** As the chain stored them; 0 for a market without vAMM. */
  readonly longSpread: number;
  readonly shortSpread: number;
  /** What the users hold against the AMM: positive = users are long. */
  readonly baseAssetAmountWithAmm: bigint;
  readonly openInterestLong: bigint;
  /** Zero or negative. */
  readonly openInterestShort: bigint;
}

export type CandleResolution = '1' | '5' | '15' | '60' | '240' | 'D' | 'W' | 'M';

/**
 * One candle as it is now: absolute. Of two records of one key (`candleKey`) the later in the log holds; `version` says
 * the same to whoever stores them. Prices 1e6, quote 1e6, base in the market's base units (1e9 for perps).
 */
export interface CandleView extends MarketRef {
  readonly resolution: CandleResolution;
  /** Bucket start, Unix seconds. */
  readonly ts: number;
  /** Newest slot that was applied to the market. */
  readonly slot: number;
  readonly fillOpen: bigint;
  readonly fillHigh: bigint;
  readonly fillLow: bigint;
  readonly fillClose: bigint;
  readonly oracleOpen: bigint;
  readonly oracleHigh: bigint;
  readonly oracleLow: bigint;
  readonly oracleClose: bigint;
  readonly quoteVolume: bigint;
  readonly baseVolume: bigint;
  /** Fills of the bucket; 0 for a flat one. */
  readonly trades: number;
  /** Of the fill that closed the bucket; null for a flat one. */
  readonly lastTradeTs: bigint | null;
  readonly lastFillRecordId: bigint | null;
  /** Grows with every change of the market's candles. */
  readonly version: bigint;
}

/**
 * A market's last 24 hours. `now` is `ts`, the market's own chain time: the newest block time among its order actions,
 * funding rates and samples. With m = floor(ts / 60) the window is the 1,440 whole minutes m-1439 to m, that is
 * (m-1439)*60 <= ts < (m+1)*60; the fill of "24 hours ago" is the last one before the window.
 */
export interface MarketSummary extends MarketRef {
  /** Newest slot that was applied. */
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
  /** Fills of the window, liquidations among them, position transfers not. Quote 1e6, base 1e9. */
  readonly quoteVolume24h: bigint;
  readonly baseVolume24h: bigint;
  readonly trades24h: number;
  /** Of the newest fill that makes candles (by minute, then fill record id), whenever it was; null without one. */
  readonly lastFillPrice: bigint | null;
  readonly lastFillTs: number | null;
  /** `fillClose` of the minute candle at or before minute m-1440; null when there is none. */
  readonly fillPrice24hAgo: bigint | null;
  /** Over the fills of the window that make candles; null without one. */
  readonly fillHigh24h: bigint | null;
  readonly fillLow24h: bigint | null;
  /** Over oracle prices of the window, of those fills and of samples; null without one. */
  readonly oracleHigh24h: bigint | null;
  readonly oracleLow24h: bigint | null;
  /** The funding record with the highest record id; null without one. Rates 1e9, average price 1e6. */
  readonly funding: FundingView | null;
  /** How many records the sum below is over: the newest, 24 at most. */
  readonly fundingRecords24h: number;
  /** Sum of fundingRateLong / oraclePriceTwap in percent per hour, 1e9, each truncated toward zero (`fundingPercent1e9`). */
  readonly fundingPercentSum1e9: bigint;
  /** Newest known, by slot; null before the first. */
  readonly oraclePrice: bigint | null;
  /** Slot and block time of the newest sample, 0 before the first; the rest is what it says. */
  readonly sampleSlot: number;
  readonly sampleTs: number;
  readonly openInterestLong: bigint;
  /** Zero or negative. */
  readonly openInterestShort: bigint;
  readonly bidPrice: bigint | null;
  readonly askPrice: bigint | null;
}

export interface FundingView {
  readonly recordId: bigint;
  /** Unix seconds. */
  readonly ts: number;
  readonly fundingRate: bigint;
  readonly fundingRateLong: bigint;
  readonly fundingRateShort: bigint;
  readonly oraclePriceTwap: bigint;
}
