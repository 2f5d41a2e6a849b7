// The exchange before its first block: state, oracles, markets, order accounts and traders with their deposits.

import { newAmm } from './amm.ts';
import { BASE_SCALE, INTEREST_SCALE, max } from './amounts.ts';
import { type Clob, emptyNodes, newClobHeader } from './clob.ts';
import { GENESIS_SLOT } from './clock.ts';
import { deriveKey, exchangeAddress, NO_KEY, text, u16le, u32le } from './keys.ts';
import {
  PERP_LISTINGS,
  type PerpListing,
  paddedName,
  SPOT_LISTINGS,
  type StoredPerp,
  type StoredSpot,
} from './markets.ts';
import type { HistoricalOracleData, PoolBalance } from './model.ts';
import { populate } from './population.ts';
import { createRng } from './random.ts';
import { genesisState } from './state.ts';
import { noGuests } from './submitted/guests.ts';
import type { Settings, StoredOracle, World } from './world.ts';

/** Separates the random sequence of rare events from the main one. */
const RARE_SEED = 7_919;
/** Usual arena of an order account. */
const CLOB_CAPACITY = 850;
/** Zero bytes that a permissionless instruction has added to some accounts. */
const GROWN_BYTES = 128;
/** Market i has its first funding this many seconds after genesis, plus i times the second figure. */
const FIRST_FUNDING_SECONDS = 8;
const FUNDING_STAGGER_SECONDS = 6;
export const FUNDING_PERIOD_SECONDS = 3600;
/** Price deviation before genesis, as this part of the price. */
const DEVIATION_PART = 1_000n;

export function createWorld(settings: Settings): World {
  const { seed, genesisTime } = settings;
  const world: World = {
    rng: createRng(seed),
    rare: { on: settings.rarities, rng: createRng(seed + RARE_SEED) },
    clock: { genesisTime, slotMs: settings.slotMs, slotBurst: settings.slotBurst },
    slot: GENESIS_SLOT,
    now: genesisTime,
    state: genesisState(seed),
    perps: [],
    spots: [],
    oracles: new Map(),
    traders: [],
    traderIds: new Map(),
    stats: new Map(),
    clobs: new Map(),
    resting: PERP_LISTINGS.map(() => new Map()),
    triggers: new Set(),
    expiring: new Map(),
    reduceOnly: new Set(),
    auctions: new Map(),
    staleShadows: new Map(),
    insurance: { vault: 2_000_000_000_000n, stakes: [] },
    lpPool: {
      key: exchangeAddress(text('lp_pool'), Uint8Array.of(0)),
      aum: 25_000_000_000_000n,
      supply: 25_000_000_000_000n,
      nextId: 1n,
      lastSlot: GENESIS_SLOT,
      lastTs: genesisTime,
    },
    vaults: [],
    builder: { authority: deriveKey(seed, 'builder'), pending: 0n, paid: 0n },
    referrers: new Map(),
    guests: noGuests(),
    events: [],
    eventCounts: {},
  };
  for (const listing of SPOT_LISTINGS) addOracle(world, listing.feedId, listing.price);
  for (const listing of PERP_LISTINGS) addOracle(world, listing.feedId, listing.price);
  for (const index of SPOT_LISTINGS.keys()) world.spots.push(spotMarket(world, seed, index));
  for (const [index, listing] of PERP_LISTINGS.entries()) {
    if (listing.hasClob) world.clobs.set(index, clobMarket(settings, index, listing));
    world.perps.push(perpMarket(world, index, listing));
  }
  populate(world, settings);
  return world;
}

function addOracle(world: World, feedId: number, price: bigint): void {
  if (world.oracles.has(feedId)) return;
  const scaled = price * 100n;
  const oracle: StoredOracle = {
    key: exchangeAddress(text('pyth_lazer'), u32le(feedId)),
    type: 'PythLazerOracle',
    feedId,
    anchor: Number(scaled),
    stable: price === 1_000_000n,
    grown: 0,
    account: {
      price: scaled,
      publish_time: BigInt(world.now) * 1_000_000n,
      posted_slot: BigInt(world.slot),
      exponent: -8,
      conf: scaled / 2_000n,
    },
  };
  world.oracles.set(feedId, oracle);
}

