// The vAMM: its curve, peg and k. spreads.ts has its spreads.

import { abs, BASE_SCALE, ceilDiv, clamp, floorTo, max, min } from './amounts.ts';
import type { Amm, PerpListing } from './markets.ts';
import type { Direction } from './model.ts';

const PPM = 1_000_000n;
/** Depth bound of the curve: reserves stay within sqrtK * 1.0207 of it. */
const CONCENTRATION = 1_020_710n;
/** The keeper moves a peg that differs from the oracle by more than this share (1e6). */
const REPEG_THRESHOLD = 250n;
/** Lowest intensity at which k decreases. */
const LOWER_K_INTENSITY = 100;

export function newAmm(listing: PerpListing, slot: number): Amm {
  const { sqrtK, price } = listing;
  return {
    fee_pool: { scaled_balance: 0n, market_index: 0 },
    base_asset_reserve: sqrtK,
    quote_asset_reserve: sqrtK,
    concentration_coef: CONCENTRATION,
    min_base_asset_reserve: (sqrtK * PPM) / CONCENTRATION,
    max_base_asset_reserve: (sqrtK * CONCENTRATION) / PPM,
    sqrt_k: sqrtK,
    peg_multiplier: price,
    terminal_quote_asset_reserve: sqrtK,
    base_asset_amount_with_amm: 0n,
    total_fee: 0n,
    total_mm_fee: 0n,
    total_fee_minus_distributions: 5_000_000_000_000n,
    total_fee_withdrawn: 0n,
    ask_base_asset_reserve: sqrtK,
    ask_quote_asset_reserve: sqrtK,
    bid_base_asset_reserve: sqrtK,
    bid_quote_asset_reserve: sqrtK,
    last_update_slot: BigInt(slot),
    net_revenue_since_last_funding: 0n,
    last_cumulative_funding_rate_long: 0n,
    last_cumulative_funding_rate_short: 0n,
    last_oracle_reserve_price_spread_pct: 0n,
    last_spread_update_slot: BigInt(slot),
    base_spread: 400,
    max_spread: 6_000,
    long_spread: 200,
    short_spread: 200,
    reference_price_offset: 0,
    max_fill_reserve_fraction: 100,
    max_slippage_ratio: 50,
    curve_update_intensity: listing.curveUpdateIntensity,
    amm_jit_intensity: 100,
    amm_spread_adjustment: 0,
    amm_inventory_spread_adjustment: 0,
    reference_price_offset_deadband_pct: 2,
    funding_bias_sensitivity: 0,
  };
}

/** Price (1e6) of a pair of reserves. */
export function reservePrice(base: bigint, quote: bigint, peg: bigint): bigint {
  return (quote * peg) / base;
}

export function bidPrice(amm: Amm): bigint {
  return reservePrice(amm.bid_base_asset_reserve, amm.bid_quote_asset_reserve, amm.peg_multiplier);
}

export function askPrice(amm: Amm): bigint {
  return reservePrice(amm.ask_base_asset_reserve, amm.ask_quote_asset_reserve, amm.peg_multiplier);
}

export interface Swap {
  readonly base: bigint;
  readonly quote: bigint;
  /** Quote amount, 1e6. */
  readonly exchanged: bigint;
}

/** Reserves after a trader buys (long) or sells (short) `amount` of base, and the quote that changes hands. */
export function swapBase(amm: Amm, base: bigint, quote: bigint, amount: bigint, direction: Direction): Swap {
  const newBase = direction === 'long' ? base - amount : base + amount;
  const newQuote = (amm.sqrt_k * amm.sqrt_k) / newBase;
  const moved = abs(newQuote - quote);
  const exchanged =
    direction === 'long'
      ? ((moved + 1n) * amm.peg_multiplier) / BASE_SCALE + 1n
      : (moved * amm.peg_multiplier) / BASE_SCALE;
  return { base: newBase, quote: newQuote, exchanged };
}

/** Base (1e9) that moves the given base reserve to `price` (1e6) for a taker of this direction; 0 when already beyond. */
export function baseToPrice(amm: Amm, base: bigint, price: bigint, direction: Direction, step: bigint): bigint {
  if (price <= 0n) return 0n;
  const target = isqrt((amm.sqrt_k * amm.sqrt_k * amm.peg_multiplier) / price);
  const bounded = clamp(target, amm.min_base_asset_reserve, amm.max_base_asset_reserve);
  const wanted = direction === 'long' ? base - bounded : bounded - base;
  return wanted <= 0n ? 0n : floorTo(wanted, step);
}

/** The largest integer whose square is not above `value`. */
export function isqrt(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = BigInt(Math.floor(Math.sqrt(Number(value))));
  // The double is close; Newton steps make it exact.
  for (;;) {
    const next = (guess + value / guess) / 2n;
    if (abs(next - guess) <= 1n) return next * next > value ? next - 1n : next;
    guess = next;
  }
}

/** Moves the real reserves for a taker's fill. Returns the surplus from the spread, quote 1e6. */
export function fillFromAmm(amm: Amm, base: bigint, direction: Direction): { quote: bigint; surplus: bigint } {
  const long = direction === 'long';
  const quoted = long
    ? swapBase(amm, amm.ask_base_asset_reserve, amm.ask_quote_asset_reserve, base, direction)
    : swapBase(amm, amm.bid_base_asset_reserve, amm.bid_quote_asset_reserve, base, direction);
  const plain = swapBase(amm, amm.base_asset_reserve, amm.quote_asset_reserve, base, direction);
  amm.base_asset_reserve = plain.base;
  amm.quote_asset_reserve = plain.quote;
  if (long) {
    amm.ask_base_asset_reserve = quoted.base;
    amm.ask_quote_asset_reserve = quoted.quote;
  } else {
    amm.bid_base_asset_reserve = quoted.base;
    amm.bid_quote_asset_reserve = quoted.quote;
  }
  amm.base_asset_amount_with_amm += long ? base : -base;
  amm.terminal_quote_asset_reserve = terminalQuote(amm);
  const surplus = long ? quoted.exchanged - plain.exchanged : plain.exchanged - quoted.exchanged;
  amm.total_mm_fee += surplus;
  amm.total_fee_minus_distributions += surplus;
  amm.net_revenue_since_last_funding += surplus;
  return { quote: quoted.exchanged, surplus };
}

