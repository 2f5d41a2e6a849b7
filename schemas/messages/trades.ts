// Published fills, and recent fill prices of takers against the oracle. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';
import type { Direction } from './book.ts';

/** A numbered fill: raw integers, absent optionals are null. The gateway makes whole units of them. */
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
  /** Number of the fill among those of its market: contiguous inside an epoch, from 1. Null in older messages. */
  readonly epoch: number | null;
  readonly seq: number | null;
  /** Index of the transaction in its block; null or absent where unknown. */
  readonly txIndex?: number | null;
}

/** A fill as ingest finds it on the node's fork (`processed`), or on the confirmed chain. `event`: the encoded `ChainEvent`. */
export interface ProcessedFill extends MarketRef {
  readonly commitment: 'processed' | 'confirmed';
  readonly slot: number;
  /** Index of the transaction in its block; null where unknown. */
  readonly txIndex: number | null;
  readonly event: Uint8Array;
}

/** The slot of a processed fill has left the node's fork. Names the fill by its slot, transaction and index. */
export interface FillWithdrawal extends MarketRef {
  readonly slot: number;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  readonly eventIndex: number;
}

/** Every confirmed fill up to `slot` stands before this record in its partition. Other fills of these slots do not count. */
export interface FillsResolved {
  readonly slot: number;
}

/** A published fill at processed does not count. It has a number of its own, like a fill. */
export interface TradeWithdrawal extends MarketRef {
  readonly epoch: number;
  readonly seq: number;
  /** Number of the withdrawn fill. */
  readonly tradeSeq: number;
  /** Slot, transaction and ids of the withdrawn fill. */
  readonly slot: number;
  readonly txSig: string;
  readonly txSigIndex: number;
  readonly fillRecordId: bigint;
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

/** How far recent fills of a market's takers were from the oracle. */
export interface FillQualityView extends MarketRef {
  /** Chain time of the newest event behind the means, milliseconds. */
  readonly updatedAtMs: number;
  readonly cohorts: readonly FillQualityCohort[];
}
