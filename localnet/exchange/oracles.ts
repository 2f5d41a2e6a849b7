// Prices: a bounded random walk per feed, posted each slot, and the oracle statistics of the markets.

import { askPrice, bidPrice, repeg, reservePrice } from './amm.ts';
import { abs, clamp, max, ppm } from './amounts.ts';
import { isFast, walkSteps } from './clock.ts';
import { LAZER_PROGRAM } from './keys.ts';
import type { StoredPerp } from './markets.ts';
import type { HistoricalOracleData } from './model.ts';
import { chance, nearlyNormal, uniform } from './random.ts';
import { updateSpreads } from './spreads.ts';
import { emit, enter, enterExchange, leave, mention, note, type Transaction, touch } from './transaction.ts';
import { oracleOf, perpListing, perpPrice, type StoredOracle, spotPrice, type World } from './world.ts';

/** Typical change per slot as a share of the price. */
const VOLATILITY = 0.000_25;
const STABLE_VOLATILITY = 0.000_01;
/** Mean reversion to the listed price per slot, so that a long run stays in range. */
const REVERSION = 0.000_2;
/** Size of an occasional price jump, as a share. */
const JUMP_PROBABILITY = 0.000_3;
const JUMP_MAX = 0.04;
const PREMIUM_PERIOD_SECONDS = 172_800;
const PREMIUM_MAX = 2_500;
const HOUR_SECONDS = 3600n;
const FIVE_MINUTES_SECONDS = 300n;
/** Weight of the current deviation: one part in this number. */
const DEVIATION_MEMORY = 32n;

/** Posts a new price of every feed. */
export function postPrices(tx: Transaction): void {
  enterExchange(tx, 'PostPythLazerOracleUpdate');
  enter(tx, LAZER_PROGRAM, 'VerifyMessage');
  leave(tx);
  for (const oracle of tx.world.oracles.values()) {
    walkPrice(tx, oracle);
    note(tx, `Price updated to ${oracle.account.price}`);
    touch(tx, oracle);
  }
  leave(tx);
}

function walkPrice(tx: Transaction, oracle: StoredOracle): void {
  const { rng } = tx.world;
  const price = Number(oracle.account.price);
  const away = price / oracle.anchor - 1;
  const steps = walkSteps(tx.world.clock);
  const volatility = (oracle.stable ? STABLE_VOLATILITY : VOLATILITY) * Math.sqrt(steps);
  let change = nearlyNormal(rng) * volatility - away * REVERSION * steps;
  if (!oracle.stable && chance(rng, JUMP_PROBABILITY * steps)) change += (uniform(rng) * 2 - 1) * JUMP_MAX;
  const next = BigInt(Math.max(1, Math.round(price * (1 + change))));
  oracle.account.price = next;
  oracle.account.conf = max(1n, next / BigInt(1_500 + Math.floor(uniform(rng) * 1_500)));
  oracle.account.publish_time = BigInt(tx.now) * 1_000_000n;
  oracle.account.posted_slot = BigInt(tx.slot);
}

/** The market maker's own oracle price in the market account. */
export function postMakerPrice(tx: Transaction, perp: StoredPerp): void {
  enterExchange(tx, 'UpdateMmOracle');
  const { market_stats: stats } = perp.account;
  const price = Number(perpPrice(tx.world, perp.account.market_index));
  stats.mm_oracle_price = BigInt(Math.round(price * (1 + nearlyNormal(tx.world.rng) * 0.000_02)));
  stats.mm_oracle_slot = BigInt(tx.slot);
  // One is a counter, the other a time in microseconds. Only the latter is comparable with the feed's publish time.
  if (perp.account.market_index % 2 === 0) stats.mm_oracle_sequence_id = BigInt(tx.now) * 1_000_000n;
  else stats.mm_oracle_sequence_id++;
  touch(tx, perp);
  leave(tx);
}

/** Updates the vAMMs to the oracle: TWAPs, peg, spreads and spread reserves. */
export function updateAmms(tx: Transaction, perps: readonly StoredPerp[]): void {
  enterExchange(tx, 'UpdateAmms');
  for (const perp of perps) {
    updateAmm(tx, perp);
    mention(tx, perp.account.oracle);
    touch(tx, perp);
  }
  leave(tx);
}

