// The vAMM's spreads and reference offset at each update (docs/internals/vamm-quotes.md, "Velocity"). Independent of the
// book's implementation, so that each checks the other. Without percentages and funding bias, which no market here has.

import { depthOf, isqrt, reservePrice } from './amm.ts';
import { abs, BASE_SCALE, ceilDiv, clamp, FUNDING_BUFFER, max, min } from './amounts.ts';
import type { Amm, PerpMarket } from './markets.ts';

const PPM = 1_000_000n;
const SCALE_MAX = 10n * PPM;
const CONFIDENCE_IN_FULL = 2_000n;
const RETREAT_REVENUE = -25_000_000n;
const RETREAT_REVENUE_FULL = 1_000n * RETREAT_REVENUE;
const OFFSET_INTENSITY_MIN = 100;
const OFFSET_INTENSITY_WIDE = 200;
const OFFSET_PER_INTENSITY = 100n;
const WIDE_OFFSET_MIN = 10_000n;
/** Inventory, as a share of the depth, at which the offset is full. */
const FULL_INVENTORY = 100_000n;
/** The constant part of funding: one part in this number of the oracle TWAP. */
export const FUNDING_OFFSET_PART = 3_333n;

interface Sides {
  long: bigint;
  short: bigint;
}

/** Spreads, offset and the resulting bid and ask reserves. Prices and confidence 1e6. */
export function updateSpreads(market: PerpMarket, oracle: bigint, confidence: bigint, slot: number): void {
  const { amm, market_stats: stats } = market;
  const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  stats.last_oracle_conf_pct = (confidence * PPM) / price;
  const offset = offsetOf(market, price);
  const sides = guard(spreadsOf(market, price, oracle), offset, price, oracle, amm.curve_update_intensity);
  amm.long_spread = Number(sides.long);
  amm.short_spread = Number(sides.short);
  amm.reference_price_offset = Number(offset);
  stats.last_reference_price_offset = Number(offset);
  amm.last_oracle_reserve_price_spread_pct = ((price - oracle) * PPM) / price;
  amm.last_spread_update_slot = BigInt(slot);
  updateSpreadReserves(amm);
}

function spreadsOf(market: PerpMarket, price: bigint, oracle: bigint): Sides {
  const { amm, market_stats: stats } = market;
  const half = BigInt(amm.base_spread) / 2n;
  if (amm.curve_update_intensity === 0) return { long: half, short: half };
  const gap = ((price - oracle) * PPM) / price;
  const divergence = clamp(gap, -PPM, PPM);
  const volatility = volatilityOf(market, price);
  const floors: Sides = { long: max(half, volatility.long), short: max(half, volatility.short) };
  const sides: Sides = { ...floors };
  if (divergence > 0n) sides.short = max(sides.short, divergence + volatility.short);
  if (divergence < 0n) sides.long = max(sides.long, volatility.long - divergence);
  const deviation = (max(stats.mark_std, stats.oracle_std) * PPM) / price;
  const uncertainty = min(PPM, max(2n * stats.last_oracle_conf_pct, deviation));
  const target = max(BigInt(amm.max_spread), max(abs(divergence), uncertainty));
  const steering = widenByInventory(market, price, target, sides);
  if (amm.total_fee_minus_distributions <= 0n) squeeze(sides, target);
  else capByLayers(sides, target, gap, floors, steering);
  return sides;
}

function volatilityOf({ market_stats: stats }: PerpMarket, price: bigint): Sides {
  const confidence = stats.last_oracle_conf_pct;
  const least = min(confidence, confidence / 20n + max(0n, confidence - CONFIDENCE_IN_FULL));
  const volatility = max(least, ((stats.mark_std + stats.oracle_std) * PPM) / price / 2n / 4n);
  const side = (volume: bigint) => {
    const factor = clamp((volume * PPM) / max(1n, stats.volume_24h), PPM / 100n, PPM);
    return max(least, (volatility * factor) / PPM);
  };
  return { long: side(stats.long_intensity_volume), short: side(stats.short_intensity_volume) };
}

/** Widens by inventory, leverage and losses. Returns the part that steers takers away from the inventory's side. */
function widenByInventory({ amm }: PerpMarket, price: bigint, target: bigint, sides: Sides): Sides {
  const inventory = amm.base_asset_amount_with_amm;
  const loaded = inventory > 0n ? 'long' : 'short';
  const before = sides[loaded];
  const fees = amm.total_fee_minus_distributions;
  if (inventory !== 0n) sides[loaded] = (sides[loaded] * inventoryScale(amm, before, target)) / PPM;
  if (fees <= 0n) {
    sides.long *= SCALE_MAX / PPM;
    sides.short *= SCALE_MAX / PPM;
  } else if (inventory !== 0n) {
    const local = (inventory * price) / BASE_SCALE;
    const paid = ((amm.quote_asset_reserve - amm.terminal_quote_asset_reserve) * amm.peg_multiplier) / BASE_SCALE;
    const leverage = (max(0n, local - paid) * PPM) / (fees + 1n) + 1n;
    sides[loaded] = (sides[loaded] * min(SCALE_MAX, PPM + leverage)) / PPM;
  }
  const steering: Sides = { long: 0n, short: 0n };
  steering[loaded] = sides[loaded] - before;
  const full = retreatOf(amm, target);
  sides.long += inventory > 0n ? full : full / 2n;
  sides.short += inventory < 0n ? full : full / 2n;
  if (inventory !== 0n) steering[loaded] += full - full / 2n;
  return steering;
}