/** Quote reserve after closing the users' net position against the curve. */
function terminalQuote(amm: Amm): bigint {
  return (amm.sqrt_k * amm.sqrt_k) / (amm.base_asset_reserve + amm.base_asset_amount_with_amm);
}

export function depthOf(amm: Amm): { bids: bigint; asks: bigint } {
  return {
    bids: max(0n, amm.max_base_asset_reserve - amm.base_asset_reserve),
    asks: max(0n, amm.base_asset_reserve - amm.min_base_asset_reserve),
  };
}

/**
 * Moves peg and k like the program when the keeper finds a wrong peg (docs/internals/vamm-quotes.md, "Velocity: peg and k").
 * Returns the cost in quote (1e6), null when nothing moved.
 */
export function repeg(amm: Amm, oracle: bigint, minOrderSize: bigint): bigint | null {
  const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  if (abs(price - oracle) * PPM < price * REPEG_THRESHOLD) return null;
  const peg = amm.peg_multiplier;
  let wanted = pegAt(amm, oracle);
  let budget = max(0n, amm.total_fee_minus_distributions);
  let isPaidFromFees = true;
  if (budget < costOf(amm, wanted)) {
    const beyond = abs(price - oracle) - (oracle * (BigInt(amm.max_spread) / 2n)) / PPM;
    isPaidFromFees = beyond <= 0n && budget > 0n;
    if (beyond > 0n) {
      wanted = pegAt(amm, price < oracle ? price + beyond : price - beyond);
      budget = costOf(amm, wanted);
    }
  }
  if (wanted === peg) return null;
  const moved = { ...amm };
  const rate = costPerPeg(amm);
  const isEarning = rate === 0n || rate > 0n !== wanted > peg;
  if (isEarning || abs((budget * PPM) / rate) > abs(wanted - peg)) moved.peg_multiplier = wanted;
  else {
    const freed = lowerK(moved, minOrderSize);
    const newRate = costPerPeg(moved);
    moved.peg_multiplier = newRate === 0n ? wanted : max(1n, peg + ((budget + freed) * PPM) / newRate);
  }
  const cost =
    ((moved.quote_asset_reserve - moved.terminal_quote_asset_reserve) * (moved.peg_multiplier - peg)) / BASE_SCALE;
  if (isPaidFromFees && cost > 0n && cost > amm.total_fee_minus_distributions) return null;
  moved.total_fee_minus_distributions -= cost;
  moved.net_revenue_since_last_funding -= cost;
  Object.assign(amm, moved);
  return cost;
}

function pegAt(amm: Amm, price: bigint): bigint {
  return max(1n, (price * amm.base_asset_reserve) / amm.quote_asset_reserve);
}

function costOf(amm: Amm, peg: bigint): bigint {
  return ((amm.quote_asset_reserve - amm.terminal_quote_asset_reserve) * (peg - amm.peg_multiplier)) / BASE_SCALE;
}

/** Quote (1e6) that raises the peg by one, rounded against the vAMM. */
function costPerPeg(amm: Amm): bigint {
  const reserve = amm.quote_asset_reserve - amm.terminal_quote_asset_reserve;
  if (reserve > 0n) return ceilDiv(reserve, 1_000n) + 1n;
  const cost = reserve / 1_000n;
  return cost < 0n ? cost - 1n : 0n;
}

/** Lowers sqrt k by a thousandth if the inventory allows it. Returns the quote (1e6) that this frees. */
function lowerK(amm: Amm, minOrderSize: bigint): bigint {
  const inventory = amm.base_asset_amount_with_amm;
  const { bids, asks } = depthOf(amm);
  const least = max(minOrderSize, abs(inventory));
  const isAllowed = abs(inventory) < min(bids, asks) && least < amm.sqrt_k && minOrderSize < max(bids, asks);
  if (amm.curve_update_intensity < LOWER_K_INTENSITY || !isAllowed) return 0n;
  const before = closingQuote(amm);
  const sqrtK = max(amm.sqrt_k - amm.sqrt_k / 1_000n, least);
  const ratio = (sqrtK * BASE_SCALE) / amm.sqrt_k;
  amm.base_asset_reserve = (amm.base_asset_reserve * (ratio < BASE_SCALE ? ratio + 1n : ratio)) / BASE_SCALE;
  amm.quote_asset_reserve = (sqrtK * sqrtK) / amm.base_asset_reserve;
  amm.sqrt_k = sqrtK;
  amm.terminal_quote_asset_reserve = terminalQuote(amm);
  const closed = amm.base_asset_reserve + inventory;
  amm.min_base_asset_reserve = (closed * PPM) / amm.concentration_coef;
  amm.max_base_asset_reserve = (closed * amm.concentration_coef) / PPM;
  return abs(closingQuote(amm) - before);
}

/** Quote (1e6) that closes the users' net position against the curve. */
function closingQuote(amm: Amm): bigint {
  const inventory = amm.base_asset_amount_with_amm;
  if (inventory === 0n) return 0n;
  const direction = inventory > 0n ? 'short' : 'long';
  return swapBase(amm, amm.base_asset_reserve, amm.quote_asset_reserve, abs(inventory), direction).exchanged;
}
