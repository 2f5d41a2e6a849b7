// Market data over time: samples, candles, and the summary of the last 24 hours. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';
import type { CandleResolution } from './candle-resolutions.ts';

/** State of a market at a block time. Prices and spreads 1e6, base 1e9. */
export interface MarketSample extends MarketRef {
  readonly slot: number;
  /** Block time of `slot`, Unix seconds. */
  readonly ts: number;
  /** Null until the first oracle price is known. */
  readonly oraclePrice: bigint | null;
  /** Extremes of the oracle price since the previous sample, including the price at that sample. */
  readonly oracleHigh: bigint | null;
  readonly oracleLow: bigint | null;
  /** The vAMM's quote for the smallest size, spread included; null for a market without vAMM. */
  readonly bidPrice: bigint | null;
  readonly askPrice: bigint | null;
  /** As the chain stores them; 0 for a market without vAMM. */
  readonly longSpread: number;
  readonly shortSpread: number;
  /** Net position of all users against the AMM; positive = users are long. */
  readonly baseAssetAmountWithAmm: bigint;
  readonly openInterestLong: bigint;
  /** Zero or negative. */
  readonly openInterestShort: bigint;
}

/**
 * The current state of one candle: absolute. The later record of one key (`candleKey`) in the log wins; in a store the higher
 * `version` wins. Prices 1e6, quote 1e6, base in the market's base units (1e9 for perps).
 */
export interface CandleView extends MarketRef {
  readonly resolution: CandleResolution;
  /** Bucket start, Unix seconds. */
  readonly ts: number;
  /** Newest applied slot of the market. */
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
  /** Number of fills in the bucket; 0 for a flat one. */
  readonly trades: number;
  /** Time of the bucket's last fill; null for a flat one. */
  readonly lastTradeTs: bigint | null;
  readonly lastFillRecordId: bigint | null;
  /** Grows with every change of the market's candles. */
  readonly version: bigint;
}

type CandlePrice = `${'fill' | 'oracle'}${'Open' | 'High' | 'Low' | 'Close'}`;

/** A candle before the first fill of its market, published in place of one whose fills the chain dropped. Readers leave it out. */
export type WithdrawnCandle = Omit<CandleView, CandlePrice> & Readonly<Record<CandlePrice, null>>;

/**
 * A market's last 24 hours. `ts` is the market's own chain time: the newest block time of its order actions, funding rates and
 * samples. With m = floor(ts / 60) the window is the 1,440 whole minutes m-1439 to m, that is
 * (m-1439)*60 <= ts < (m+1)*60. The fill "24 hours ago" is the last one before the window.
 */
export interface MarketSummary extends MarketRef {
  /** Newest applied slot. */
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
  /** Fills of the window, with liquidations and without position transfers. Quote 1e6, base 1e9. */
  readonly quoteVolume24h: bigint;
  readonly baseVolume24h: bigint;
  readonly trades24h: number;
  /** Price of the newest fill that counts for candles (by minute, then fill record id), at any time; null without one. */
  readonly lastFillPrice: bigint | null;
  readonly lastFillTs: number | null;
  /** `fillClose` of the minute candle at or before minute m-1440; null when there is none. */
  readonly fillPrice24hAgo: bigint | null;
  /** Over the fills of the window that count for candles; null without one. */
  readonly fillHigh24h: bigint | null;
  readonly fillLow24h: bigint | null;
  /** Over the oracle prices of those fills and of the window's samples; null without one. */
  readonly oracleHigh24h: bigint | null;
  readonly oracleLow24h: bigint | null;
  /** The funding record with the highest record id; null without one. Rates 1e9, average price 1e6. */
  readonly funding: FundingView | null;
  /** Number of records in the sum below: the newest, 24 at most. */
  readonly fundingRecords24h: number;
  /** Sum of fundingRateLong / oraclePriceTwap in percent per hour, 1e9, each truncated toward zero (`fundingPercent1e9`). */
  readonly fundingPercentSum1e9: bigint;
  /** Newest by slot; null before the first. */
  readonly oraclePrice: bigint | null;
  /** Slot and block time of the newest sample, 0 before the first; the members below are from that sample. */
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