function updateAmm(tx: Transaction, perp: StoredPerp): void {
  const market = perp.account;
  const { amm, market_stats: stats } = market;
  const oracle = perpPrice(tx.world, market.market_index);
  const confidence = oracleOf(tx.world, perpListing(market.market_index).feedId).account.conf / 100n;
  updateHistory(stats.historical_oracle_data, oracle, confidence, tx.now);
  const before = { ...amm };
  const cost = repeg(amm, oracle, stats.min_order_size);
  updateSpreads(market, oracle, confidence, tx.slot);
  updateMarkTwap(perp, tx);
  stats.last_oracle_normalised_price = oracle;
  amm.last_update_slot = BigInt(tx.slot);
  if (cost === null) return;
  emit(tx, 'AmmCurveChanged', {
    ts: BigInt(tx.now),
    market_index: market.market_index,
    peg_multiplier_before: before.peg_multiplier,
    base_asset_reserve_before: before.base_asset_reserve,
    quote_asset_reserve_before: before.quote_asset_reserve,
    sqrt_k_before: before.sqrt_k,
    peg_multiplier_after: amm.peg_multiplier,
    base_asset_reserve_after: amm.base_asset_reserve,
    quote_asset_reserve_after: amm.quote_asset_reserve,
    sqrt_k_after: amm.sqrt_k,
    adjustment_cost: cost,
    total_fee_minus_distributions_after: amm.total_fee_minus_distributions,
    oracle_price: oracle,
  });
}

/** Oracle price and its two TWAPs (docs/internals/accounts.md, "Oracles"). */
function updateHistory(history: HistoricalOracleData, price: bigint, confidence: bigint, now: number): void {
  const age = BigInt(now) - history.last_oracle_price_twap_ts;
  history.last_oracle_price_twap = nextTwap(history.last_oracle_price_twap, price, age, HOUR_SECONDS);
  history.last_oracle_price_twap_5min = nextTwap(history.last_oracle_price_twap_5min, price, age, FIVE_MINUTES_SECONDS);
  history.last_oracle_price = price;
  history.last_oracle_conf = confidence;
  history.last_oracle_price_twap_ts = BigInt(now);
}

function updateMarkTwap(perp: StoredPerp, tx: Transaction): void {
  const { now } = tx;
  const { amm, market_stats: stats } = perp.account;
  const age = BigInt(now) - stats.last_mark_price_twap_ts;
  const premium = premiumOf(tx.world, perp);
  const bid = bidPrice(amm) + ppm(bidPrice(amm), premium);
  const ask = askPrice(amm) + ppm(askPrice(amm), premium);
  stats.last_bid_price_twap = nextTwap(stats.last_bid_price_twap, bid, age, HOUR_SECONDS);
  stats.last_ask_price_twap = nextTwap(stats.last_ask_price_twap, ask, age, HOUR_SECONDS);
  stats.last_mark_price_twap = (stats.last_bid_price_twap + stats.last_ask_price_twap) / 2n;
  stats.last_mark_price_twap_5min = nextTwap(
    stats.last_mark_price_twap_5min,
    (bid + ask) / 2n,
    age,
    FIVE_MINUTES_SECONDS,
  );
  const reserve = reservePrice(amm.base_asset_reserve, amm.quote_asset_reserve, amm.peg_multiplier);
  const { last_oracle_price: oracle, last_oracle_price_twap: oracleTwap } = stats.historical_oracle_data;
  stats.mark_std = nextDeviation(stats.mark_std, abs(reserve - stats.last_mark_price_twap));
  stats.oracle_std = nextDeviation(stats.oracle_std, abs(oracle - oracleTwap));
  stats.last_mark_price_twap_ts = BigInt(now);
}

/**
 * A slow wave per market, in parts per million, for the premium that traders would pay. On a fast clock the vAMM follows
 * the oracle too closely to build one.
 */
function premiumOf(world: World, perp: StoredPerp): number {
  if (!isFast(world.clock)) return 0;
  const { genesisTime } = world.clock;
  const phase = ((world.now - genesisTime) / PREMIUM_PERIOD_SECONDS + perp.account.market_index / 4) % 1;
  return Math.round(PREMIUM_MAX * (4 * Math.abs(phase - 0.5) - 1));
}

function nextDeviation(deviation: bigint, off: bigint): bigint {
  return (deviation * (DEVIATION_MEMORY - 1n) + off) / DEVIATION_MEMORY;
}

function nextTwap(twap: bigint, price: bigint, age: bigint, period: bigint): bigint {
  const since = max(1n, age);
  const start = max(0n, period - since);
  const bounded = clamp(price, twap - twap / 3n, twap + twap / 3n);
  return (twap * start + bounded * since) / (start + since);
}

/** Updates the oracle statistics of the spot markets. */
export function updateSpotHistory(tx: Transaction, index: number): void {
  const spot = tx.world.spots[index];
  if (!spot) return;
  const price = spotPrice(tx.world, index);
  updateHistory(spot.account.historical_oracle_data, price, price / 2_000n, tx.now);
  touch(tx, spot);
}
