// Perp and spot market accounts, and the listed markets of the simulated exchange.

import type { HistoricalOracleData, PoolBalance, Stored } from './model.ts';

export interface Amm {
  fee_pool: PoolBalance;
  base_asset_reserve: bigint;
  quote_asset_reserve: bigint;
  concentration_coef: bigint;
  min_base_asset_reserve: bigint;
  max_base_asset_reserve: bigint;
  sqrt_k: bigint;
  peg_multiplier: bigint;
  terminal_quote_asset_reserve: bigint;
  base_asset_amount_with_amm: bigint;
  total_fee: bigint;
  total_mm_fee: bigint;
  total_fee_minus_distributions: bigint;
  total_fee_withdrawn: bigint;
  ask_base_asset_reserve: bigint;
  ask_quote_asset_reserve: bigint;
  bid_base_asset_reserve: bigint;
  bid_quote_asset_reserve: bigint;
  last_update_slot: bigint;
  net_revenue_since_last_funding: bigint;
  last_cumulative_funding_rate_long: bigint;
  last_cumulative_funding_rate_short: bigint;
  last_oracle_reserve_price_spread_pct: bigint;
  last_spread_update_slot: bigint;
  base_spread: number;
  max_spread: number;
  long_spread: number;
  short_spread: number;
  reference_price_offset: number;
  max_fill_reserve_fraction: number;
  max_slippage_ratio: number;
  curve_update_intensity: number;
  amm_jit_intensity: number;
  amm_spread_adjustment: number;
  amm_inventory_spread_adjustment: number;
  reference_price_offset_deadband_pct: number;
  funding_bias_sensitivity: number;
}

export interface MarketStats {
  last_mark_price_twap: bigint;
  last_mark_price_twap_5min: bigint;
  last_mark_price_twap_ts: bigint;
  last_bid_price_twap: bigint;
  last_ask_price_twap: bigint;
  mark_std: bigint;
  oracle_std: bigint;
  last_oracle_conf_pct: bigint;
  volume_24h: bigint;
  long_intensity_volume: bigint;
  short_intensity_volume: bigint;
  last_trade_ts: bigint;
  last_24h_avg_funding_rate: bigint;
  funding_period: bigint;
  min_order_size: bigint;
  mm_oracle_price: bigint;
  mm_oracle_slot: bigint;
  mm_oracle_sequence_id: bigint;
  last_oracle_normalised_price: bigint;
  last_reference_price_offset: number;
  last_oracle_valid: boolean;
  last_funding_oracle_twap: bigint;
  historical_oracle_data: HistoricalOracleData;
}

export interface PerpMarket {
  pubkey: string;
  base_asset_amount_long: bigint;
  base_asset_amount_short: bigint;
  quote_asset_amount: bigint;
  quote_entry_amount_long: bigint;
  quote_entry_amount_short: bigint;
  quote_break_even_amount_long: bigint;
  quote_break_even_amount_short: bigint;
  max_open_interest: bigint;
  total_social_loss: bigint;
  cumulative_funding_rate_long: bigint;
  cumulative_funding_rate_short: bigint;
  fee_ledger: {
    total_exchange_fee: bigint;
    total_liquidation_fee: bigint;
    pending_protocol_fee: bigint;
    pending_if_fee: bigint;
    amm_protocol_fees_received: bigint;
    pending_amm_provision: bigint;
  };
  oracle: string;
  pnl_pool: PoolBalance;
  protocol_fee_pool: PoolBalance;
  name: number[];
  insurance_claim: {
    revenue_withdraw_since_last_settle: bigint;
    max_revenue_withdraw_per_period: bigint;
    quote_max_insurance: bigint;
    quote_settled_insurance: bigint;
    last_revenue_withdraw_ts: bigint;
  };
  last_funding_rate: bigint;
  last_funding_rate_long: bigint;
  last_funding_rate_short: bigint;
  last_funding_rate_ts: bigint;
  net_unsettled_funding_pnl: bigint;
  funding_clamp_threshold: number;
  funding_ramp_slope: number;
  order_step_size: bigint;
  order_tick_size: bigint;
  unrealized_pnl_max_imbalance: bigint;
  next_fill_record_id: bigint;
  next_funding_rate_record_id: bigint;
  imf_factor: number;
  liquidator_fee: number;
  if_liquidation_fee: number;
  margin_ratio_initial: number;
  margin_ratio_maintenance: number;
  unrealized_pnl_initial_asset_weight: number;
  unrealized_pnl_maintenance_asset_weight: number;
  number_of_users_with_base: number;
  number_of_users: number;
  market_index: number;
  status: string;
  contract_type: string;
  contract_tier: string;
  quote_spot_market_index: number;
  last_fill_price: bigint;
  oracle_source: string;
  market_stats: MarketStats;
  amm: Amm;
  clob_market: string;
  quoter_slab: string;
}

