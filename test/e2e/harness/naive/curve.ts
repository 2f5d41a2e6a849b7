// The vAMM part of the expected book of book.ts: reserves that a Velocity vAMM quotes from, by the formulas of
// docs/internals/vamm-quotes.md. Shares no code with the product or with the simulated exchange.

export type Fields = Record<string, unknown>;

export interface NaiveReserves {
  readonly base: bigint;
  readonly quote: bigint;
}

export interface NaiveCurve {
  readonly base: bigint;
  readonly k: bigint;
  readonly peg: bigint;
  readonly min: bigint;
  readonly max: bigint;
  readonly bids: NaiveReserves;
  readonly asks: NaiveReserves;
}

/** Price and confidence 1e6, the slot of the price, and its time in Unix seconds. */
export interface NaiveOracle {
  readonly price: bigint;
  readonly confidence: bigint;
  readonly slot: bigint;
  readonly ts: bigint;
}

const ONE = 1_000_000n;
const big = (value: unknown): bigint => BigInt(String(value));
const abs = (value: bigint) => (value < 0n ? -value : value);
const sign = (value: bigint) => (value > 0n ? 1n : value < 0n ? -1n : 0n);
const sorted = (values: readonly bigint[]) => [...values].sort((a, b) => Number(sign(a - b)));
const min = (...values: bigint[]) => sorted(values)[0] as bigint;
const max = (...values: bigint[]) => sorted(values).at(-1) as bigint;
const clamp = (value: bigint, low: bigint, high: bigint) => max(low, min(high, value));
const ceil = (value: bigint, by: bigint) => value / by + (value % by === 0n ? 0n : 1n);

type Pair = [long: bigint, short: bigint];

/** `market` as Anchor decodes a PerpMarket. Throws an Error where fees do not pay for the peg: no market of the cluster is there. */
export function naiveCurve(market: Fields, oracle: NaiveOracle): NaiveCurve {
  const amm = market.amm as Fields;
  const of = (name: string) => big(amm[name]);
  const intensity = Number(amm.curve_update_intensity);
  const [base, quote, sqrtK] = [of('base_asset_reserve'), of('quote_asset_reserve'), of('sqrt_k')];
  const peg = intensity === 0 ? of('peg_multiplier') : max(1n, (oracle.price * base) / quote);
  const cost = ((quote - of('terminal_quote_asset_reserve')) * (peg - of('peg_multiplier'))) / 1_000_000_000n;
  if (cost > of('total_fee_minus_distributions') / 2n) throw new Error('a vAMM of the cluster has spent its fees');
  const fees = of('total_fee_minus_distributions') - cost;
  const revenue = of('net_revenue_since_last_funding') - cost;
  const price = (quote * peg) / base;
  const offset = offsetOf(market, price);
  const pair = spreadsOf(market, oracle, { peg, price, fees, revenue });
  const [long, short] = intensity === 0 ? pair : guarded(pair, offset, price, oracle.price);
  const moved = (spread: bigint): NaiveReserves => {
    const at = quote + (quote * spread) / (2n * ONE);
    return { base: (sqrtK * sqrtK) / at, quote: at };
  };
  const [ask, bid] = [moved(offset + long), moved(offset - short)];
  const isPlain = offset === 0n;
  return {
    base,
    k: sqrtK * sqrtK,
    peg,
    min: of('min_base_asset_reserve'),
    max: of('max_base_asset_reserve'),
    asks: isPlain ? { base: min(ask.base, base), quote: max(ask.quote, quote) } : ask,
    bids: isPlain ? { base: max(bid.base, base), quote: min(bid.quote, quote) } : bid,
  };
}

interface Moved {
  readonly peg: bigint;
  readonly price: bigint;
  readonly fees: bigint;
  readonly revenue: bigint;
}

function depthsOf(amm: Fields): readonly [bids: bigint, asks: bigint] {
  const base = big(amm.base_asset_reserve);
  return [max(0n, big(amm.max_base_asset_reserve) - base), max(0n, base - big(amm.min_base_asset_reserve))];
}

