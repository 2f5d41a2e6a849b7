// Long and short spread of a Drift vAMM: docs/internals/vamm-quotes.md, "Drift: the spreads".
//
// Amounts are bigint. A spread is a share of 1e6 in a double, because the released client library scales doubles and rounds
// late. Only the same operations in the same order give its exact levels. IEEE arithmetic makes a replay quote the same.

import type { AmmState, BookMarket, SpreadInputs } from '../../../schemas/index.ts';
import { confidenceShare, liveOracleStd, openDepth, priceTs, type QuotingOracle } from '../live-inputs.ts';
import { greater, lesser, magnitude } from '../whole.ts';

const SHARE = 1_000_000;
const SHARES = 1_000_000n;
/** Reserves (1e9) times price (1e6), as quote (1e6). */
const VALUE_TO_QUOTE = 1_000_000_000n;
/** A confidence above 25 bps counts in full, a smaller one by a twentieth. */
const CONFIDENCE_IN_FULL = SHARES / 400n;
const CONFIDENCE_DISCOUNT = 20n;
const VOLUME_FACTOR_MIN = SHARES / 100n;
const INVENTORY_SCALE_MAX = 10n * SHARES;
const SPREAD_SCALE_MAX = 10;
/** Net revenue since the last funding (quote, 1e6) below which spreads begin to retreat, and below which they do fully. */
const RETREAT_REVENUE = -25_000_000n;
const RETREAT_REVENUE_FULL = RETREAT_REVENUE * 1_000n;
const RETREAT_PART = 10;

/** Shares of 1e6, not rounded. */
export interface Spreads {
  readonly long: number;
  readonly short: number;
}

type Loaded = 'long' | 'short' | null;

/** Spreads of a curve with a reserve price (1e6) above zero. */
export function sideSpreads(
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  oracle: QuotingOracle,
  reservePrice: bigint,
): Spreads {
  const half = curve.baseSpread / 2;
  if (curve.curveUpdateIntensity === 0 || curve.baseSpread === 0) return { long: half, short: half };
  const now = priceTs(curve, inputs, oracle);
  const confidence = confidenceShare(inputs, oracle, reservePrice, now);
  const oracleStd = liveOracleStd(market, inputs, oracle.price, now);
  const divergence = Number(((reservePrice - oracle.price) * SHARES) / reservePrice);
  const volatility = volatilitySpreads(inputs, confidence, oracleStd, reservePrice);
  const std = Number((greater(inputs.markStd, oracleStd) * SHARES) / reservePrice);
  const baseline = Math.min(Math.max(Math.abs(divergence), Number(2n * confidence), std), SHARE);
  const target = Math.max(curve.maxSpread, baseline);
  const loaded = curve.baseAssetAmountWithAmm > 0n ? 'long' : curve.baseAssetAmountWithAmm < 0n ? 'short' : null;

  let spreads = awayFromOracle(half, volatility, divergence);
  spreads = withInventory(spreads, curve, loaded, target);
  spreads = withLeverage(spreads, curve, loaded, reservePrice);
  spreads = withRetreat(spreads, curve, loaded, target);
  spreads = withInventoryAdjustment(spreads, curve.ammInventorySpreadAdjustment, volatility);
  return withAdjustment(capped(spreads, target), curve.ammSpreadAdjustment);
}

/** Spread from volatility on each side, by the side's share of the day's volume. */
function volatilitySpreads(inputs: SpreadInputs, confidence: bigint, oracleStd: bigint, reservePrice: bigint): Spreads {
  const deviation = ((inputs.markStd + oracleStd) * SHARES) / reservePrice / 4n;
  const volatility = greater(confidence, deviation / 2n);
  const least = confidence > CONFIDENCE_IN_FULL ? confidence : confidence / CONFIDENCE_DISCOUNT;
  const day = greater(inputs.volume24H, 1n);
  const side = (volume: bigint) => {
    const raised = greater((volume * SHARES) / day, VOLUME_FACTOR_MIN);
    return Number(greater(least, (volatility * lesser(raised, SHARES)) / SHARES));
  };
  return { long: side(inputs.longIntensityVolume), short: side(inputs.shortIntensityVolume) };
}

