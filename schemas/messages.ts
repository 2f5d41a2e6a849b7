// Our own messages as TypeScript sees them. `schemas/avro/*.avsc` is their wire form; field names are the same.
// Units: prices 1e6, base amounts 1e9, quote amounts 1e6. bigint where 64 bits are real, number only below 2^53.
// Public keys are their 32 raw bytes.

import type { MarketRef } from './market.ts';

export type OrderSource = 'user' | 'clob';
export type OrderType = 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';
export type Direction = 'long' | 'short';
export type TriggerCondition = 'above' | 'below' | 'triggeredAbove' | 'triggeredBelow';

/** One open order as the chain holds it now: absolute, never a delta. */
export interface OrderState {
  /** User account (not the wallet). */
  readonly maker: Uint8Array;
  /** Order id given by the exchange program; unique for its maker. */
  readonly orderId: number;
  readonly orderType: OrderType;
  readonly direction: Direction;
  readonly price: bigint;
  readonly baseAssetAmount: bigint;
  readonly baseAssetAmountFilled: bigint;
  readonly triggerPrice: bigint;
  readonly triggerCondition: TriggerCondition;
  readonly oraclePriceOffset: bigint;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly auctionDurationSlots: number;
  readonly auctionStartPrice: bigint;
  readonly auctionEndPrice: bigint;
  readonly placedSlot: number;
  /** Unix seconds, 0 = none. */
  readonly maxTs: bigint;
  readonly bitFlags: number;
  /** Base amount of the maker's perp position in this market; kept current for reduce-only orders, else 0. */
  readonly positionBaseAmount: bigint;
  /** The market-level book's own order id, which is its queue priority; null for an order in a user account. */
  readonly bookOrderId: bigint | null;
}

export interface OrderRef {
  readonly maker: Uint8Array;
  readonly orderId: number;
}

/** What one account update changed among the open orders of one market. */
export interface BookOrders extends MarketRef {
  readonly slot: number;
  readonly source: OrderSource;
  /** The account that was read: a User account, or the market-level order account. */
  readonly account: Uint8Array;
  readonly upserts: readonly OrderState[];
  readonly removals: readonly OrderRef[];
}

/** AMM state that vAMM levels are computed from. Reserves 1e9, peg and spreads 1e6. */
export interface AmmState {
  readonly baseAssetReserve: bigint;
  readonly quoteAssetReserve: bigint;
  readonly sqrtK: bigint;
  readonly pegMultiplier: bigint;
  readonly minBaseAssetReserve: bigint;
  readonly maxBaseAssetReserve: bigint;
  readonly terminalQuoteAssetReserve: bigint;
  readonly concentrationCoef: bigint;
  /** Spread reserves as the chain stored them; zero when the program never computed them. */
  readonly askBaseAssetReserve: bigint;
  readonly askQuoteAssetReserve: bigint;
  readonly bidBaseAssetReserve: bigint;
  readonly bidQuoteAssetReserve: bigint;
  readonly baseAssetAmountWithAmm: bigint;
  readonly totalFeeMinusDistributions: bigint;
  /** Fees that the exchange took in this market; null in messages written before it was part of them. Quote, 1e6. */
  readonly totalExchangeFee: bigint | null;
  readonly netRevenueSinceLastFunding: bigint;
  readonly baseSpread: number;
  readonly maxSpread: number;
  readonly longSpread: number;
  readonly shortSpread: number;
  readonly referencePriceOffset: number;
  readonly curveUpdateIntensity: number;
  readonly ammSpreadAdjustment: number;
  readonly ammInventorySpreadAdjustment: number;
  readonly lastUpdateSlot: bigint;
}

/**
 * What the spreads and the reference offset of an AMM follow from beside its curve (protocol 4.3). Prices and their
 * deviations 1e6, volumes quote 1e6, shares 1e6, times Unix seconds.
 */
