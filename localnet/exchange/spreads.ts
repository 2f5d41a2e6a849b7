// The vAMM's spreads and reference offset as the program makes them at every update (protocol reference 4.2 and 4.3), in
// its whole numbers. Shares are parts per million.

import { reservePrice } from './amm.ts';
import { abs, BASE_SCALE, ceilDiv, clamp, FUNDING_BUFFER, max, min } from './amounts.ts';
import type { Amm, PerpMarket } from './markets.ts';

const PPM = 1_000_000n;
const SCALE_MAX = 10n * PPM;
const CONFIDENCE_IN_FULL = 2_500n;
const RETREAT_REVENUE = -25_000_000n;
const RETREAT_REVENUE_FULL = 1_000n * RETREAT_REVENUE;
const OFFSET_INTENSITY_MIN = 100;
const OFFSET_PER_INTENSITY = 100n;
const OFFSET_STEP_MIN = 10n;
const OFFSET_PER_SLOT = 1_000n;

interface Sides {
  long: bigint;
  short: bigint;
}

/** Spreads, offset and the bid and ask reserves that follow from them. Prices and confidence 1e6. */
export function updateSpreads(market: PerpMarket, oracle: bigint, confidence: bigint, slot: number): void {
  const { amm, market_stats: stats } = market;
  const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  const divergence = ((price - oracle) * PPM) / price;
  stats.last_oracle_conf_pct = (confidence * PPM) / price;
  const sides = spreadsOf(market, price, divergence);
  smoothOffset(market, price, BigInt(slot), sides);
  amm.long_spread = Number(sides.long);
  amm.short_spread = Number(sides.short);
  amm.last_oracle_reserve_price_spread_pct = divergence;
  amm.last_spread_update_slot = BigInt(slot);
  updateSpreadReserves(amm);
}

function spreadsOf(market: PerpMarket, price: bigint, divergence: bigint): Sides {
  const { amm, market_stats: stats } = market;
  const volatility = volatilityOf(market, price);
  const half = BigInt(amm.base_spread) / 2n;
  const sides: Sides = { long: max(half, volatility.long), short: max(half, volatility.short) };
  if (divergence > 0n) sides.short = max(sides.short, divergence + volatility.short);
  if (divergence < 0n) sides.long = max(sides.long, volatility.long - divergence);
  const deviation = (max(stats.mark_std, stats.oracle_std) * PPM) / price;
  const baseline = max(abs(divergence), max(2n * stats.last_oracle_conf_pct, deviation));
  const target = max(BigInt(amm.max_spread), min(PPM, baseline));
  const loaded = amm.base_asset_amount_with_amm > 0n ? 'long' : 'short';
  sides[loaded] = (sides[loaded] * inventoryScale(amm, sides[loaded], target)) / PPM;
  widenByLeverage(amm, price, loaded, sides);
  retreat(amm, target, sides);
  capTotal(target, sides);
  return { long: max(1n, sides.long), short: max(1n, sides.short) };
}

function volatilityOf({ market_stats: stats }: PerpMarket, price: bigint): Sides {
  const confidence = stats.last_oracle_conf_pct;
  const deviation = ((stats.mark_std + stats.oracle_std) * PPM) / price / 4n;
  const volatility = max(confidence, deviation / 2n);
  const least = confidence > CONFIDENCE_IN_FULL ? confidence : confidence / 20n;
  const side = (volume: bigint) => {
    const factor = clamp((volume * PPM) / max(1n, stats.volume_24h), PPM / 100n, PPM);
    return max(least, (volatility * factor) / PPM);
  };
  return { long: side(stats.long_intensity_volume), short: side(stats.short_intensity_volume) };
}

function depthOf(amm: Amm): { bids: bigint; asks: bigint } {
  return {
    bids: max(0n, amm.max_base_asset_reserve - amm.base_asset_reserve),
    asks: max(0n, amm.base_asset_reserve - amm.min_base_asset_reserve),
  };
}

function inventoryScale(amm: Amm, spread: bigint, target: bigint): bigint {
  const { bids, asks } = depthOf(amm);
  const ratio = min(PPM, (abs(amm.base_asset_amount_with_amm) * PPM) / max(1n, min(bids, asks)));
  const cap = max(SCALE_MAX, (target * PPM) / max(1n, spread));
  return min(cap, PPM + (cap * ratio) / PPM);
}

function widenByLeverage(amm: Amm, price: bigint, loaded: keyof Sides, sides: Sides): void {
  const fees = amm.total_fee_minus_distributions;
  if (fees <= 0n) {
    sides.long *= SCALE_MAX / PPM;
    sides.short *= SCALE_MAX / PPM;
    return;
  }
  const local = (amm.base_asset_amount_with_amm * price) / BASE_SCALE;
  const paid = ((amm.quote_asset_reserve - amm.terminal_quote_asset_reserve) * amm.peg_multiplier) / BASE_SCALE;
  const leverage = (max(0n, local - paid) * PPM) / (fees + 1n) + 1n;
  sides[loaded] = (sides[loaded] * min(SCALE_MAX, PPM + leverage)) / PPM;
}

