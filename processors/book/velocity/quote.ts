// Quotes of a Velocity vAMM at the current oracle price: docs/internals/vamm-quotes.md, "Velocity".

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { confidenceShare, liveOracleStd, priceTs, type QuotingOracle } from '../live-inputs.ts';
import { velocityCurve } from './curve.ts';
import { guardedSpreads } from './guard.ts';
import { referenceOffset } from './offset.ts';
import { quotedReserves } from './reserves.ts';
import type { Sides } from './sides.ts';
import { sideSpreads } from './spread.ts';

/** Spreads of both sides, and their common reference offset: shares of 1e6. */
export interface VelocitySpreads extends Sides {
  readonly offset: bigint;
}

/** A market's curve at an oracle price, with the reserves that it quotes. Without a price it has its stored spreads. */
export function velocityQuote(
  market: BookMarket,
  amm: AmmState,
  inputs: SpreadInputs,
  oracle: QuotingOracle,
): AmmState {
  const curve = velocityCurve(market, amm, inputs, oracle.price);
  const spreads = velocitySpreads(market, curve, inputs, oracle);
  if (spreads === null) return curve;
  const { bid, ask } = quotedReserves(curve, spreads, spreads.offset);
  return {
    ...curve,
    askBaseAssetReserve: ask.base,
    askQuoteAssetReserve: ask.quote,
    bidBaseAssetReserve: bid.base,
    bidQuoteAssetReserve: bid.quote,
  };
}

/** Spreads and offset of an updated curve; null when the curve or its oracle has no price. */
export function velocitySpreads(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  oracle: QuotingOracle,
): VelocitySpreads | null {
  if (oracle.price <= 0n || curve.baseAssetReserve <= 0n) return null;
  const reservePrice = (curve.quoteAssetReserve * curve.pegMultiplier) / curve.baseAssetReserve;
  if (reservePrice <= 0n) return null;
  const now = priceTs(curve, inputs, oracle);
  const spreads = sideSpreads({
    curve,
    inputs,
    last24hAvgFundingRate: market.last24hAvgFundingRate,
    reservePrice,
    oraclePrice: oracle.price,
    confidence: confidenceShare(inputs, oracle, reservePrice, now),
    oracleStd: liveOracleStd(market, inputs, oracle.price, now),
  });
  if (curve.curveUpdateIntensity === 0) return { ...spreads, offset: 0n };
  const offset = referenceOffset(market, curve, inputs, reservePrice);
  return { ...guardedSpreads(spreads, offset, reservePrice, oracle.price), offset };
}