function history(price: bigint, now: number): HistoricalOracleData {
  return {
    last_oracle_price: price,
    last_oracle_conf: price / 2_000n,
    last_oracle_delay: 0n,
    last_oracle_price_twap: price,
    last_oracle_price_twap_5min: price,
    last_oracle_price_twap_ts: BigInt(now),
  };
}

function pool(marketIndex: number, scaledBalance = 0n): PoolBalance {
  return { scaled_balance: scaledBalance, market_index: marketIndex };
}

function clobMarket(settings: Settings, index: number, listing: PerpListing): Clob {
  // Three quarters of the target are fixed quotes, which rest on the book. A fifth more leaves room for remainders.
  const wanted = Math.ceil(settings.ordersPerMarket * 0.75);
  const capacity = Math.max(CLOB_CAPACITY, Math.ceil(wanted * 1.5));
  const authority = deriveKey(settings.seed, 'clob-authority');
  return {
    key: deriveKey(settings.seed, `clob-market-${index}`),
    type: 'ClobHeaderV0',
    grown: 0,
    nodes: emptyNodes(capacity, NO_KEY),
    dirty: new Set(),
    account: newClobHeader({
      authority,
      place_authority: exchangeAddress(text('quoter_signer')),
      order_tick_size: listing.tick,
      order_step_size: listing.step,
      min_order_size: listing.minOrder,
      market_index: index,
      capacity,
      evictThreshold: Math.max(6, Math.ceil(wanted * 0.7)),
    }),
  };
}

function perpMarket(world: World, index: number, listing: PerpListing): StoredPerp {
  const key = exchangeAddress(text('perp_market'), u16le(index));
  const clob = world.clobs.get(index);
  const oracle = world.oracles.get(listing.feedId)?.key ?? NO_KEY;
  const firstFunding = world.now + FIRST_FUNDING_SECONDS + FUNDING_STAGGER_SECONDS * index;
  const account: StoredPerp['account'] = {
    pubkey: key,
    base_asset_amount_long: 0n,
    base_asset_amount_short: 0n,
    quote_asset_amount: 0n,
    quote_entry_amount_long: 0n,
    quote_entry_amount_short: 0n,
    quote_break_even_amount_long: 0n,
    quote_break_even_amount_short: 0n,
    max_open_interest: listing.sqrtK,
    total_social_loss: 0n,
    cumulative_funding_rate_long: 0n,
    cumulative_funding_rate_short: 0n,
    fee_ledger: {
      total_exchange_fee: 0n,
      total_liquidation_fee: 0n,
      pending_protocol_fee: 0n,
      pending_if_fee: 0n,
      amm_protocol_fees_received: 0n,
      pending_amm_provision: 0n,
    },
    oracle,
    pnl_pool: pool(0),
    protocol_fee_pool: pool(0),
    name: paddedName(listing.symbol),
    insurance_claim: {
      revenue_withdraw_since_last_settle: 0n,
      max_revenue_withdraw_per_period: 1_000_000_000n,
      quote_max_insurance: 1_000_000_000_000n,
      quote_settled_insurance: 0n,
      last_revenue_withdraw_ts: BigInt(world.now),
    },
    last_funding_rate: 0n,
    last_funding_rate_long: 0n,
    last_funding_rate_short: 0n,
    last_funding_rate_ts: BigInt(firstFunding - FUNDING_PERIOD_SECONDS),
    net_unsettled_funding_pnl: 0n,
    funding_clamp_threshold: 5,
    funding_ramp_slope: 1_000_000,
    order_step_size: listing.step,
    order_tick_size: listing.tick,
    unrealized_pnl_max_imbalance: 40_000_000_000_000n,
    next_fill_record_id: 1n,
    next_funding_rate_record_id: 1n,
    imf_factor: 0,
    liquidator_fee: 10_000,
    if_liquidation_fee: 5_000,
    margin_ratio_initial: listing.maintenance * 2,
    margin_ratio_maintenance: listing.maintenance,
    unrealized_pnl_initial_asset_weight: 10_000,
    unrealized_pnl_maintenance_asset_weight: 10_000,
    number_of_users_with_base: 0,
    number_of_users: 0,
    market_index: index,
    status: 'active',
    contract_type: 'perpetual',
    contract_tier: listing.tier,
    quote_spot_market_index: 0,
    last_fill_price: 0n,
    oracle_source: 'pythLazer',
    market_stats: {
      last_mark_price_twap: listing.price,
      last_mark_price_twap_5min: listing.price,
      last_mark_price_twap_ts: BigInt(world.now),
      last_bid_price_twap: listing.price,
      last_ask_price_twap: listing.price,
      mark_std: listing.price / DEVIATION_PART,
      oracle_std: listing.price / DEVIATION_PART,
      last_oracle_conf_pct: 500n,
      volume_24h: 0n,
      long_intensity_volume: 0n,
      short_intensity_volume: 0n,
      last_trade_ts: BigInt(world.now),
      last_24h_avg_funding_rate: 0n,
      funding_period: BigInt(FUNDING_PERIOD_SECONDS),
      min_order_size: listing.minOrder,
      mm_oracle_price: listing.price,
      mm_oracle_slot: BigInt(world.slot),
      mm_oracle_sequence_id: 0n,
      last_oracle_normalised_price: listing.price,
      last_reference_price_offset: 0,
      last_oracle_valid: true,
      last_funding_oracle_twap: listing.price,
      historical_oracle_data: history(listing.price, world.now),
    },
    amm: newAmm(listing, world.slot),
    clob_market: clob?.key ?? NO_KEY,
    quoter_slab: clob ? exchangeAddress(text('quoter_slab'), u16le(index)) : NO_KEY,
  };
  return { key, type: 'PerpMarket', account, grown: index % 2 === 1 ? GROWN_BYTES : 0 };
}

