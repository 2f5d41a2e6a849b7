// Long and short spread of a vAMM at the oracle of this moment (reference 2.6.2, protocol 4.3): volatility, inventory,
// leverage, revenue and funding.
//
// Amounts are bigint. A spread is a share of 1e6 in a double: the published client takes halves and scales of it and rounds
// late, so that only the same operations in the same order give its levels to the atom. They are plain IEEE arithmetic,
// the same on every machine, so a replay quotes the same.

import type { AmmState, BookMarket, SpreadInputs } from '../../schemas/index.ts';

const SHARE = 1_000_000;
const SHARES = 1_000_000n;
/** Reserves (1e9) times price (1e6), as quote (1e6). */
const VALUE_TO_QUOTE = 1_000_000_000n;
const FIVE_MINUTES = 300n;
/** Prices move a TWAP as if they were no further from it than a third. */
const TWAP_BAND = 3n;
/** A confidence above 25 bps counts in full, one below it by a twentieth. */
const CONFIDENCE_IN_FULL = SHARES / 400n;
const CONFIDENCE_DISCOUNT = 20n;
/** A larger confidence of before is forgotten by one part in 21 less its age in seconds, at most by a fifth. */
const MEMORY_SECONDS = 21n;
const MEMORY_MIN = 5n;
const VOLUME_FACTOR_MIN = SHARES / 100n;
const INVENTORY_SCALE_MAX = 10n * SHARES;
const SPREAD_SCALE_MAX = 10;
/** Net revenue since the last funding (quote, 1e6) below which spreads retreat, and below which they do so fully. */
const RETREAT_REVENUE = -25_000_000n;
const RETREAT_REVENUE_FULL = RETREAT_REVENUE * 1_000n;
const RETREAT_PART = 10;
/** Daily funding rate (1e9) of a full bias: the constant part of funding (protocol 4.8). */
const FULL_BIAS_RATE = 1_000_000_000n / 5_000n;
const HOURS_PER_DAY = 24n;
/** Dates a price whose account does not say when it was published. */
const SLOT_MS = 400n;

/** The price that the vAMM goes by. Price and confidence 1e6. */
export interface QuotingOracle {
  readonly price: bigint;
  readonly confidence: bigint;
  readonly slot: bigint;
  /** Unix seconds, null when unknown. */
  readonly ts: bigint | null;
}

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
  // Drift's program has no dynamic spreads without a base spread; Velocity's has (protocol 4.3).
  const isDrift = inputs.fundingBiasSensitivity === null;
  if (curve.curveUpdateIntensity === 0 || (isDrift && curve.baseSpread === 0)) return { long: half, short: half };
  const now = oracle.ts ?? tsBySlots(curve, inputs, oracle);
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
  spreads = withFundingBias(spreads, market, curve, inputs, loaded);
  spreads = withInventoryAdjustment(spreads, curve.ammInventorySpreadAdjustment, volatility);
  return withAdjustment(capped(spreads, target), curve.ammSpreadAdjustment);
}

/** Base (1e9) that both sides of a curve can still trade. */
export function openDepth(curve: AmmState): { readonly bids: bigint; readonly asks: bigint } {
  const bids = curve.maxBaseAssetReserve - curve.baseAssetReserve;
  const asks = curve.baseAssetReserve - curve.minBaseAssetReserve;
  return { bids: greater(bids, 0n), asks: greater(asks, 0n) };
}

function tsBySlots(curve: AmmState, inputs: SpreadInputs, oracle: QuotingOracle): bigint {
  return inputs.lastOraclePriceTwapTs + (greater(oracle.slot - curve.lastUpdateSlot, 0n) * SLOT_MS) / 1_000n;
}

/** Uncertainty of the oracle as a share (1e6) of the reserve price; what it was before fades. */
function confidenceShare(inputs: SpreadInputs, oracle: QuotingOracle, reservePrice: bigint, now: bigint): bigint {
  const { lastOracleConfPct: last, lastOraclePriceTwapTs } = inputs;
  const age = now - lastOraclePriceTwapTs;
  const faded = age > 0n ? last - last / greater(MEMORY_SECONDS - age, MEMORY_MIN) : last;
  return greater((oracle.confidence * SHARES) / reservePrice, faded);
}

