// Executes planned fills: changes positions, fees, orders and market totals, and emits one record per fill.

import { fillFromAmm } from './amm.ts';
import { abs, floorTo, max, min, ppm, quoteOf } from './amounts.ts';
import { executeOnClob } from './clob-calls.ts';
import type { StoredPerp } from './markets.ts';
import { type PlannedFill, planFills, tradableBase } from './matching.ts';
import { ORDER_HAS_BUILDER, type Order } from './model.ts';
import {
  actionRecord,
  changeOpenInterest,
  endAuction,
  isOnClob,
  limitPrice,
  liveNode,
  orderSide,
  releaseOrder,
  touchTrader,
  unfilled,
} from './orders.ts';
import { applyFee, type Existing, opposite, perpPosition, settleFunding, signed, trade } from './positions.ts';
import { seldom } from './random.ts';
import type { RecordData } from './records.ts';
import { updateSpreads } from './spreads.ts';
import { type BuilderTerms, termsKey } from './submitted/guests.ts';
import { emit, type Transaction, touch } from './transaction.ts';
import {
  type FoundOrder,
  oracleOf,
  orderAt,
  orderKey,
  perpAt,
  perpListing,
  perpPrice,
  statsOf,
  type Trader,
  type World,
} from './world.ts';

/** Largest distance from the oracle (1e6) at which an order without a limit trades. */
const MARKET_ORDER_BAND = 10_000;
/** Maker rebate as a share of the taker's fee, in parts per million. */
const REBATE_SHARE = 200_000;
const FILLER_SHARE = 100_000;
const REFERRER_SHARE = 150_000;
/** With rarities enabled, this share of fills is just-in-time. */
const JIT_PROBABILITY = 0.1;
/** Terms of the simulated traders' own builder. */
const USUAL_TERMS: BuilderTerms = { index: 0, feeTenthBps: 5 };
const TENTH_BPS_SCALE = 100_000n;
/** The 24-hour volume decays by this part per fill. */
const VOLUME_DECAY = 4_096n;

export interface TakerResult {
  readonly base: bigint;
  readonly done: boolean;
}

/** Fills an open order as taker as far as possible. Releases a completely filled order. */
export function fillTaker(tx: Transaction, taker: FoundOrder, filler: Trader | null): TakerResult {
  const { trader, index, order } = taker;
  endAuction(tx.world, orderKey(trader, index));
  touchTrader(tx, trader);
  const perp = perpAt(tx.world, order.market_index);
  const wanted = floorTo(tradableBase(trader, order), perp.account.order_step_size);
  const plan = wanted > 0n ? planFills(tx.world, trader, order, wanted, takerLimit(tx, order)) : [];
  if (plan.length > 0) executePlan(tx, perp, taker, plan, filler);
  const base = plan.reduce((sum, fill) => sum + fill.base, 0n);
  const done = unfilled(order) === 0n;
  if (done) releaseOrder(tx, trader, index);
  return { base, done };
}

function takerLimit(tx: Transaction, order: Order): bigint {
  const limit = limitPrice(tx.world, order);
  if (limit !== 0n) return limit;
  const oracle = perpPrice(tx.world, order.market_index);
  const band = ppm(oracle, MARKET_ORDER_BAND);
  return order.direction === 'long' ? oracle + band : oracle - band;
}

function executePlan(
  tx: Transaction,
  perp: StoredPerp,
  taker: FoundOrder,
  plan: readonly PlannedFill[],
  filler: Trader | null,
): void {
  const { trader, order } = taker;
  settleFunding(tx, trader, perp);
  const clob = tx.world.clobs.get(order.market_index);
  const clobFills = plan.flatMap(({ nodeIndex, base }) => (nodeIndex === null ? [] : [{ nodeIndex, base }]));
  if (clob && clobFills.length > 0) executeOnClob(tx, clob, order.direction, clobFills);
  for (const fill of plan) {
    if (fill.key === null) fillAgainstAmm(tx, perp, taker, fill.base, filler);
    else fillAgainstMaker(tx, perp, taker, { key: fill.key, base: fill.base, price: fill.price }, filler);
  }
  const oracle = oracleOf(tx.world, perpListing(order.market_index).feedId);
  updateSpreads(perp.account, perpPrice(tx.world, order.market_index), oracle.account.conf / 100n, tx.slot);
  touchTrader(tx, trader);
  touch(tx, perp);
  if (filler) touch(tx, filler);
}

