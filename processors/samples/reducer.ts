// Samples of one market: the state of the `book` topic at each block time. Pure.

import type { AmmState, BookMarket, BookOracle, BookTime, MarketRef, MarketSample } from '../../schemas/index.ts';
import { quoteReserves } from '../book/vamm.ts';

/** Members of the market account that a sample has. */
export type MarketPart = Pick<
  MarketSample,
  | 'bidPrice'
  | 'askPrice'
  | 'longSpread'
  | 'shortSpread'
  | 'baseAssetAmountWithAmm'
  | 'openInterestLong'
  | 'openInterestShort'
>;

/** State of one market between two samples. */
export interface SampleState {
  /** Slot of the newest sample, -1 before the first. */
  readonly slot: number;
  readonly oraclePrice: bigint | null;
  readonly oracleHigh: bigint | null;
  readonly oracleLow: bigint | null;
  readonly market: MarketPart;
}

const NO_MARKET: MarketPart = {
  bidPrice: null,
  askPrice: null,
  longSpread: 0,
  shortSpread: 0,
  baseAssetAmountWithAmm: 0n,
  openInterestLong: 0n,
  openInterestShort: 0n,
};

export const NO_SAMPLE: SampleState = {
  slot: -1,
  oraclePrice: null,
  oracleHigh: null,
  oracleLow: null,
  market: NO_MARKET,
};

const INT64_MAX = 2n ** 63n - 1n;

export function withMarket(
  state: SampleState,
  { amm, baseAssetAmountLong, baseAssetAmountShort }: BookMarket,
): SampleState {
  const openInterest = { openInterestLong: baseAssetAmountLong, openInterestShort: baseAssetAmountShort };
  if (amm === null) return { ...state, market: { ...NO_MARKET, ...openInterest } };
  const { longSpread, shortSpread, baseAssetAmountWithAmm } = amm;
  const [bidPrice, askPrice] = [curvePrice(amm, 'bid'), curvePrice(amm, 'ask')];
  return { ...state, market: { bidPrice, askPrice, longSpread, shortSpread, baseAssetAmountWithAmm, ...openInterest } };
}

export function withOracle(state: SampleState, { price }: BookOracle): SampleState {
  const { oracleHigh, oracleLow } = state;
  return {
    ...state,
    oraclePrice: price,
    oracleHigh: oracleHigh === null || price > oracleHigh ? price : oracleHigh,
    oracleLow: oracleLow === null || price < oracleLow ? price : oracleLow,
  };
}

/** The sample at a block time, and the extremes restarted at its price; null when the time is not newer than the last. */
export function sampleAt(
  state: SampleState,
  ref: MarketRef,
  { slot, ts }: BookTime,
): { readonly state: SampleState; readonly sample: MarketSample } | null {
  if (slot <= state.slot) return null;
  const { oraclePrice, oracleHigh, oracleLow, market } = state;
  const { marketType, marketIndex } = ref;
  return {
    state: { ...state, slot, oracleHigh: oraclePrice, oracleLow: oraclePrice },
    sample: { marketType, marketIndex, slot, ts, oraclePrice, oracleHigh, oracleLow, ...market },
  };
}

/** Marginal price of a side, 1e6: quote reserve x peg / base reserve (docs/internals/vamm-quotes.md), with its spread. */
function curvePrice(amm: AmmState, side: 'bid' | 'ask'): bigint | null {
  const { base, quote } = quoteReserves(amm, side);
  if (base <= 0n) return null;
  const price = (quote * amm.pegMultiplier) / base;
  return price <= INT64_MAX ? price : null;
}