export interface SpreadInputs {
  /** A market whose prices lie between 0 and 1. */
  readonly isPrediction: boolean;
  readonly markStd: bigint;
  readonly oracleStd: bigint;
  readonly lastOracleConfPct: bigint;
  readonly longIntensityVolume: bigint;
  readonly shortIntensityVolume: bigint;
  readonly volume24H: bigint;
  readonly lastMarkPriceTwap: bigint;
  readonly lastOraclePriceTwapTs: bigint;
  /** Seconds. */
  readonly fundingPeriod: bigint;
  readonly lastFundingOracleTwap: bigint;
  readonly lastReferencePriceOffset: number;
  readonly referencePriceOffsetDeadbandPct: number;
  /** Base, 1e9; zero where the program has no such amount. */
  readonly baseAssetAmountWithUnsettledLp: bigint;
  /** Percent; null where the program knows no funding bias, which is Drift's. */
  readonly fundingBiasSensitivity: number | null;
}

/** A market account as it is now. Spot markets have `amm` null and perp-only members zero. */
export interface BookMarket extends MarketRef {
  readonly slot: number;
  readonly account: Uint8Array;
  readonly symbol: string;
  /** Lower camel case variant of the market status. */
  readonly status: string;
  readonly oracle: Uint8Array;
  readonly oracleSource: string;
  readonly tickSize: bigint;
  readonly stepSize: bigint;
  readonly minOrderSize: bigint;
  readonly pausedOperations: number;
  /** True when the exchange-wide or market-wide flags stop AMM fills. */
  readonly ammPaused: boolean;
  /** Market-level order account, null when the market has none. */
  readonly clobMarket: Uint8Array | null;
  readonly baseAssetAmountLong: bigint;
  readonly baseAssetAmountShort: bigint;
  readonly last24hAvgFundingRate: bigint;
  readonly mmOraclePrice: bigint;
  readonly mmOracleSlot: bigint;
  readonly mmOracleSequenceId: bigint;
  readonly lastOraclePriceTwap: bigint;
  readonly lastOraclePriceTwap5Min: bigint;
  readonly lastMarkPriceTwap5Min: bigint;
  readonly decimals: number;
  readonly amm: AmmState | null;
  /** Null for spot markets and in messages written before it was part of them. */
  readonly spreadInputs: SpreadInputs | null;
  /**
   * Guard rail of the exchange: how far an oracle may be from its 5-minute TWAP, a share of 1e6. Null for spot markets,
   * while the State account is not known, and in older messages.
   */
  readonly oracleTwap5MinPercentDivergence: bigint | null;
}

export interface BookOracle extends MarketRef {
  readonly slot: number;
  readonly price: bigint;
  readonly oracleSlot: bigint;
  readonly confidence: bigint;
  readonly hasSufficientNumberOfDataPoints: boolean;
  readonly twap: bigint | null;
  readonly twapConfidence: bigint | null;
  /** Pre-launch oracles only. */
  readonly maxPrice: bigint | null;
  readonly sequenceId: bigint | null;
  /** When the price was published, Unix seconds; null where its account does not say, and in older messages. */
  readonly publishTs: bigint | null;
}

/** A slot was reached; written to every partition of `book`. Time for reducers. */
export interface BookSlot {
  readonly slot: number;
}

/** When a slot's block was made, in chain order and about every `sampleSlots` slots; written to every partition of `book`. */
export interface BookTime {
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: number;
}

/**
 * Brackets a full snapshot of one market's open orders: what is not upserted between begin and end (or by a live update
 * in between) is gone. `snapshotSlot` is the context slot of the read. Repeating a bracket changes nothing.
 */
export interface BookSnapshotBegin extends MarketRef {
  readonly snapshotSlot: number;
}
export interface BookSnapshotEnd extends MarketRef {
  readonly snapshotSlot: number;
}

/**
 * The shadow check found this book wrong. The records before this one hold it as it is now; from here on a new epoch
 * begins, and its first change is the whole book.
 */
export interface BookRepair extends MarketRef {
  readonly slot: number;
}

/** What a fresh read of the chain says of a market's open orders, true at exactly this place of the log. */
export interface BookCheck extends MarketRef {
  /** Slot of the read. */
  readonly slot: number;
  readonly orders: number;
  /** OrderDigest of the orders. */
  readonly digest: string;
}

