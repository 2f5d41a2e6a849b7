-- What happens to accounts: balances, profit and loss, liquidations. Ordered by whom it concerns.

CREATE TABLE IF NOT EXISTS {{database}}.`new_user` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user_authority FixedString(32) CODEC(ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  sub_account_id UInt16,
  name FixedString(32) CODEC(ZSTD(1)),
  referrer FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_authority_base58 String ALIAS base58Encode(user_authority),
  user_base58 String ALIAS base58Encode(user),
  referrer_base58 String ALIAS base58Encode(referrer),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user_authority, user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`delete_user` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user_authority FixedString(32) CODEC(ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  sub_account_id UInt16,
  keeper Nullable(FixedString(32)) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_authority_base58 String ALIAS base58Encode(user_authority),
  user_base58 String ALIAS base58Encode(user),
  keeper_base58 Nullable(String) ALIAS base58Encode(keeper),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user_authority, user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`deposit` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user_authority FixedString(32) CODEC(ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  direction LowCardinality(String),
  deposit_record_id UInt64 CODEC(Delta, ZSTD(1)),
  amount UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  oracle_price Int64 CODEC(Delta, ZSTD(1)),
  market_deposit_balance UInt128 CODEC(ZSTD(1)),
  market_withdraw_balance UInt128 CODEC(ZSTD(1)),
  market_cumulative_deposit_interest UInt128 CODEC(ZSTD(1)),
  market_cumulative_borrow_interest UInt128 CODEC(ZSTD(1)),
  total_deposits_after UInt64 CODEC(ZSTD(1)),
  total_withdraws_after UInt64 CODEC(ZSTD(1)),
  explanation LowCardinality(String),
  transfer_user Nullable(FixedString(32)) CODEC(ZSTD(1)),
  signer Nullable(FixedString(32)) CODEC(ZSTD(1)),
  user_token_amount_after Nullable(Int128) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_authority_base58 String ALIAS base58Encode(user_authority),
  user_base58 String ALIAS base58Encode(user),
  transfer_user_base58 Nullable(String) ALIAS base58Encode(transfer_user),
  signer_base58 Nullable(String) ALIAS base58Encode(signer),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX user_authority_index user_authority TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`swap` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  amount_out UInt64 CODEC(ZSTD(1)),
  amount_in UInt64 CODEC(ZSTD(1)),
  out_market_index UInt16,
  in_market_index UInt16,
  out_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  in_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  fee UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_base58 String ALIAS base58Encode(user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`funding_payment` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user_authority FixedString(32) CODEC(ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  market_index UInt16,
  funding_payment Int64 CODEC(ZSTD(1)),
  base_asset_amount Int64 CODEC(ZSTD(1)),
  user_last_cumulative_funding Int64 CODEC(Delta, ZSTD(1)),
  amm_cumulative_funding_long Int128 CODEC(ZSTD(1)),
  amm_cumulative_funding_short Int128 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_authority_base58 String ALIAS base58Encode(user_authority),
  user_base58 String ALIAS base58Encode(user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX user_authority_index user_authority TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`settle_pnl` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  market_index UInt16,
  pnl Int128 CODEC(ZSTD(1)),
  base_asset_amount Int64 CODEC(ZSTD(1)),
  quote_asset_amount_after Int64 CODEC(ZSTD(1)),
  quote_entry_amount Int64 CODEC(ZSTD(1)),
  settle_price Int64 CODEC(Delta, ZSTD(1)),
  explanation LowCardinality(String),
  signature_base58 String ALIAS base58Encode(signature),
  user_base58 String ALIAS base58Encode(user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`liquidation` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  liquidation_type LowCardinality(String),
  user FixedString(32) CODEC(ZSTD(1)),
  liquidator FixedString(32) CODEC(ZSTD(1)),
  margin_requirement UInt128 CODEC(ZSTD(1)),
  total_collateral Int128 CODEC(ZSTD(1)),
  margin_freed UInt64 CODEC(ZSTD(1)),
  liquidation_id UInt16,
  bankrupt Bool,
  canceled_order_ids Array(UInt32) CODEC(ZSTD(1)),
  liquidate_perp_market_index UInt16,
  liquidate_perp_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_perp_base_asset_amount Int64 CODEC(ZSTD(1)),
  liquidate_perp_quote_asset_amount Int64 CODEC(ZSTD(1)),
  liquidate_perp_fill_record_id UInt64 CODEC(Delta, ZSTD(1)),
  liquidate_perp_user_order_id UInt32,
  liquidate_perp_liquidator_order_id UInt32,
  liquidate_perp_liquidator_fee UInt64 CODEC(ZSTD(1)),
  liquidate_perp_if_fee UInt64 CODEC(ZSTD(1)),
  liquidate_perp_protocol_fee Nullable(UInt64) CODEC(ZSTD(1)),
  liquidate_spot_asset_market_index UInt16,
  liquidate_spot_asset_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_spot_asset_transfer UInt128 CODEC(ZSTD(1)),
  liquidate_spot_liability_market_index UInt16,
  liquidate_spot_liability_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_spot_liability_transfer UInt128 CODEC(ZSTD(1)),
  liquidate_spot_if_fee UInt64 CODEC(ZSTD(1)),
  liquidate_spot_protocol_fee Nullable(UInt64) CODEC(ZSTD(1)),
  liquidate_borrow_for_perp_pnl_perp_market_index UInt16,
  liquidate_borrow_for_perp_pnl_market_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_borrow_for_perp_pnl_pnl_transfer UInt128 CODEC(ZSTD(1)),
  liquidate_borrow_for_perp_pnl_liability_market_index UInt16,
  liquidate_borrow_for_perp_pnl_liability_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_borrow_for_perp_pnl_liability_transfer UInt128 CODEC(ZSTD(1)),
  liquidate_perp_pnl_for_deposit_perp_market_index UInt16,
  liquidate_perp_pnl_for_deposit_market_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_perp_pnl_for_deposit_pnl_transfer UInt128 CODEC(ZSTD(1)),
  liquidate_perp_pnl_for_deposit_asset_market_index UInt16,
  liquidate_perp_pnl_for_deposit_asset_price Int64 CODEC(Delta, ZSTD(1)),
  liquidate_perp_pnl_for_deposit_asset_transfer UInt128 CODEC(ZSTD(1)),
  perp_bankruptcy_market_index UInt16,
  perp_bankruptcy_pnl Int128 CODEC(ZSTD(1)),
  perp_bankruptcy_if_payment UInt128 CODEC(ZSTD(1)),
  perp_bankruptcy_clawback_user Nullable(FixedString(32)) CODEC(ZSTD(1)),
  perp_bankruptcy_clawback_user_payment Nullable(UInt128) CODEC(ZSTD(1)),
  perp_bankruptcy_cumulative_funding_rate_delta Int128 CODEC(ZSTD(1)),
  spot_bankruptcy_market_index UInt16,
  spot_bankruptcy_borrow_amount UInt128 CODEC(ZSTD(1)),
  spot_bankruptcy_if_payment UInt128 CODEC(ZSTD(1)),
  spot_bankruptcy_cumulative_deposit_interest_delta UInt128 CODEC(ZSTD(1)),
  bit_flags Nullable(UInt8),
  liquidate_perp_lp_shares Nullable(UInt64) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_base58 String ALIAS base58Encode(user),
  liquidator_base58 String ALIAS base58Encode(liquidator),
  perp_bankruptcy_clawback_user_base58 Nullable(String) ALIAS base58Encode(perp_bankruptcy_clawback_user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX liquidator_index liquidator TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`insurance_fund_stake` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user_authority FixedString(32) CODEC(ZSTD(1)),
  action LowCardinality(String),
  amount UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  insurance_vault_amount_before UInt64 CODEC(ZSTD(1)),
  if_shares_before UInt128 CODEC(ZSTD(1)),
  user_if_shares_before UInt128 CODEC(ZSTD(1)),
  total_if_shares_before UInt128 CODEC(ZSTD(1)),
  if_shares_after UInt128 CODEC(ZSTD(1)),
  user_if_shares_after UInt128 CODEC(ZSTD(1)),
  total_if_shares_after UInt128 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_authority_base58 String ALIAS base58Encode(user_authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user_authority, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`revenue_share_settle` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  builder Nullable(FixedString(32)) CODEC(ZSTD(1)),
  referrer Nullable(FixedString(32)) CODEC(ZSTD(1)),
  fee_settled UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  market_type LowCardinality(String),
  builder_sub_account_id UInt16,
  builder_total_referrer_rewards UInt64 CODEC(ZSTD(1)),
  builder_total_builder_rewards UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  builder_base58 Nullable(String) ALIAS base58Encode(builder),
  referrer_base58 Nullable(String) ALIAS base58Encode(referrer),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`accelerated_referral_status_changed_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  previous_status UInt8,
  new_status UInt8,
  action LowCardinality(String),
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (authority, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
