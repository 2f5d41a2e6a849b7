// Account models of the exchange. Field names are the program's own (snake_case), because the definition drives the
// encoding; 64- and 128-bit integers are bigint, keys base58. Absent fields encode as zero bytes.

export type Direction = 'long' | 'short';
export type OrderType = 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';
export type TriggerCondition = 'above' | 'below' | 'triggeredAbove' | 'triggeredBelow';
export type BalanceType = 'deposit' | 'borrow';

/** Bits of `Order.bit_flags`. */
export const ORDER_SIGNED_MESSAGE = 1;
export const ORDER_HAS_BUILDER = 16;
export const ORDER_PLACED_ON_CLOB = 64;

/** Bits of `User.status`. */
export const USER_BEING_LIQUIDATED = 1;
export const USER_BANKRUPT = 2;
export const USER_VAULT_OWNED = 32;

export const ORDERS_PER_USER = 32;
export const POSITIONS_PER_USER = 8;

/** An account with an address: its definition name, its model and the number of added zero bytes. */
export interface Stored<T extends object = object> {
  readonly key: string;
  readonly type: string;
  readonly account: T;
  grown: number;
}

export interface Order {
  slot: bigint;
  price: bigint;
  base_asset_amount: bigint;
  base_asset_amount_filled: bigint;
  quote_asset_amount_filled: bigint;
  trigger_price: bigint;
  clob_node_index: bigint;
  clob_order_id: bigint;
  max_ts: bigint;
  oracle_price_offset: bigint;
  order_id: number;
  market_index: number;
  status: 'init' | 'open';
  order_type: OrderType;
  market_type: 'spot' | 'perp';
  user_order_id: number;
  existing_position_direction: Direction;
  direction: Direction;
  reduce_only: boolean;
  post_only: boolean;
  immediate_or_cancel: boolean;
  trigger_condition: TriggerCondition;
  unused_auction_duration: number;
  posted_slot_tail: number;
  bit_flags: number;
}

export interface SpotPosition {
  scaled_balance: bigint;
  open_bids: bigint;
  open_asks: bigint;
  cumulative_deposits: bigint;
  market_index: number;
  balance_type: BalanceType;
  open_orders: number;
}

export interface PerpPosition {
  last_cumulative_funding_rate: bigint;
  base_asset_amount: bigint;
  quote_asset_amount: bigint;
  quote_break_even_amount: bigint;
  quote_entry_amount: bigint;
  open_bids: bigint;
  open_asks: bigint;
  settled_pnl: bigint;
  isolated_position_scaled_balance: bigint;
  reduce_only_clob_orders: number;
  max_margin_ratio: number;
  market_index: number;
  open_orders: number;
  position_flag: number;
}

export interface User {
  authority: string;
  delegate: string;
  name: number[];
  spot_positions: SpotPosition[];
  perp_positions: PerpPosition[];
  orders: (Order | null)[];
  total_deposits: bigint;
  total_withdraws: bigint;
  total_social_loss: bigint;
  settled_perp_pnl: bigint;
  cumulative_spot_fees: bigint;
  cumulative_perp_funding: bigint;
  liquidation_margin_freed: bigint;
  last_active_slot: bigint;
  next_order_id: number;
  max_margin_ratio: number;
  next_liquidation_id: number;
  sub_account_id: number;
  status: number;
  is_margin_trading_enabled: boolean;
  idle: boolean;
  has_open_order: boolean;
  open_orders: number;
  open_auctions: number;
  has_open_auction: boolean;
  pool_id: number;
}

export interface UserStats {
  authority: string;
  referrer: string;
  fees: {
    total_fee_paid: bigint;
    total_fee_rebate: bigint;
    total_token_discount: bigint;
    total_referee_discount: bigint;
  };
  maker_volume_30d: bigint;
  taker_volume_30d: bigint;
  filler_volume_30d: bigint;
  last_maker_volume_30d_ts: bigint;
  last_taker_volume_30d_ts: bigint;
  last_filler_volume_30d_ts: bigint;
  if_staked_quote_asset_amount: bigint;
  number_of_sub_accounts: number;
  number_of_sub_accounts_created: number;
  referrer_status: number;
  accelerated_referral_status: number;
}

export interface PoolBalance {
  scaled_balance: bigint;
  market_index: number;
}

export interface HistoricalOracleData {
  last_oracle_price: bigint;
  last_oracle_conf: bigint;
  last_oracle_delay: bigint;
  last_oracle_price_twap: bigint;
  last_oracle_price_twap_5min: bigint;
  last_oracle_price_twap_ts: bigint;
}

export interface PythLazerOracle {
  price: bigint;
  publish_time: bigint;
  posted_slot: bigint;
  exponent: number;
  conf: bigint;
}

/** Fees and rebates of one tier: all four are parts of a denominator. */
export interface FeeTier {
  fee_numerator: number;
  fee_denominator: number;
  maker_rebate_numerator: number;
  maker_rebate_denominator: number;
  referrer_reward_numerator: number;
  referrer_reward_denominator: number;
  referee_fee_numerator: number;
  referee_fee_denominator: number;
}