/** What is known of one source of one market; the newest counts. A count goes on over restarts. */
export interface FeedQuality extends MarketRef {
  /** `user`, `clob`, `market`, `oracle`, `trades`: what comes in. `shadow`: accounts against the chain. `book`: the book itself. */
  readonly source: string;
  /** Newest slot of the source, 0 before the first. */
  readonly slot: number;
  /** Unix milliseconds at which the newest event was taken in, 0 before the first. */
  readonly atMs: number;
  readonly events: number;
  readonly gapsFound: number;
  readonly gapsFilled: number;
  /** Comparisons made, and how many of them found a difference. */
  readonly checks: number;
  readonly differences: number;
  /** Slot and result of the newest comparison: `none`, `equal`, `differs`. */
  readonly checkSlot: number;
  readonly checkResult: string;
  /** Epoch of the published book; 0 where it is not known. */
  readonly epoch: number;
}

export interface PositionState extends MarketRef {
  readonly slot: number;
  readonly user: Uint8Array;
  readonly authority: Uint8Array;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteEntryAmount: bigint;
  readonly quoteBreakEvenAmount: bigint;
  readonly lastCumulativeFundingRate: bigint;
  readonly openOrders: number;
}

/**
 * What the P&L of a perp market's positions depends on, of one slot or later. Cumulative funding 1e9, scaled balances 1e9,
 * cumulative interest 1e10. The net amounts are the users' against the AMM, unsettled LP amounts included.
 */
export interface PositionMarket extends MarketRef {
  readonly slot: number;
  readonly oraclePrice: bigint;
  readonly cumulativeFundingRateLong: bigint;
  readonly cumulativeFundingRateShort: bigint;
  readonly netBaseAssetAmount: bigint;
  readonly netQuoteAssetAmount: bigint;
  readonly netUnsettledFundingPnl: bigint;
  readonly pnlPoolScaledBalance: bigint;
  readonly feePoolScaledBalance: bigint;
  /** Of the quote spot market, in which both pools are kept. */
  readonly quoteCumulativeDepositInterest: bigint;
  readonly quoteDecimals: number;
}

export interface RankedUser {
  /** User account (not the wallet). */
  readonly user: Uint8Array;
  /** Claimable P&L, quote 1e6; never 0. */
  readonly pnl: bigint;
}

/** The largest claimable gains (best first) and losses (worst first) of a perp market, at most 20 each. */
export interface PnlRanking extends MarketRef {
  readonly slot: number;
  readonly gainers: readonly RankedUser[];
  readonly losers: readonly RankedUser[];
}

/** Priority fees that compete for a market's accounts, micro-lamports per compute unit; may be fractional. */
export interface FeeLevels extends MarketRef {
  /** Wall-clock milliseconds at which the provider answered. */
  readonly atMs: number;
  readonly min: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
  readonly veryHigh: number;
  readonly unsafeMax: number;
}

/** Absolute state of one published level; all sizes zero means that the level is gone. */
export interface ViewLevel {
  readonly price: number;
  readonly dlob: bigint;
  readonly vamm: bigint;
}

/** One visible resting order. Position in the walk: price, then `rank` ascending (field by field). */
export interface ViewOrder {
  readonly price: number;
  readonly size: bigint;
  readonly maker: Uint8Array;
  readonly orderId: number;
  readonly source: OrderSource;
  /** Walk order among equal prices: list precedence, then slot or book id, then arrival. */
  readonly rank: readonly number[];
}

export interface ViewOrderRef {
  readonly maker: Uint8Array;
  readonly orderId: number;
  readonly source: OrderSource;
}

export interface ViewOracle {
  readonly price: bigint;
  readonly slot: bigint;
  readonly confidence: bigint;
  readonly hasSufficientNumberOfDataPoints: boolean;
  readonly twap: bigint | null;
  readonly twapConfidence: bigint | null;
  readonly maxPrice: bigint | null;
}

/** Head of every book view message. `seq` is contiguous inside an epoch and starts at 1. */
export interface BookViewHead extends MarketRef {
  readonly epoch: number;
  readonly seq: number;
  /** Slot of the newest slot, market or order update applied. */
  readonly slot: number;
  /** Slot of the newest market account update. */
  readonly marketSlot: number;
  readonly oracle: ViewOracle | null;
  /** Market-maker oracle, or the exchange oracle when that is the one in force. */
  readonly mmOracle: ViewOracle | null;
  readonly isMmOracleActive: boolean;
}