function fillAgainstAmm(
  tx: Transaction,
  perp: StoredPerp,
  taker: FoundOrder,
  base: bigint,
  filler: Trader | null,
): void {
  const { direction } = taker.order;
  const { quote, surplus } = fillFromAmm(perp.account.amm, base, direction);
  const existing = applyToOrder(tx, perp, taker, base, quote);
  const fees = chargeTaker(tx, perp, taker, quote, filler);
  perp.account.amm.total_fee += fees.takerFee;
  perp.account.amm.total_fee_minus_distributions += fees.takerFee - fees.fillerReward;
  countTrade(tx, perp, direction, base, quote);
  emit(tx, 'OrderActionRecord', {
    ...fillRecord(tx, perp, taker, base, quote, fees, filler, existing),
    action_explanation: seldom(tx.world, JIT_PROBABILITY) ? 'orderFilledWithAmmJit' : 'orderFilledWithAmm',
    quote_asset_amount_surplus: surplus,
  });
}

export interface MakerFill {
  readonly key: number;
  readonly base: bigint;
  readonly price: bigint;
}

/** One taker order against one resting order at the resting order's price. */
export function fillAgainstMaker(
  tx: Transaction,
  perp: StoredPerp,
  taker: FoundOrder,
  fill: MakerFill,
  filler: Trader | null,
): void {
  const maker = orderAt(tx.world, fill.key);
  const quote = quoteOf(fill.base, fill.price);
  settleFunding(tx, maker.trader, perp);
  const takerExisting = applyToOrder(tx, perp, taker, fill.base, quote);
  const makerExisting = applyToOrder(tx, perp, maker, fill.base, quote);
  const fees = chargeTaker(tx, perp, taker, quote, filler);
  const rebate = ppm(fees.takerFee, REBATE_SHARE);
  applyFee(perp, perpPosition(maker.trader, maker.order.market_index), rebate);
  const makerStats = statsOf(tx.world, maker.trader).account;
  makerStats.fees.total_fee_rebate += rebate;
  makerStats.maker_volume_30d += quote;
  makerStats.last_maker_volume_30d_ts = BigInt(tx.now);
  addExchangeFee(perp, fees.takerFee - rebate);
  countTrade(tx, perp, taker.order.direction, fill.base, quote);
  touch(tx, statsOf(tx.world, maker.trader));
  touchTrader(tx, maker.trader);
  emit(tx, 'OrderActionRecord', {
    ...fillRecord(tx, perp, taker, fill.base, quote, fees, filler, takerExisting),
    action_explanation: seldom(tx.world, JIT_PROBABILITY) ? 'orderFilledWithMatchJit' : 'orderFilledWithMatch',
    maker_fee: -rebate,
    ...orderSide('maker', maker.trader, maker.order),
    maker_existing_quote_entry_amount: makerExisting.quoteEntry,
    maker_existing_base_asset_amount: makerExisting.base,
    bit_flags: taker.order.bit_flags | maker.order.bit_flags,
  });
  settleRestingOrder(tx, maker);
}

/** Frees the entry of a filled order, or of one whose remainder the book dropped as too small. */
export function settleRestingOrder(tx: Transaction, found: FoundOrder): void {
  const { trader, index, order } = found;
  if (unfilled(order) === 0n) {
    releaseOrder(tx, trader, index);
  } else if (isOnClob(order) && liveNode(tx.world, order) === null) {
    emit(tx, 'OrderActionRecord', actionRecord(tx, trader, order, 'cancel', 'none'));
    releaseOrder(tx, trader, index);
  }
}

function applyToOrder(tx: Transaction, perp: StoredPerp, side: FoundOrder, base: bigint, quote: bigint): Existing {
  const { trader, order } = side;
  order.base_asset_amount_filled += base;
  order.quote_asset_amount_filled += quote;
  changeOpenInterest(trader, order, -base);
  touch(tx, trader);
  return trade(
    perp,
    perpPosition(trader, order.market_index),
    signed(order.direction, base),
    signed(opposite(order.direction), quote),
  );
}

/** Splits the exchange's part of a fee. Sweeps later move the shares to their pools. */
function addExchangeFee(perp: StoredPerp, fee: bigint): void {
  const ledger = perp.account.fee_ledger;
  ledger.total_exchange_fee += fee;
  ledger.pending_protocol_fee += fee / 5n;
  ledger.pending_if_fee += fee / 5n;
  ledger.pending_amm_provision += fee / 10n;
}

interface TakerFees {
  readonly takerFee: bigint;
  readonly fillerReward: bigint;
  readonly referrerReward: number | null;
  readonly builderFee: bigint | null;
  readonly builderIndex: number | null;
}

