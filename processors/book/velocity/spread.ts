// Long and short spread of a Velocity vAMM, one function for each step: docs/internals/vamm-quotes.md, "Velocity: the
// spreads". Whole numbers; a spread is a share of 1e6, a price and a deviation 1e6.

import type { AmmState, SpreadInputs } from '../../../schemas/index.ts';
import { openDepth } from '../live-inputs.ts';
import { greater, lesser, magnitude, within } from '../whole.ts';
import { layeredCap, proportionalCap } from './cap.ts';
import { byPercent, eachSide, inventorySide, NO_SPREADS, ONE, type Sides, type SpreadSide, withSide } from './sides.ts';

/** Reserves (1e9) times price (1e6), as quote (1e6). */
const VALUE_TO_QUOTE = 1_000_000_000n;
/** A confidence counts by a twentieth, and in full beyond 20 bps. */
const CONFIDENCE_DISCOUNT = 20n;
const CONFIDENCE_IN_FULL = 2_000n;
const DEVIATION_DISCOUNT = 4n;
const VOLUME_FACTOR_MIN = ONE / 100n;
const SCALE_MAX = 10n * ONE;
/** Factor on both spreads of a vAMM without fees left. */
const NO_FEES_FACTOR = 10n;
/** Net revenue since the last funding (quote, 1e6) below which spreads begin to retreat, and below which they do fully. */
const RETREAT_REVENUE = -25_000_000n;
const RETREAT_REVENUE_FULL = 1_000n * RETREAT_REVENUE;
const RETREAT_PART = 10n;
const HOURS_PER_DAY = 24n;
/** Daily funding rate (1e9) of a full bias: the constant part of funding, one part in 3333. */
const FULL_BIAS_RATE = 1_000_000_000n / 3_333n;
const PERCENT = 100n;

export interface SpreadTerms {
  /** The updated curve. */
  readonly curve: AmmState;
  readonly inputs: SpreadInputs;
  /** Quote per base unit and hour, 1e9. */
  readonly last24hAvgFundingRate: bigint;
  /** Above zero. */
  readonly reservePrice: bigint;
  readonly oraclePrice: bigint;
  /** Confidence of the oracle, a share (1e6) of the reserve price. */
  readonly confidence: bigint;
  readonly oracleStd: bigint;
}

/** Spreads before the oracle guard. */
export function sideSpreads(terms: SpreadTerms): Sides {
  const { curve } = terms;
  const half = BigInt(curve.baseSpread) / 2n;
  const spreads = curve.curveUpdateIntensity === 0 ? { long: half, short: half } : dynamicSpreads(terms, half);
  return byPercent(spreads, curve.ammSpreadAdjustment, NO_SPREADS);
}

/** Spreads under construction, and the part of the inventory's side that steers takers away from it. */
interface Widening {
  readonly spreads: Sides;
  readonly steering: bigint;
}

function dynamicSpreads(terms: SpreadTerms, half: bigint): Sides {
  const { curve, reservePrice, oraclePrice } = terms;
  const gap = ((reservePrice - oraclePrice) * ONE) / reservePrice;
  const divergence = within(gap, ONE);
  const volatility = volatilitySpreads(terms);
  const floors = eachSide((side) => greater(half, volatility[side]));
  const target = targetSpread(terms, magnitude(divergence));
  const side = inventorySide(curve);

  let widening: Widening = { spreads: awayFromOracle(floors, volatility, divergence), steering: 0n };
  widening = byInventory(widening, curve, side, target);
  widening = byLeverage(widening, curve, side, reservePrice);
  widening = byLosses(widening, curve, side, target);
  widening = byFunding(widening, terms, side);
  const { spreads, steering } = widening;
  const adjusted = byPercent(spreads, curve.ammInventorySpreadAdjustment, floors);
  if (curve.totalFeeMinusDistributions <= 0n) return proportionalCap(adjusted, target);
  const beyondOracle = withSide(NO_SPREADS, gap < 0n ? 'long' : 'short', magnitude(gap));
  const steered = side === null ? NO_SPREADS : withSide(NO_SPREADS, side, steering);
  return layeredCap(adjusted, [beyondOracle, floors, steered], target);
}

/** The spread from confidence and deviation, by each side's share of the day's volume. */
function volatilitySpreads({ inputs, confidence, oracleStd, reservePrice }: SpreadTerms): Sides {
  const discounted = confidence / CONFIDENCE_DISCOUNT + greater(confidence - CONFIDENCE_IN_FULL, 0n);
  const least = lesser(confidence, discounted);
  const deviation = ((oracleStd + inputs.markStd) * ONE) / reservePrice / 2n;
  const volatility = greater(least, deviation / DEVIATION_DISCOUNT);
  const day = greater(inputs.volume24H, 1n);
  const byVolume = (volume: bigint) => {
    const factor = lesser(greater((volume * ONE) / day, VOLUME_FACTOR_MIN), ONE);
    return greater(least, (volatility * factor) / ONE);
  };
  return { long: byVolume(inputs.longIntensityVolume), short: byVolume(inputs.shortIntensityVolume) };
}

