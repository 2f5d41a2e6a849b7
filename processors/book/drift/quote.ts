// Quotes of a Drift vAMM at the current oracle price, as the released client library computes them:
// docs/internals/vamm-quotes.md, "Drift".

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import type { QuotingOracle } from '../live-inputs.ts';
import { predictionBounds, type Reserves, spreadReserves } from '../vamm.ts';
import { driftCurve } from './curve.ts';
import { referenceOffset, smoothed } from './offset.ts';
import { type Spreads, sideSpreads } from './spread.ts';

/** Spreads of both sides, and their common reference offset: whole, a share of 1e6. */
export interface DriftSpreads extends Spreads {
  readonly offset: number;
}

/** A market's curve at an oracle price, with reserves from its live spreads, or from the stored ones without a price. */
export function driftQuote(market: BookMarket, amm: AmmState, inputs: SpreadInputs, oracle: QuotingOracle): AmmState {
  const moved = driftCurve(amm, oracle.price);
  const curve = oracle.price > 0n ? settled(moved) : null;
  const spreads = curve && driftSpreads(market, curve, inputs, oracle);
  if (!spreads) return moved;
  const { long, short, offset } = spreads;
  const { isPrediction } = inputs;
  const ask = sideReserves(curve, long + offset, isPrediction ? 'ask' : null);
  const bid = sideReserves(curve, -short + offset, isPrediction ? 'bid' : null);
  return {
    ...curve,
    askBaseAssetReserve: ask.base,
    askQuoteAssetReserve: ask.quote,
    bidBaseAssetReserve: bid.base,
    bidQuoteAssetReserve: bid.quote,
  };
}

/** Spreads and offset of an updated curve; null when it has no price. */
export function driftSpreads(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  oracle: QuotingOracle,
): DriftSpreads | null {
  const reservePrice = (curve.quoteAssetReserve * curve.pegMultiplier) / curve.baseAssetReserve;
  if (reservePrice <= 0n) return null;
  const spreads = sideSpreads(market, curve, inputs, oracle, reservePrice);
  const offset = referenceOffset(market, curve, inputs, reservePrice);
  return smoothed(curve, inputs, oracle.slot, spreads, offset);
}

/** The curve with both quote reserves from its invariant, like after each program update; null when it has none. */
function settled(curve: AmmState): AmmState | null {
  const closed = curve.baseAssetReserve + curve.baseAssetAmountWithAmm;
  if (curve.baseAssetReserve <= 0n || closed <= 0n) return null;
  if (curve.curveUpdateIntensity === 0) return curve;
  const k = curve.sqrtK * curve.sqrtK;
  return { ...curve, quoteAssetReserve: k / curve.baseAssetReserve, terminalQuoteAssetReserve: k / closed };
}

/** Reserves of a side with a signed spread, within the bounds of a prediction market. */
function sideReserves(curve: AmmState, spread: number, boundedSide: 'bid' | 'ask' | null): Reserves {
  const plain = { base: curve.baseAssetReserve, quote: curve.quoteAssetReserve };
  // A fraction below one part counts as one part.
  const whole = BigInt(Math.trunc(spread) || Math.sign(spread));
  const bounds = boundedSide && predictionBounds(curve.sqrtK, curve.pegMultiplier, boundedSide);
  return spreadReserves(plain, curve.sqrtK, whole, bounds);
}
