-- What happens to markets: funding, interest, the AMM curve, insurance, fees, settings of market-level books.

CREATE TABLE IF NOT EXISTS {{database}}.`funding_rate` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_id UInt64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  funding_rate Int64 CODEC(ZSTD(1)),
  funding_rate_long Int128 CODEC(ZSTD(1)),
  funding_rate_short Int128 CODEC(ZSTD(1)),
  cumulative_funding_rate_long Int128 CODEC(ZSTD(1)),
  cumulative_funding_rate_short Int128 CODEC(ZSTD(1)),
  oracle_price_twap Int64 CODEC(Delta, ZSTD(1)),
  mark_price_twap UInt64 CODEC(Delta, ZSTD(1)),
  base_asset_amount_with_amm Int128 CODEC(ZSTD(1)),
  period_revenue Nullable(Int64) CODEC(ZSTD(1)),
  base_asset_amount_with_unsettled_lp Nullable(Int128) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`spot_interest` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  deposit_balance UInt128 CODEC(ZSTD(1)),
  cumulative_deposit_interest UInt128 CODEC(ZSTD(1)),
  borrow_balance UInt128 CODEC(ZSTD(1)),
  cumulative_borrow_interest UInt128 CODEC(ZSTD(1)),
  optimal_utilization UInt32,
  optimal_borrow_rate UInt32,
  max_borrow_rate UInt32,
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`amm_curve_changed` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  peg_multiplier_before UInt128 CODEC(ZSTD(1)),
  base_asset_reserve_before UInt128 CODEC(ZSTD(1)),
  quote_asset_reserve_before UInt128 CODEC(ZSTD(1)),
  sqrt_k_before UInt128 CODEC(ZSTD(1)),
  peg_multiplier_after UInt128 CODEC(ZSTD(1)),
  base_asset_reserve_after UInt128 CODEC(ZSTD(1)),
  quote_asset_reserve_after UInt128 CODEC(ZSTD(1)),
  sqrt_k_after UInt128 CODEC(ZSTD(1)),
  adjustment_cost Int128 CODEC(ZSTD(1)),
  total_fee_minus_distributions_after Int128 CODEC(ZSTD(1)),
  oracle_price Int64 CODEC(Delta, ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`insurance_fund` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  spot_market_index UInt16,
  perp_market_index UInt16,
  user_if_factor UInt32,
  total_if_factor UInt32,
  vault_amount_before UInt64 CODEC(ZSTD(1)),
  insurance_vault_amount_before UInt64 CODEC(ZSTD(1)),
  total_if_shares_before UInt128 CODEC(ZSTD(1)),
  total_if_shares_after UInt128 CODEC(ZSTD(1)),
  amount Int64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (spot_market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`spot_market_vault_deposit` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  deposit_balance UInt128 CODEC(ZSTD(1)),
  cumulative_deposit_interest_before UInt128 CODEC(ZSTD(1)),
  cumulative_deposit_interest_after UInt128 CODEC(ZSTD(1)),
  deposit_token_amount_before UInt64 CODEC(ZSTD(1)),
  amount UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`perp_market_fee_sweep` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  if_swept UInt64 CODEC(ZSTD(1)),
  protocol_swept UInt64 CODEC(ZSTD(1)),
  amm_provision_tokenized UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`protocol_fee_withdraw` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  is_perp Bool,
  spot_market_index UInt16,
  amount UInt64 CODEC(ZSTD(1)),
  recipient_token_account FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  recipient_token_account_base58 String ALIAS base58Encode(recipient_token_account),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (is_perp, market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`protocol_user_withdraw_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  spot_market_index UInt16,
  amount UInt64 CODEC(ZSTD(1)),
  protocol_user FixedString(32) CODEC(ZSTD(1)),
  recipient_token_account FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  protocol_user_base58 String ALIAS base58Encode(protocol_user),
  recipient_token_account_base58 String ALIAS base58Encode(recipient_token_account),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (spot_market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`transfer_fee_and_pnl_pool` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  perp_market_index_with_fee_pool UInt16,
  perp_market_index_with_pnl_pool UInt16,
  direction LowCardinality(String),
  amount UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (perp_market_index_with_fee_pool, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`market_initialize_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  market FixedString(32) CODEC(ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  place_authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  base_precision UInt64 CODEC(ZSTD(1)),
  capacity UInt32,
  market_index UInt16,
  settings_order_tick_size UInt64 CODEC(ZSTD(1)),
  settings_order_step_size UInt64 CODEC(ZSTD(1)),
  settings_min_order_size UInt64 CODEC(ZSTD(1)),
  settings_blocking_min_size UInt64 CODEC(ZSTD(1)),
  settings_default_activation_delay_slots UInt32,
  settings_max_activation_delay_slots UInt32,
  settings_unknown_user_grace_slots UInt32,
  settings_evict_threshold_per_side UInt32,
  settings_max_quote_levels UInt16,
  settings_max_execute_fills UInt16,
  settings_max_execute_users UInt16,
  settings_reservation_grace_slots UInt16,
  signature_base58 String ALIAS base58Encode(signature),
  market_base58 String ALIAS base58Encode(market),
  authority_base58 String ALIAS base58Encode(authority),
  place_authority_base58 String ALIAS base58Encode(place_authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`market_update_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  market FixedString(32) CODEC(ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  settings_before_order_tick_size UInt64 CODEC(ZSTD(1)),
  settings_before_order_step_size UInt64 CODEC(ZSTD(1)),
  settings_before_min_order_size UInt64 CODEC(ZSTD(1)),
  settings_before_blocking_min_size UInt64 CODEC(ZSTD(1)),
  settings_before_default_activation_delay_slots UInt32,
  settings_before_max_activation_delay_slots UInt32,
  settings_before_unknown_user_grace_slots UInt32,
  settings_before_evict_threshold_per_side UInt32,
  settings_before_max_quote_levels UInt16,
  settings_before_max_execute_fills UInt16,
  settings_before_max_execute_users UInt16,
  settings_before_reservation_grace_slots UInt16,
  settings_after_order_tick_size UInt64 CODEC(ZSTD(1)),
  settings_after_order_step_size UInt64 CODEC(ZSTD(1)),
  settings_after_min_order_size UInt64 CODEC(ZSTD(1)),
  settings_after_blocking_min_size UInt64 CODEC(ZSTD(1)),
  settings_after_default_activation_delay_slots UInt32,
  settings_after_max_activation_delay_slots UInt32,
  settings_after_unknown_user_grace_slots UInt32,
  settings_after_evict_threshold_per_side UInt32,
  settings_after_max_quote_levels UInt16,
  settings_after_max_execute_fills UInt16,
  settings_after_max_execute_users UInt16,
  settings_after_reservation_grace_slots UInt16,
  signature_base58 String ALIAS base58Encode(signature),
  market_base58 String ALIAS base58Encode(market),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`market_resize_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  market FixedString(32) CODEC(ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  previous_capacity UInt32,
  capacity UInt32,
  signature_base58 String ALIAS base58Encode(signature),
  market_base58 String ALIAS base58Encode(market),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