/** Confidence as a share of the price, and deviation of the oracle, at the time of its price. */
function uncertaintyOf(market: Fields, oracle: NaiveOracle, price: bigint): readonly [bigint, bigint] {
  const stats = market.market_stats as Fields;
  const history = stats.historical_oracle_data as Fields;
  const age = oracle.ts - big(history.last_oracle_price_twap_ts);
  const last = big(stats.last_oracle_conf_pct);
  const faded = age > 0n ? last - last / max(21n - age, 5n) : last;
  const since = max(age, 1n);
  const period = big(stats.funding_period);
  const twapAt = (twap: bigint, seconds: bigint) => {
    const left = max(0n, seconds - since);
    return (twap * left + clamp(oracle.price, twap - twap / 3n, twap + twap / 3n) * since) / (left + since);
  };
  const fast = twapAt(big(history.last_oracle_price_twap_5min), 300n);
  const slow = twapAt(big(history.last_oracle_price_twap), period);
  const left = max(0n, period - since);
  const deviation = max(abs(oracle.price - fast), abs(oracle.price - slow));
  return [max((oracle.confidence * ONE) / price, faded), deviation + (big(stats.oracle_std) * left) / (left + since)];
}

function spreadsOf(market: Fields, oracle: NaiveOracle, { peg, price, fees, revenue }: Moved): Pair {
  const amm = market.amm as Fields;
  const stats = market.market_stats as Fields;
  const w0 = big(amm.base_spread);
  const last = (pair: Pair) => byPercent(pair, Number(amm.amm_spread_adjustment), [0n, 0n]);
  if (Number(amm.curve_update_intensity) === 0) return last([w0 / 2n, w0 / 2n]);
  const [confidence, oracleStd] = uncertaintyOf(market, oracle, price);
  const markStd = big(stats.mark_std);
  const gap = ((price - oracle.price) * ONE) / price;
  const d = clamp(gap, -ONE, ONE);
  const c = min(confidence, confidence / 20n + max(0n, confidence - 2_000n));
  const b = max(c, ((oracleStd + markStd) * ONE) / price / 2n / 4n);
  const v = [stats.long_intensity_volume, stats.short_intensity_volume].map((volume) => {
    const g = clamp((big(volume) * ONE) / max(1n, big(stats.volume_24h)), ONE / 100n, ONE);
    return max(c, (b * g) / ONE);
  }) as Pair;
  const floor = v.map((one) => max(w0 / 2n, one)) as Pair;
  const spreads: Pair = [...floor];
  if (d < 0n) spreads[0] = max(spreads[0], -d + v[0]);
  if (d > 0n) spreads[1] = max(spreads[1], d + v[1]);
  const std = (max(markStd, oracleStd) * ONE) / price;
  const target = max(big(amm.max_spread), abs(d), min(ONE, max(2n * confidence, std)));

  const q = big(amm.base_asset_amount_with_amm);
  const side = q > 0n ? 0 : 1;
  let steering = 0n;
  const multiply = (factor: bigint) => {
    if (q === 0n) return;
    const wider = (spreads[side] * factor) / ONE;
    steering += wider - spreads[side];
    spreads[side] = wider;
  };
  const depth = min(...depthsOf(amm));
  const x = abs(q) < depth ? (abs(q) * ONE) / depth : ONE;
  const most = max(10n * ONE, (target * ONE) / max(1n, spreads[side]));
  multiply(min(most, ONE + (most * x) / ONE));
  if (fees <= 0n) for (const each of [0, 1] as const) spreads[each] *= 10n;
  else {
    const paid = ((big(amm.quote_asset_reserve) - big(amm.terminal_quote_asset_reserve)) * peg) / 1_000_000_000n;
    const unpaid = max(0n, (q * price) / 1_000_000_000n - paid);
    multiply(min(10n * ONE, ONE + (unpaid * ONE) / (fees + 1n) + 1n));
  }
  let r = 0n;
  if (revenue < -25_000_000n) r = min(target / 10n, (w0 * -revenue) / 25_000_000n);
  if (revenue < -25_000_000_000n) r = target / 10n;
  for (const each of [0, 1] as const) spreads[each] += q !== 0n && each === side ? r : r / 2n;
  if (q !== 0n) steering += r - r / 2n;
  const twap = big(stats.last_funding_oracle_twap);
  if (twap > 0n) {
    const f = ((big(stats.last_24h_avg_funding_rate) * ONE) / twap) * 24n;
    const ramp = min(ONE, (abs(f) * ONE) / 300_030n);
    if (sign(f) * sign(q) < 0n) multiply(ONE + (big(amm.funding_bias_sensitivity) * ramp) / 100n);
  }
  const wanted = byPercent(spreads, Number(amm.amm_inventory_spread_adjustment), floor);
  if (fees <= 0n) return last(squeezed(wanted, target));
  if (wanted[0] + wanted[1] <= target) return last(wanted);
  const layers: Pair[] = [[max(0n, -gap), max(0n, gap)], floor, side === 0 ? [steering, 0n] : [0n, steering], wanted];
  const used: Pair = [0n, 0n];
  const result: Pair = [0n, 0n];
  for (const layer of layers) {
    const own: Pair = [min(layer[0], wanted[0] - used[0]), min(layer[1], wanted[1] - used[1])];
    const granted = squeezed(own, target - result[0] - result[1]);
    for (const each of [0, 1] as const) {
      used[each] += own[each];
      result[each] += granted[each];
    }
  }
  return last(result);
}

