// The vAMM: its curve and its peg (protocol reference 4.1 and 4.4); what it quotes beside its curve is in spreads.ts.

import { abs, BASE_SCALE, clamp, floorTo, max } from './amounts.ts';
import type { Amm, PerpListing } from './markets.ts';
import type { Direction } from './model.ts';

const PPM = 1_000_000n;
/** Depth bound of the curve: reserves stay within sqrtK * 1.0207 of it. */
const CONCENTRATION = 1_020_710n;
/** A peg is moved when it is off the oracle by more than this share (1e6). */
const REPEG_THRESHOLD = 250n;

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

/** Reserves after a trader buys (long) or sells (short) `amount` of base, and the quote that changes hands (4.1). */
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

function isqrt(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = BigInt(Math.floor(Math.sqrt(Number(value))));
  // The double is close; a few Newton steps make it exact.
  for (;;) {
    const next = (guess + value / guess) / 2n;
    if (abs(next - guess) <= 1n) return next * next > value ? next - 1n : next;
    guess = next;
  }
}

/** Moves the real reserves for a fill of a taker and returns the surplus that the spread earned, quote 1e6. */
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

/** Quote reserve once the users' net position were closed against the curve. */
function terminalQuote(amm: Amm): bigint {
  return (amm.sqrt_k * amm.sqrt_k) / (amm.base_asset_reserve + amm.base_asset_amount_with_amm);
}

/** Moves the peg to the oracle when it is off; returns the cost in quote (1e6), or null when nothing moved (4.4). */
export function repeg(amm: Amm, oracle: bigint): bigint | null {
  const price = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  if (abs(price - oracle) * PPM < price * REPEG_THRESHOLD) return null;
  const wanted = (oracle * amm.base_asset_reserve + amm.quote_asset_reserve / 2n) / amm.quote_asset_reserve;
  const peg = max(1n, wanted);
  const cost = ((amm.quote_asset_reserve - amm.terminal_quote_asset_reserve) * (peg - amm.peg_multiplier)) / BASE_SCALE;
  amm.peg_multiplier = peg;
  amm.total_fee_minus_distributions -= cost;
  amm.net_revenue_since_last_funding -= cost;
  return cost;
}