/** Deviation of the oracle (1e6) with its price of now. */
function liveOracleStd(market: BookMarket, inputs: SpreadInputs, price: bigint, now: bigint): bigint {
  const since = greater(now - inputs.lastOraclePriceTwapTs, 1n);
  const left = greater(inputs.fundingPeriod - since, 0n);
  const minute = liveTwap(market.lastOraclePriceTwap5Min, price, since, FIVE_MINUTES);
  const slow = inputs.fundingPeriod === FIVE_MINUTES ? market.lastOraclePriceTwap5Min : market.lastOraclePriceTwap;
  const hour = liveTwap(slow, price, since, inputs.fundingPeriod);
  return greater(magnitude(price - hour), magnitude(price - minute)) + (inputs.oracleStd * left) / (left + since);
}

/** Protocol 4.7. */
function liveTwap(twap: bigint, price: bigint, since: bigint, period: bigint): bigint {
  const left = greater(period - since, 0n);
  const band = twap / TWAP_BAND;
  const raised = greater(price, twap - band);
  const bounded = lesser(raised, twap + band);
  return (twap * left + bounded * since) / (left + since);
}

/** What volatility asks for on each side, by the share of the day's volume that it had lately. */
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

/** The side that lies beyond the oracle stays clear of it. */
function awayFromOracle(half: number, volatility: Spreads, divergence: number): Spreads {
  const long = Math.max(half, volatility.long);
  const short = Math.max(half, volatility.short);
  if (divergence > 0) return { long, short: Math.max(short, divergence + volatility.short) };
  if (divergence < 0) return { long: Math.max(long, -divergence + volatility.long), short };
  return { long, short };
}

/** The side that would add to the inventory, wider by its share of the depth. */
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

/** Wider by how far the inventory's value is beyond what the curve paid for it, beside the fees that are left. */
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

/** Wider after losses since the last funding: fully on the side of the inventory, by half on the other. */
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

/** Velocity alone: while the vAMM pays funding for its inventory, that side is wider by up to the market's percentage. */
function withFundingBias(
  spreads: Spreads,
  market: BookMarket,
  curve: AmmState,
  inputs: SpreadInputs,
  loaded: Loaded,
): Spreads {
  const { fundingBiasSensitivity: percent, lastFundingOracleTwap: twap } = inputs;
  if (!percent || twap <= 0n || loaded === null) return spreads;
  const daily = ((market.last24hAvgFundingRate * SHARES) / twap) * HOURS_PER_DAY;
  const pays = daily !== 0n && daily < 0n !== curve.baseAssetAmountWithAmm < 0n;
  if (!pays) return spreads;
  const ramp = (magnitude(daily) * SHARES) / FULL_BIAS_RATE;
  const scale = SHARE + Math.floor((percent * Number(lesser(ramp, SHARES))) / 100);
  return { ...spreads, [loaded]: Math.floor((spreads[loaded] * scale) / SHARE) };
}

/** The market's percentage on what stands above volatility. */
function withInventoryAdjustment(spreads: Spreads, percent: number, volatility: Spreads): Spreads {
  if (percent === 0) return spreads;
  const adjusted = (side: keyof Spreads) => {
    const change = (spreads[side] * Math.abs(percent)) / 100;
    const moved = percent < 0 ? spreads[side] - Math.floor(change) : spreads[side] + Math.ceil(change);
    return Math.max(volatility[side], Math.max(1, moved));
  };
  return { long: adjusted('long'), short: adjusted('short') };
}

/** Both sides together no wider than `target`, in their proportion. */
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

/** The market's percentage on the whole. */
function withAdjustment({ long, short }: Spreads, percent: number): Spreads {
  if (percent === 0) return { long, short };
  // Apart by sign as the client has them, since doubles of the two round apart.
  const adjusted = (spread: number) =>
    Math.max(percent > 0 ? spread + (spread * percent) / 100 : spread - (spread * -percent) / 100, 1);
  return { long: adjusted(long), short: adjusted(short) };
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function lesser(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