function inventoryScale(amm: Amm, spread: bigint, target: bigint): bigint {
  const { bids, asks } = depthOf(amm);
  const depth = min(bids, asks);
  const size = abs(amm.base_asset_amount_with_amm);
  const ratio = size < depth ? (size * PPM) / depth : PPM;
  const cap = max(SCALE_MAX, (target * PPM) / max(1n, spread));
  return min(cap, PPM + (cap * ratio) / PPM);
}

/** Widens both sides after losses since the last funding. */
function retreatOf(amm: Amm, target: bigint): bigint {
  const revenue = amm.net_revenue_since_last_funding;
  if (revenue >= RETREAT_REVENUE) return 0n;
  if (revenue < RETREAT_REVENUE_FULL) return target / 10n;
  return min(target / 10n, (BigInt(amm.base_spread) * revenue) / RETREAT_REVENUE);
}

/** Scales both sides down in proportion when their sum exceeds the target. */
function squeeze(sides: Sides, target: bigint): void {
  const total = sides.long + sides.short;
  if (total <= target) return;
  const larger = sides.long > sides.short ? 'long' : 'short';
  sides[larger] = ceilDiv(sides[larger] * target, total);
  sides[larger === 'long' ? 'short' : 'long'] = target - sides[larger];
}

/** Order of priority: distance to the oracle, floors, steering, rest. */
function capByLayers(sides: Sides, target: bigint, gap: bigint, floors: Sides, steering: Sides): void {
  if (sides.long + sides.short <= target) return;
  const left: Sides = { ...sides };
  const oracle: Sides = { long: max(0n, -gap), short: max(0n, gap) };
  let room = target;
  sides.long = 0n;
  sides.short = 0n;
  for (const wanted of [oracle, floors, steering, { ...left }]) {
    const layer: Sides = { long: min(wanted.long, left.long), short: min(wanted.short, left.short) };
    left.long -= layer.long;
    left.short -= layer.short;
    squeeze(layer, room);
    room -= layer.long + layer.short;
    sides.long += layer.long;
    sides.short += layer.short;
  }
}

/** Widens a side that would cross the oracle. */
function guard(sides: Sides, offset: bigint, price: bigint, oracle: bigint, intensity: number): Sides {
  if (intensity === 0) return sides;
  const square = oracle * PPM * PPM;
  const root = isqrt(square / price);
  const rootUp = root * root * price === square ? root : root + 1n;
  const margin = (spread: bigint) => (spread > 0n ? spread + 1n : spread);
  const askAt = max(ceilDiv(oracle * PPM, price) - PPM - offset, margin(2n * (rootUp - PPM) - offset));
  const bidAt = max(PPM + offset - (oracle * PPM) / price, margin(offset + 2n * (PPM - root)));
  const short = max(sides.short, min(bidAt, PPM - sides.long));
  return { long: max(sides.long, min(askAt, PPM - short)), short };
}

function offsetOf(market: PerpMarket, price: bigint): bigint {
  const { amm, market_stats: stats } = market;
  const intensity = amm.curve_update_intensity;
  if (intensity <= OFFSET_INTENSITY_MIN || stats.last_24h_avg_funding_rate === 0n) return 0n;
  const history = stats.historical_oracle_data;
  const half = BigInt(amm.max_spread) / 2n;
  const byIntensity = OFFSET_PER_INTENSITY * BigInt(intensity - OFFSET_INTENSITY_MIN);
  const most = intensity >= OFFSET_INTENSITY_WIDE ? max(half, WIDE_OFFSET_MIN) : min(half, byIntensity);
  const bound = (most * price) / PPM;
  const daily = (stats.last_24h_avg_funding_rate / FUNDING_BUFFER) * 24n;
  const premiums = [
    stats.last_mark_price_twap_5min - history.last_oracle_price_twap_5min,
    stats.last_mark_price_twap - history.last_oracle_price_twap,
    daily - abs(history.last_oracle_price_twap) / FUNDING_OFFSET_PART,
  ];
  const sum = premiums.reduce((total, premium) => total + clamp(premium, -bound, bound), 0n);
  const premium = ((sum / 3n) * PPM) / price;
  const { bids, asks } = depthOf(amm);
  const depth = (bids + asks) / 2n;
  const size = abs(amm.base_asset_amount_with_amm);
  const ratio = size < depth ? (size * PPM) / depth : PPM;
  const beyond = max(0n, ratio - (PPM * BigInt(amm.reference_price_offset_deadband_pct)) / 100n);
  const sign = amm.base_asset_amount_with_amm > 0n ? 1n : -1n;
  if (premium * sign <= 0n) return 0n;
  return (sign * (most * min(beyond, FULL_INVENTORY))) / FULL_INVENTORY;
}

/** Stored bid and ask reserves. */
function updateSpreadReserves(amm: Amm): void {
  const ask = spreadReserves(amm, BigInt(amm.long_spread + amm.reference_price_offset));
  const bid = spreadReserves(amm, BigInt(-amm.short_spread + amm.reference_price_offset));
  const isPlain = amm.reference_price_offset === 0;
  amm.ask_base_asset_reserve = isPlain ? min(ask.base, amm.base_asset_reserve) : ask.base;
  amm.ask_quote_asset_reserve = isPlain ? max(ask.quote, amm.quote_asset_reserve) : ask.quote;
  amm.bid_base_asset_reserve = isPlain ? max(bid.base, amm.base_asset_reserve) : bid.base;
  amm.bid_quote_asset_reserve = isPlain ? min(bid.quote, amm.quote_asset_reserve) : bid.quote;
}

function spreadReserves(amm: Amm, spread: bigint): { base: bigint; quote: bigint } {
  const quote = amm.quote_asset_reserve + (amm.quote_asset_reserve * spread) / (2n * PPM);
  return { base: (amm.sqrt_k * amm.sqrt_k) / quote, quote };
}
