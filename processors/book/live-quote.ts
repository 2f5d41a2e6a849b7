// Where the vAMM quotes from at the oracle of this moment: its curve moved there, and the spreads that the program would
// make of that (reference 2.6.2, protocol 4.2 to 4.4). A book from the account as it lies would quote what was when someone
// last traded.

import type { AmmState, BookMarket, BookOracle, SpreadInputs } from '../../schemas/index.ts';
import { liveCurve } from './live-curve.ts';
import { type QuotingOracle, type Spreads, sideSpreads } from './live-spread.ts';
import { marketMakerOracle, viewOracle } from './quotes.ts';
import { referenceOffset, smoothed } from './reference-offset.ts';
import { predictionBounds, type Reserves, spreadReserves } from './vamm.ts';

/** Spreads of both sides, and how far the reference offset moves both: whole, a share of 1e6. */
export interface LiveSpreads extends Spreads {
  readonly offset: number;
}

/** The price that the vAMM goes by: the market maker's own oracle where that is in force, else the exchange's. */
export function quotingOracle(market: BookMarket, exchange: BookOracle): QuotingOracle {
  // A checkpoint of an earlier version has no time.
  const ts = exchange.publishTs ?? null;
  const { price, confidence, slot } = marketMakerOracle(market, exchange) ?? viewOracle(exchange);
  return { price, confidence, slot, ts };
}

/**
 * A market's curve at an oracle price, with the spread reserves of its live spreads. Where what these follow from is not
 * known, the spreads are those that the chain stored.
 */
export function liveQuote(market: BookMarket, amm: AmmState, oracle: QuotingOracle): AmmState {
  const moved = liveCurve(amm, oracle.price);
  const { spreadInputs } = market;
  const curve = spreadInputs && oracle.price > 0n ? settled(moved) : null;
  const spreads = spreadInputs && curve && liveSpreads(market, curve, spreadInputs, oracle);
  if (!spreads) return moved;
  const { long, short, offset } = spreads;
  const { isPrediction } = spreadInputs;
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

/** Spreads and offset of a curve that stands where it will quote; null when it has no price. */
export function liveSpreads(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  oracle: QuotingOracle,
): LiveSpreads | null {
  const reservePrice = (curve.quoteAssetReserve * curve.pegMultiplier) / curve.baseAssetReserve;
  if (reservePrice <= 0n) return null;
  const spreads = sideSpreads(market, curve, inputs, oracle, reservePrice);
  const offset = referenceOffset(market, curve, inputs, reservePrice);
  return smoothed(curve, inputs, oracle.slot, spreads, offset);
}

/** The curve with both quote reserves made of its invariant, as every update of the program leaves it; null when it has none. */
function settled(curve: AmmState): AmmState | null {
  const closed = curve.baseAssetReserve + curve.baseAssetAmountWithAmm;
  if (curve.baseAssetReserve <= 0n || closed <= 0n) return null;
  if (curve.curveUpdateIntensity === 0) return curve;
  const k = curve.sqrtK * curve.sqrtK;
  return { ...curve, quoteAssetReserve: k / curve.baseAssetReserve, terminalQuoteAssetReserve: k / closed };
}

/** Reserves of a side with a signed spread; of a prediction market within its bounds. */
function sideReserves(curve: AmmState, spread: number, boundedSide: 'bid' | 'ask' | null): Reserves {
  const plain = { base: curve.baseAssetReserve, quote: curve.quoteAssetReserve };
  // Less than one part is one part.
  const whole = BigInt(Math.trunc(spread) || Math.sign(spread));
  const bounds = boundedSide && predictionBounds(curve.sqrtK, curve.pegMultiplier, boundedSide);
  return spreadReserves(plain, curve.sqrtK, whole, bounds);
}