export interface SpotMarket {
  pubkey: string;
  oracle: string;
  mint: string;
  vault: string;
  name: number[];
  insurance_fund: {
    vault: string;
    total_shares: bigint;
    user_shares: bigint;
    shares_base: bigint;
    unstaking_period: bigint;
    last_revenue_settle_ts: bigint;
    revenue_settle_period: bigint;
    if_fee_factor: number;
  };
  total_spot_fee: bigint;
  deposit_balance: bigint;
  borrow_balance: bigint;
  cumulative_deposit_interest: bigint;
  cumulative_borrow_interest: bigint;
  total_social_loss: bigint;
  total_quote_social_loss: bigint;
  revenue_pool: PoolBalance;
  spot_fee_pool: PoolBalance;
  historical_oracle_data: HistoricalOracleData;
  max_token_deposits: bigint;
  deposit_token_twap: bigint;
  borrow_token_twap: bigint;
  utilization_twap: bigint;
  last_interest_ts: bigint;
  last_twap_ts: bigint;
  order_step_size: bigint;
  order_tick_size: bigint;
  min_order_size: bigint;
  next_fill_record_id: bigint;
  next_deposit_record_id: bigint;
  initial_asset_weight: number;
  maintenance_asset_weight: number;
  initial_liability_weight: number;
  maintenance_liability_weight: number;
  liquidator_fee: number;
  optimal_utilization: number;
  optimal_borrow_rate: number;
  max_borrow_rate: number;
  decimals: number;
  market_index: number;
  orders_enabled: boolean;
  oracle_source: string;
  status: string;
  asset_tier: string;
  total_swap_fee: bigint;
  protocol_fee_pool: PoolBalance;
}

export type StoredPerp = Stored<PerpMarket>;
export type StoredSpot = Stored<SpotMarket>;

/** A perp market at genesis. Price 1e6, sizes 1e9, leverage as maintenance ratio (1e4). */
export interface PerpListing {
  readonly symbol: string;
  readonly feedId: number;
  readonly price: bigint;
  readonly tick: bigint;
  readonly step: bigint;
  readonly minOrder: bigint;
  /** Half of the vAMM's depth in base units. */
  readonly sqrtK: bigint;
  readonly maintenance: number;
  readonly tier: string;
  readonly hasClob: boolean;
  /** Above 100 the vAMM shifts its quotes from the reserve price by premium and inventory. */
  readonly curveUpdateIntensity: number;
}

export const PERP_LISTINGS: readonly PerpListing[] = [
  {
    symbol: 'SOL-PERP',
    feedId: 6,
    price: 152_340_000n,
    tick: 100n,
    step: 10_000_000n,
    minOrder: 10_000_000n,
    sqrtK: 500_000_000_000_000n,
    maintenance: 300,
    tier: 'a',
    hasClob: true,
    curveUpdateIntensity: 100,
  },
  {
    symbol: 'BTC-PERP',
    feedId: 1,
    price: 67_210_500_000n,
    tick: 100_000n,
    step: 100_000n,
    minOrder: 100_000n,
    sqrtK: 1_500_000_000_000n,
    maintenance: 300,
    tier: 'a',
    hasClob: true,
    curveUpdateIntensity: 100,
  },
  {
    symbol: 'ETH-PERP',
    feedId: 2,
    price: 3_412_700_000n,
    tick: 10_000n,
    step: 1_000_000n,
    minOrder: 1_000_000n,
    sqrtK: 25_000_000_000_000n,
    maintenance: 300,
    tier: 'a',
    hasClob: false,
    curveUpdateIntensity: 100,
  },
  {
    symbol: 'HYPE-PERP',
    feedId: 110,
    price: 24_870_000n,
    tick: 1_000n,
    step: 100_000_000n,
    minOrder: 100_000_000n,
    sqrtK: 1_500_000_000_000_000n,
    maintenance: 500,
    tier: 'b',
    hasClob: false,
    curveUpdateIntensity: 105,
  },
];

export interface SpotListing {
  readonly symbol: string;
  readonly feedId: number;
  readonly decimals: number;
  readonly assetWeight: number;
  readonly liabilityWeight: number;
  readonly oracleSource: string;
  readonly price: bigint;
}

export const SPOT_LISTINGS: readonly SpotListing[] = [
  {
    symbol: 'USDT',
    feedId: 8,
    decimals: 6,
    assetWeight: 10_000,
    liabilityWeight: 10_000,
    oracleSource: 'pythLazerStableCoin',
    price: 1_000_000n,
  },
  {
    symbol: 'SOL',
    feedId: 6,
    decimals: 9,
    assetWeight: 8_000,
    liabilityWeight: 12_000,
    oracleSource: 'pythLazer',
    price: 152_340_000n,
  },
  {
    symbol: 'BTC',
    feedId: 1,
    decimals: 8,
    assetWeight: 8_500,
    liabilityWeight: 11_500,
    oracleSource: 'pythLazer',
    price: 67_210_500_000n,
  },
];

/** Name as the program stores it: 32 bytes, padded with spaces. */
export function paddedName(name: string): number[] {
  return [...new TextEncoder().encode(name.padEnd(32).slice(0, 32))];
}
