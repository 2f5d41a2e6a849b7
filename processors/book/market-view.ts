// The description of a market that readers get beside its book.

import type { BookMarket, MarketRef, MarketView, ViewOracle } from '../../schemas/index.ts';
import type { EngineHead } from './engine-head.ts';

/**
 * Null while the market account may still come, because a reader keeps the first name that it gets. A market without an account
 * after a whole read is named by its index.
 */
export function marketView(ref: MarketRef, head: EngineHead, exchangeOracle: ViewOracle | null): MarketView | null {
  const { market, oracle, isLoaded } = head;
  if (market === null && !isLoaded) return null;
  return {
    ...ref,
    slot: head.marketSlot,
    symbol: market?.symbol ?? `${ref.marketType.toUpperCase()}-${ref.marketIndex}`,
    status: market?.status ?? 'initialized',
    tickSize: market?.tickSize ?? 1n,
    stepSize: market?.stepSize ?? 1n,
    minOrderSize: market?.minOrderSize ?? 0n,
    decimals: market?.decimals ?? 0,
    oraclePrice: oracle?.price ?? null,
    openInterestBase: market ? openInterest(market) : 0n,
    last24hAvgFundingRate: market?.last24hAvgFundingRate ?? 0n,
    oracle: exchangeOracle,
    isLoading: !isLoaded && head.bracketSlot >= 0,
  };
}

/** The larger of both sides, base 1e9 (docs/internals/accounts.md, "Open interest"); the short side is stored negative. */
function openInterest(market: BookMarket): bigint {
  const long = market.baseAssetAmountLong < 0n ? -market.baseAssetAmountLong : market.baseAssetAmountLong;
  const short = market.baseAssetAmountShort < 0n ? -market.baseAssetAmountShort : market.baseAssetAmountShort;
  if (long > short) return long;
  return short;
}