function byPercent(pair: Pair, percent: number, floor: Pair): Pair {
  if (percent === 0) return pair;
  const part = BigInt(Math.abs(percent));
  return pair.map((one, each) => {
    const changed = percent < 0 ? one - (one * part) / 100n : one + ceil(one * part, 100n);
    return max(changed, 1n, floor[each] as bigint);
  }) as Pair;
}

function squeezed([long, short]: Pair, room: bigint): Pair {
  const total = long + short;
  if (total <= room) return [long, short];
  if (long > short) return [ceil(long * room, total), room - ceil(long * room, total)];
  return [room - ceil(short * room, total), ceil(short * room, total)];
}

function offsetOf(market: Fields, price: bigint): bigint {
  const amm = market.amm as Fields;
  const stats = market.market_stats as Fields;
  const history = stats.historical_oracle_data as Fields;
  const intensity = BigInt(Number(amm.curve_update_intensity));
  if (intensity <= 100n) return 0n;
  const half = big(amm.max_spread) / 2n;
  const most = intensity >= 200n ? max(half, 10_000n) : min(half, 100n * (intensity - 100n));
  const [bids, asks] = depthsOf(amm);
  const depth = (bids + asks) / 2n;
  const q = big(amm.base_asset_amount_with_amm);
  const x = abs(q) < depth ? (abs(q) * ONE) / depth : ONE;
  const u = max(0n, x - (ONE * big(amm.reference_price_offset_deadband_pct)) / 100n);
  const bound = (most * price) / ONE;
  const rate = big(stats.last_24h_avg_funding_rate);
  const slow = big(history.last_oracle_price_twap);
  const premiums = [
    big(stats.last_mark_price_twap_5min) - big(history.last_oracle_price_twap_5min),
    big(stats.last_mark_price_twap) - slow,
    (rate / 1_000n) * 24n - abs(slow) / 3_333n,
  ];
  const sum = premiums.reduce((total, one) => total + clamp(one, -bound, bound), 0n);
  const m = ((sum / 3n) * ONE) / price;
  if (rate === 0n || u === 0n || sign(m) !== sign(q)) return 0n;
  return sign(q) * ((most * min(u, 100_000n)) / 100_000n);
}

function guarded([long, short]: Pair, offset: bigint, price: bigint, oracle: bigint): Pair {
  const square = oracle * ONE * ONE;
  let root = BigInt(Math.floor(Math.sqrt(Number(square / price))));
  while (root * root > square / price) root -= 1n;
  while ((root + 1n) * (root + 1n) <= square / price) root += 1n;
  const rootUp = root * root * price === square ? root : root + 1n;
  const more = (value: bigint) => (value > 0n ? value + 1n : value);
  const needLong = max(ceil(oracle * ONE, price) - ONE - offset, more(2n * (rootUp - ONE) - offset));
  const needShort = max(ONE + offset - (oracle * ONE) / price, more(offset + 2n * (ONE - root)));
  const widerShort = max(short, min(needShort, ONE - long));
  return [max(long, min(needLong, ONE - widerShort)), widerShort];
}