function spotMarket(world: World, seed: number, index: number): StoredSpot {
  const listing = SPOT_LISTINGS[index];
  if (!listing) throw new RangeError(`no spot listing ${index}`);
  const key = exchangeAddress(text('spot_market'), u16le(index));
  const account: StoredSpot['account'] = {
    pubkey: key,
    oracle: world.oracles.get(listing.feedId)?.key ?? NO_KEY,
    mint: deriveKey(seed, `mint-${listing.symbol}`),
    vault: exchangeAddress(text('spot_market_vault'), u16le(index)),
    name: paddedName(listing.symbol),
    insurance_fund: {
      vault: exchangeAddress(text('insurance_fund_vault'), u16le(index)),
      total_shares: index === 0 ? world.insurance.vault : 0n,
      user_shares: 0n,
      shares_base: 0n,
      unstaking_period: 60n,
      last_revenue_settle_ts: BigInt(world.now),
      revenue_settle_period: 120n,
      if_fee_factor: 100_000,
    },
    total_spot_fee: 0n,
    deposit_balance: 0n,
    borrow_balance: 0n,
    cumulative_deposit_interest: INTEREST_SCALE,
    cumulative_borrow_interest: INTEREST_SCALE,
    total_social_loss: 0n,
    total_quote_social_loss: 0n,
    revenue_pool: pool(index),
    spot_fee_pool: pool(0),
    historical_oracle_data: history(listing.price, world.now),
    max_token_deposits: 0n,
    deposit_token_twap: 0n,
    borrow_token_twap: 0n,
    utilization_twap: 0n,
    last_interest_ts: BigInt(world.now),
    last_twap_ts: BigInt(world.now),
    order_step_size: max(1n, BASE_SCALE / 10_000n),
    order_tick_size: 100n,
    min_order_size: 100_000n,
    next_fill_record_id: 1n,
    next_deposit_record_id: 1n,
    initial_asset_weight: listing.assetWeight,
    maintenance_asset_weight: Math.min(10_000, listing.assetWeight + 1_000),
    initial_liability_weight: listing.liabilityWeight,
    maintenance_liability_weight: Math.max(10_000, listing.liabilityWeight - 1_000),
    liquidator_fee: index === 0 ? 0 : 50_000,
    optimal_utilization: 800_000,
    optimal_borrow_rate: 100_000,
    max_borrow_rate: 1_000_000,
    decimals: listing.decimals,
    market_index: index,
    orders_enabled: false,
    oracle_source: listing.oracleSource,
    status: 'active',
    asset_tier: 'collateral',
    total_swap_fee: 0n,
    protocol_fee_pool: pool(index),
  };
  return { key, type: 'SpotMarket', account, grown: index === 1 ? GROWN_BYTES : 0 };
}
