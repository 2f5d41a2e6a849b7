// The vAMM: its curve, spreads, spread reserves and peg (protocol reference 4.1 to 4.4, the dynamic terms simplified).

import { abs, BASE_SCALE, ceilDiv, clamp, floorTo, max, min } from './amounts.ts';
import type { Amm, PerpListing, PerpMarket } from './markets.ts';
import type { Direction } from './model.ts';

const PPM = 1_000_000n;
/** Depth bound of the curve: reserves stay within sqrtK * 1.0207 of it. */
const CONCENTRATION = 1_020_710n;
const LEVERAGE_SCALE_MAX = 10n;
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
    max_spread: 20_000,
    long_spread: 200,
    short_spread: 200,
    reference_price_offset: 0,
    max_fill_reserve_fraction: 100,
    max_slippage_ratio: 50,
    curve_update_intensity: 100,
    amm_jit_intensity: 100,
    amm_spread_adjustment: 0,
    amm_inventory_spread_adjustment: 0,
    reference_price_offset_deadband_pct: 10,
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

/** Long and short spread by inventory, divergence, confidence and leverage (4.3, steps 2, 4, 6, 7 and 10). */
export function updateSpreads(market: PerpMarket, oracle: bigint, confidence: bigint, slot: number): void {
  const { amm, market_stats: stats } = market;
  const reserve = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  const divergence = ((reserve - oracle) * PPM) / reserve;
  const confidencePct = (confidence * PPM) / reserve;
  const volatility = confidencePct > 2_500n ? confidencePct : confidencePct / 20n;
  let long = max(BigInt(amm.base_spread) / 2n, volatility);
  let short = long;
  if (divergence > 0n) short = max(short, divergence + volatility);
  if (divergence < 0n) long = max(long, -divergence + volatility);
  const inventory = amm.base_asset_amount_with_amm;
  const scale = inventoryScale(amm, reserve);
  if (inventory > 0n) long = (long * scale) / PPM;
  if (inventory < 0n) short = (short * scale) / PPM;
  const target = max(BigInt(amm.max_spread), max(abs(divergence), 2n * confidencePct));
  if (long + short > target) {
    if (long > short) {
      long = ceilDiv(long * target, long + short);
      short = target - long;
    } else {
      short = ceilDiv(short * target, long + short);
      long = target - short;
    }
  }
  amm.long_spread = Number(max(1n, long));
  amm.short_spread = Number(max(1n, short));
  amm.last_oracle_reserve_price_spread_pct = divergence;
  amm.last_spread_update_slot = BigInt(slot);
  stats.last_oracle_conf_pct = confidencePct;
  updateSpreadReserves(amm);
}

function inventoryScale(amm: Amm, reserve: bigint): bigint {
  const depth = min(
    max(0n, amm.max_base_asset_reserve - amm.base_asset_reserve),
    max(0n, amm.base_asset_reserve - amm.min_base_asset_reserve),
  );
  const ratio = min(PPM, (abs(amm.base_asset_amount_with_amm) * PPM) / max(1n, depth));
  const inventoryPart = PPM + 10n * ratio;
  const local = (amm.base_asset_amount_with_amm * reserve) / BASE_SCALE;
  const curve = ((amm.quote_asset_reserve - amm.terminal_quote_asset_reserve) * amm.peg_multiplier) / BASE_SCALE;
  const budget = amm.total_fee_minus_distributions;
  const leverage = budget <= 0n ? LEVERAGE_SCALE_MAX * PPM : PPM + (max(0n, local - curve) * PPM) / (budget + 1n);
  return min(LEVERAGE_SCALE_MAX * PPM, (inventoryPart * leverage) / PPM);
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
