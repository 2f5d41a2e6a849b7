// The description of a market that readers get beside its book.

import type { BookMarket, MarketRef, MarketView, ViewOracle } from '../../schemas/index.ts';
import type { EngineHead } from './engine.ts';

/** Null until the market account is known: a reader keeps the first name that it gets. */
export function marketView(ref: MarketRef, head: EngineHead, exchangeOracle: ViewOracle | null): MarketView | null {
  const { market, oracle } = head;
  if (market === null) return null;
  const { symbol, status, tickSize, stepSize, minOrderSize, decimals, last24hAvgFundingRate } = market;
  return {
    ...ref,
    slot: head.marketSlot,
    symbol,
    status,
    tickSize,
    stepSize,
    minOrderSize,
    decimals,
    oraclePrice: oracle?.price ?? null,
    openInterestBase: openInterest(market),
    last24hAvgFundingRate,
    oracle: exchangeOracle,
    isLoading: !head.isLoaded && head.bracketSlot >= 0,
  };
}

/** The larger of both sides, base 1e9 (docs/internals/accounts.md, "Open interest"); the short side is stored negative. */
function openInterest(market: BookMarket): bigint {
  const long = market.baseAssetAmountLong < 0n ? -market.baseAssetAmountLong : market.baseAssetAmountLong;
  const short = market.baseAssetAmountShort < 0n ? -market.baseAssetAmountShort : market.baseAssetAmountShort;
  if (long > short) return long;
  return short;
}