/** One accepted change. Lists are per side; orders removed are named in `gone`. */
export interface BookViewDiff extends BookViewHead {
  readonly bids: readonly ViewLevel[];
  readonly asks: readonly ViewLevel[];
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
  readonly gone: readonly ViewOrderRef[];
}

/** The whole published book: the state after `seq`. Levels and orders in walk order. */
export interface BookViewSnapshot extends BookViewHead {
  readonly bids: readonly ViewLevel[];
  readonly asks: readonly ViewLevel[];
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
}

/** Description of a market for readers: registry, and what market summaries need. */
export interface MarketView extends MarketRef {
  readonly slot: number;
  readonly symbol: string;
  readonly status: string;
  readonly tickSize: bigint;
  readonly stepSize: bigint;
  readonly minOrderSize: bigint;
  readonly decimals: number;
  readonly oraclePrice: bigint | null;
  readonly openInterestBase: bigint;
  readonly last24hAvgFundingRate: bigint;
}

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

/** A fill for the trades channel; raw integers, absent optionals are null. */
export interface TradeView extends MarketRef {
  readonly ts: bigint;
  readonly slot: number;
  readonly txSig: string;
  readonly txSigIndex: number;
  readonly fillRecordId: bigint;
  readonly action: string;
  readonly actionExplanation: string;
  readonly filler: Uint8Array | null;
  readonly taker: Uint8Array | null;
  readonly maker: Uint8Array | null;
  readonly takerFee: bigint | null;
  readonly makerFee: bigint | null;
  readonly quoteAssetAmountSurplus: bigint | null;
  readonly baseAssetAmountFilled: bigint;
  readonly quoteAssetAmountFilled: bigint;
  readonly referrerReward: number | null;
  readonly takerOrderId: number | null;
  readonly makerOrderId: number | null;
  readonly takerOrderDirection: Direction | null;
  readonly makerOrderDirection: Direction | null;
  readonly takerOrderBaseAssetAmount: bigint | null;
  readonly takerOrderCumulativeBaseAssetAmountFilled: bigint | null;
  readonly takerOrderCumulativeQuoteAssetAmountFilled: bigint | null;
  readonly makerOrderBaseAssetAmount: bigint | null;
  readonly makerOrderCumulativeBaseAssetAmountFilled: bigint | null;
  readonly makerOrderCumulativeQuoteAssetAmountFilled: bigint | null;
  readonly oraclePrice: bigint;
  readonly bitFlags: number;
}

/** One side of an indicative quote: price 1e6 (or offset from the oracle, which may be negative), size base 1e9. */
export interface QuoteSide {
  readonly price: bigint;
  readonly size: bigint;
}

export interface MakerQuote {
  /** True when both prices are offsets from the oracle price. */
  readonly isOracleOffset: boolean;
  readonly bid: QuoteSide | null;
  readonly ask: QuoteSide | null;
}

/** All indicative quotes of one maker in one market; replaces what the maker quoted there before. */
export interface MakerQuotes extends MarketRef {
  /** Wall clock of the gateway that took them in, Unix milliseconds. */
  readonly receivedAtMs: number;
  /** The key the maker proved to hold. */
  readonly maker: Uint8Array;
  readonly quotes: readonly MakerQuote[];
}

/** Taker fills of one order-size cohort inside the trailing window. */
export interface FillQualityCohort {
  /** `all`, or the least order notional of the cohort in whole quote units: `1e0`, `1e3`, `1e4`, `1e5`, `1e6`. */
  readonly cohort: string;
  readonly takerBuys: number;
  /** Mean of (fill price / oracle - 1), millionths of a basis point; null without fills. */
  readonly takerBuyMicroBps: bigint | null;
  readonly takerSells: number;
  readonly takerSellMicroBps: bigint | null;
}

/** How far from the oracle takers of a market were filled lately. */
export interface FillQualityView extends MarketRef {
  /** Chain time of the newest event behind the means, milliseconds. */
  readonly updatedAtMs: number;
  readonly cohorts: readonly FillQualityCohort[];
}

/** Something that could not be read. Nothing is dropped without one of these. */
export interface DeadLetter {
  readonly reason: string;
  readonly detail: string;
  readonly slot: number;
  /** Where it came from: account key, transaction signature, or `topic/partition/offset`. */
  readonly origin: string;
  readonly bytes: Uint8Array;
}