function chargeTaker(
  tx: Transaction,
  perp: StoredPerp,
  taker: FoundOrder,
  quote: bigint,
  filler: Trader | null,
): TakerFees {
  const { trader, order } = taker;
  const tier = tx.world.state.account.perp_fee_structure.fee_tiers[0];
  const takerFee = (quote * BigInt(tier?.fee_numerator ?? 0)) / BigInt(tier?.fee_denominator ?? 1);
  const terms = builderTerms(tx.world, trader, order);
  const builderFee = terms && (quote * BigInt(terms.feeTenthBps)) / TENTH_BPS_SCALE;
  const storedStats = statsOf(tx.world, trader);
  const stats = storedStats.account;
  touch(tx, storedStats);
  const isReferred = (stats.referrer_status & 2) !== 0;
  const referrerReward = isReferred ? ppm(takerFee, REFERRER_SHARE) : null;
  if (referrerReward !== null) owe(tx.world, stats.referrer, referrerReward);
  const fillerReward = filler ? min(ppm(takerFee, FILLER_SHARE), 1_000_000n) : 0n;
  stats.fees.total_fee_paid += takerFee;
  stats.taker_volume_30d += quote;
  stats.last_taker_volume_30d_ts = BigInt(tx.now);
  applyFee(perp, perpPosition(trader, order.market_index), -takerFee - (builderFee ?? 0n));
  tx.world.builder.pending += builderFee ?? 0n;
  if (filler) payFiller(tx, perp, filler, fillerReward, quote);
  return {
    takerFee,
    fillerReward,
    referrerReward: referrerReward === null ? null : Number(referrerReward),
    builderFee,
    builderIndex: terms?.index ?? null,
  };
}

/** The fee that an order pays its builder; null for one without. */
function builderTerms({ guests }: World, trader: Trader, order: Order): BuilderTerms | null {
  if ((order.bit_flags & ORDER_HAS_BUILDER) === 0) return null;
  return guests.builderTerms.get(termsKey(trader.key, order.order_id)) ?? USUAL_TERMS;
}

function owe(world: World, referrer: string, reward: bigint): void {
  const known = world.referrers.get(referrer);
  if (known) known.pending += reward;
  else world.referrers.set(referrer, { pending: reward, paid: 0n });
}

function payFiller(tx: Transaction, perp: StoredPerp, filler: Trader, reward: bigint, quote: bigint): void {
  applyFee(perp, perpPosition(filler, perp.account.market_index), reward);
  const stats = statsOf(tx.world, filler).account;
  stats.filler_volume_30d += quote;
  stats.last_filler_volume_30d_ts = BigInt(tx.now);
  touch(tx, filler, statsOf(tx.world, filler));
}

function fillRecord(
  tx: Transaction,
  perp: StoredPerp,
  taker: FoundOrder,
  base: bigint,
  quote: bigint,
  fees: TakerFees,
  filler: Trader | null,
  existing: Existing,
): RecordData {
  return {
    ts: BigInt(tx.now),
    action: 'fill',
    market_index: taker.order.market_index,
    market_type: taker.order.market_type,
    filler: filler?.key ?? null,
    filler_reward: filler ? fees.fillerReward : null,
    fill_record_id: perp.account.next_fill_record_id++,
    base_asset_amount_filled: base,
    quote_asset_amount_filled: quote,
    taker_fee: fees.takerFee,
    referrer_reward: fees.referrerReward,
    ...orderSide('taker', taker.trader, taker.order),
    oracle_price: perpPrice(tx.world, taker.order.market_index),
    bit_flags: taker.order.bit_flags,
    taker_existing_quote_entry_amount: existing.quoteEntry,
    taker_existing_base_asset_amount: existing.base,
    builder_idx: fees.builderIndex,
    builder_fee: fees.builderFee,
  };
}

/** Updates last price, volumes and the mark TWAP after a trade. */
export function countTrade(
  tx: Transaction,
  perp: StoredPerp,
  taker: 'long' | 'short',
  base: bigint,
  quote: bigint,
): void {
  const { market_stats: stats } = perp.account;
  perp.account.last_fill_price = max(1n, (quote * 1_000_000_000n) / max(1n, abs(base)));
  stats.volume_24h = stats.volume_24h - stats.volume_24h / VOLUME_DECAY + quote;
  if (taker === 'long') stats.long_intensity_volume = decayed(stats.long_intensity_volume) + quote;
  else stats.short_intensity_volume = decayed(stats.short_intensity_volume) + quote;
  stats.last_trade_ts = BigInt(tx.now);
}

function decayed(volume: bigint): bigint {
  return volume - volume / 32n;
}