/** Limit of the sum of both spreads. */
function targetSpread({ curve, inputs, confidence, oracleStd, reservePrice }: SpreadTerms, divergence: bigint): bigint {
  const deviation = (greater(inputs.markStd, oracleStd) * ONE) / reservePrice;
  const uncertainty = lesser(ONE, greater(2n * confidence, deviation));
  return greater(BigInt(curve.maxSpread), greater(divergence, uncertainty));
}

/** Widens the side with the oracle beyond it to the distance there plus its volatility. */
function awayFromOracle(floors: Sides, volatility: Sides, divergence: bigint): Sides {
  if (divergence === 0n) return floors;
  const side = divergence < 0n ? 'long' : 'short';
  return withSide(floors, side, greater(floors[side], magnitude(divergence) + volatility[side]));
}

/** Widens the inventory's side by the inventory's share of the thinner side's depth. */
function byInventory(widening: Widening, curve: AmmState, side: SpreadSide | null, target: bigint): Widening {
  if (side === null) return widening;
  const { bids, asks } = openDepth(curve);
  const depth = lesser(bids, asks);
  const size = magnitude(curve.baseAssetAmountWithAmm);
  const share = size < depth ? (size * ONE) / depth : ONE;
  const most = greater(SCALE_MAX, (target * ONE) / greater(widening.spreads[side], 1n));
  return scaled(widening, side, lesser(most, ONE + (most * share) / ONE));
}

/** Widens the inventory's side by the inventory's unpaid value relative to the fees left; both sides without fees. */
function byLeverage(widening: Widening, curve: AmmState, side: SpreadSide | null, reservePrice: bigint): Widening {
  const fees = curve.totalFeeMinusDistributions;
  const { spreads, steering } = widening;
  if (fees <= 0n) return { spreads: eachSide((each) => spreads[each] * NO_FEES_FACTOR), steering };
  if (side === null) return widening;
  const value = (curve.baseAssetAmountWithAmm * reservePrice) / VALUE_TO_QUOTE;
  const paid = ((curve.quoteAssetReserve - curve.terminalQuoteAssetReserve) * curve.pegMultiplier) / VALUE_TO_QUOTE;
  const leverage = (greater(value - paid, 0n) * ONE) / (fees + 1n) + 1n;
  return scaled(widening, side, lesser(SCALE_MAX, ONE + leverage));
}

/** Widens after losses since the last funding: fully on the inventory's side, by half on the other. */
function byLosses(widening: Widening, curve: AmmState, side: SpreadSide | null, target: bigint): Widening {
  const revenue = curve.netRevenueSinceLastFunding;
  if (revenue >= RETREAT_REVENUE) return widening;
  const most = target / RETREAT_PART;
  const byLoss = (BigInt(curve.baseSpread) * revenue) / RETREAT_REVENUE;
  const full = revenue < RETREAT_REVENUE_FULL ? most : lesser(most, byLoss);
  const half = full / 2n;
  const { spreads, steering } = widening;
  return {
    spreads: eachSide((each) => spreads[each] + (each === side ? full : half)),
    steering: steering + full - half,
  };
}

/** Widens the inventory's side by up to the market's percentage while the vAMM pays funding for its inventory. */
function byFunding(widening: Widening, terms: SpreadTerms, side: SpreadSide | null): Widening {
  const { fundingBiasSensitivity: percent, lastFundingOracleTwap: twap } = terms.inputs;
  if (!percent || twap <= 0n || side === null) return widening;
  const daily = ((terms.last24hAvgFundingRate * ONE) / twap) * HOURS_PER_DAY;
  const pays = side === 'long' ? daily < 0n : daily > 0n;
  if (!pays) return widening;
  const ramp = lesser(ONE, (magnitude(daily) * ONE) / FULL_BIAS_RATE);
  return scaled(widening, side, ONE + (BigInt(percent) * ramp) / PERCENT);
}

/** One side times a factor (1e6) of at least one; the growth steers. */
function scaled({ spreads, steering }: Widening, side: SpreadSide, factor: bigint): Widening {
  const spread = (spreads[side] * factor) / ONE;
  return { spreads: withSide(spreads, side, spread), steering: steering + spread - spreads[side] };
}