/** Widens the side beyond the oracle so that it stays clear of it. */
function awayFromOracle(half: number, volatility: Spreads, divergence: number): Spreads {
  const long = Math.max(half, volatility.long);
  const short = Math.max(half, volatility.short);
  if (divergence > 0) return { long, short: Math.max(short, divergence + volatility.short) };
  if (divergence < 0) return { long: Math.max(long, -divergence + volatility.long), short };
  return { long, short };
}

/** Widens the side that would add to the inventory, by the inventory's share of the depth. */
function withInventory(spreads: Spreads, curve: AmmState, loaded: Loaded, target: number): Spreads {
  if (loaded === null) return spreads;
  const { bids, asks } = openDepth(curve);
  const depth = greater(lesser(bids, asks), 1n);
  const share = (magnitude(curve.baseAssetAmountWithAmm) * SHARES) / depth;
  const whole = BigInt(Math.trunc(Math.max(spreads[loaded], 1)));
  const most = greater(INVENTORY_SCALE_MAX, (BigInt(target) * SHARES) / whole);
  const wanted = SHARES + (most * lesser(share, SHARES)) / SHARES;
  const scale = Number(lesser(wanted, most)) / SHARE;
  return { ...spreads, [loaded]: spreads[loaded] * scale };
}

/** Widens by the inventory's value above its cost to the curve, relative to the remaining fees. */
function withLeverage(spreads: Spreads, curve: AmmState, loaded: Loaded, reservePrice: bigint): Spreads {
  const fees = curve.totalFeeMinusDistributions;
  if (fees <= 0n) return { long: spreads.long * SPREAD_SCALE_MAX, short: spreads.short * SPREAD_SCALE_MAX };
  const paid = ((curve.quoteAssetReserve - curve.terminalQuoteAssetReserve) * curve.pegMultiplier) / VALUE_TO_QUOTE;
  const value = (curve.baseAssetAmountWithAmm * reservePrice) / VALUE_TO_QUOTE;
  const leverage = Math.max(0, Number(value - paid)) / (Number(fees) + 1) + 1 / SHARE;
  const scale = Math.min(SPREAD_SCALE_MAX, 1 + leverage);
  const side = loaded ?? 'short';
  return { ...spreads, [side]: Math.floor(spreads[side] * scale) };
}

/** Widens after losses since the last funding: fully on the side of the inventory, by half on the other. */
function withRetreat(spreads: Spreads, curve: AmmState, loaded: Loaded, target: number): Spreads {
  const revenue = curve.netRevenueSinceLastFunding;
  if (revenue >= RETREAT_REVENUE) return spreads;
  const most = target / RETREAT_PART;
  const byLoss = Math.floor((curve.baseSpread * Number(-revenue)) / Number(-RETREAT_REVENUE));
  const full = revenue < RETREAT_REVENUE_FULL ? most : Math.min(most, byLoss);
  const half = Math.floor(full / 2);
  return {
    long: spreads.long + (loaded === 'long' ? full : half),
    short: spreads.short + (loaded === 'short' ? full : half),
  };
}

/** Applies the market's percentage to the part above volatility. */
function withInventoryAdjustment(spreads: Spreads, percent: number, volatility: Spreads): Spreads {
  if (percent === 0) return spreads;
  const adjusted = (side: keyof Spreads) => {
    const change = (spreads[side] * Math.abs(percent)) / 100;
    const moved = percent < 0 ? spreads[side] - Math.floor(change) : spreads[side] + Math.ceil(change);
    return Math.max(volatility[side], Math.max(1, moved));
  };
  return { long: adjusted('long'), short: adjusted('short') };
}

/** Limits the sum of both sides to `target`, in their proportion. */
function capped({ long, short }: Spreads, target: number): Spreads {
  const total = long + short;
  if (total <= target) return { long, short };
  if (long > short) {
    const larger = Math.ceil((long * target) / total);
    return { long: larger, short: target - larger };
  }
  const larger = Math.ceil((short * target) / total);
  return { long: target - larger, short: larger };
}

/** Applies the market's percentage to both sides. */
function withAdjustment({ long, short }: Spreads, percent: number): Spreads {
  if (percent === 0) return { long, short };
  // Two branches by sign like the client's, since doubles round differently in them.
  const adjusted = (spread: number) =>
    Math.max(percent > 0 ? spread + (spread * percent) / 100 : spread - (spread * -percent) / 100, 1);
  return { long: adjusted(long), short: adjusted(short) };
}