/** After losses since the last funding both sides step back, the side of the inventory fully. */
function retreat(amm: Amm, target: bigint, sides: Sides): void {
  const revenue = amm.net_revenue_since_last_funding;
  if (revenue >= RETREAT_REVENUE) return;
  const byLoss = (BigInt(amm.base_spread) * revenue) / RETREAT_REVENUE;
  const full = revenue < RETREAT_REVENUE_FULL ? target / 10n : min(target / 10n, byLoss);
  const inventory = amm.base_asset_amount_with_amm;
  sides.long += inventory > 0n ? full : full / 2n;
  sides.short += inventory < 0n ? full : full / 2n;
}

function capTotal(target: bigint, sides: Sides): void {
  const total = sides.long + sides.short;
  if (total <= target) return;
  const larger = sides.long > sides.short ? 'long' : 'short';
  sides[larger] = ceilDiv(sides[larger] * target, total);
  sides[larger === 'long' ? 'short' : 'long'] = target - sides[larger];
}

/** Nears the offset that premiums ask for; where its sign changes by steps, with wider spreads on the way. */
function smoothOffset(market: PerpMarket, price: bigint, slot: bigint, sides: Sides): void {
  const { amm, market_stats: stats } = market;
  if (amm.curve_update_intensity <= OFFSET_INTENSITY_MIN) return;
  const last = BigInt(stats.last_reference_price_offset);
  let offset = wantedOffset(market, price);
  if (signOf(offset) !== signOf(last)) {
    const gap = offset - last;
    const part = min(abs(gap), max(0n, slot - amm.last_update_slot) * OFFSET_PER_SLOT) / 10n;
    const step = min(max(part, OFFSET_STEP_MIN), last === 0n ? abs(offset) : abs(last));
    offset = last + (gap < 0n ? -step : step);
    sides.long += gap < 0n ? step : abs(offset);
    sides.short += gap < 0n ? abs(offset) : step;
  }
  amm.reference_price_offset = Number(offset);
  stats.last_reference_price_offset = Number(offset);
}

function wantedOffset(market: PerpMarket, price: bigint): bigint {
  const { amm, market_stats: stats } = market;
  const history = stats.historical_oracle_data;
  const byIntensity = OFFSET_PER_INTENSITY * BigInt(amm.curve_update_intensity - OFFSET_INTENSITY_MIN);
  const most = min(BigInt(amm.max_spread) / 2n, byIntensity);
  const within = (premium: bigint) => clamp(premium, -(most * price) / PPM, (most * price) / PPM);
  const daily = (stats.last_24h_avg_funding_rate / FUNDING_BUFFER) * 24n;
  const minute = stats.last_mark_price_twap_5min - history.last_oracle_price_twap_5min;
  const hour = stats.last_mark_price_twap - history.last_oracle_price_twap;
  const premium = (((within(minute) + within(hour) + within(daily)) / 3n) * PPM) / price;
  const { bids, asks } = depthOf(amm);
  const inventory = amm.base_asset_amount_with_amm;
  const ratio = min(PPM, (abs(inventory) * PPM) / max(1n, (bids + asks) / 2n));
  const beyond = max(0n, ratio - (PPM * BigInt(amm.reference_price_offset_deadband_pct)) / 100n);
  if (stats.last_24h_avg_funding_rate === 0n || inventory > 0n !== premium > 0n) return 0n;
  return clamp((premium * beyond) / 2n, -most, most);
}

/** Stored bid and ask reserves from the two spreads (4.2). */
function updateSpreadReserves(amm: Amm): void {
  const ask = spreadReserves(amm, BigInt(amm.long_spread + amm.reference_price_offset));
  const bid = spreadReserves(amm, BigInt(-amm.short_spread + amm.reference_price_offset));
  amm.ask_base_asset_reserve = ask.base;
  amm.ask_quote_asset_reserve = ask.quote;
  amm.bid_base_asset_reserve = bid.base;
  amm.bid_quote_asset_reserve = bid.quote;
}

function spreadReserves(amm: Amm, spread: bigint): { base: bigint; quote: bigint } {
  if (spread === 0n) return { base: amm.base_asset_reserve, quote: amm.quote_asset_reserve };
  const half = spread / 2n === 0n ? (spread > 0n ? 1n : -1n) : spread / 2n;
  const quote = amm.quote_asset_reserve + amm.quote_asset_reserve / (PPM / half);
  return { base: (amm.sqrt_k * amm.sqrt_k) / quote, quote };
}

function signOf(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}
