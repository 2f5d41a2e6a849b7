-- Liquidity pools, and program events whose body is not known.

CREATE TABLE IF NOT EXISTS {{database}}.`lp_settle` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  record_id UInt64 CODEC(Delta, ZSTD(1)),
  last_ts Int64 CODEC(Delta, ZSTD(1)),
  last_slot UInt64 CODEC(Delta, ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  perp_market_index UInt16,
  settle_to_lp_amount Int64 CODEC(ZSTD(1)),
  perp_amm_pnl_delta Int64 CODEC(ZSTD(1)),
  perp_amm_ex_fee_delta Int64 CODEC(ZSTD(1)),
  lp_aum UInt128 CODEC(ZSTD(1)),
  lp_price UInt128 CODEC(ZSTD(1)),
  lp_pool FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  lp_pool_base58 String ALIAS base58Encode(lp_pool),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (perp_market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`lp_swap` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  out_amount UInt128 CODEC(ZSTD(1)),
  in_amount UInt128 CODEC(ZSTD(1)),
  out_fee Int128 CODEC(ZSTD(1)),
  in_fee Int128 CODEC(ZSTD(1)),
  out_spot_market_index UInt16,
  in_spot_market_index UInt16,
  out_constituent_index UInt16,
  in_constituent_index UInt16,
  out_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  in_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  last_aum UInt128 CODEC(ZSTD(1)),
  last_aum_slot UInt64 CODEC(Delta, ZSTD(1)),
  in_market_current_weight Int64 CODEC(ZSTD(1)),
  out_market_current_weight Int64 CODEC(ZSTD(1)),
  in_market_target_weight Int64 CODEC(ZSTD(1)),
  out_market_target_weight Int64 CODEC(ZSTD(1)),
  in_swap_id UInt64 CODEC(Delta, ZSTD(1)),
  out_swap_id UInt64 CODEC(Delta, ZSTD(1)),
  lp_pool FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  lp_pool_base58 String ALIAS base58Encode(lp_pool),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (authority, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`lp_mint_redeem` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  description UInt8,
  amount UInt128 CODEC(ZSTD(1)),
  fee Int128 CODEC(ZSTD(1)),
  spot_market_index UInt16,
  constituent_index UInt16,
  oracle_price Int64 CODEC(Delta, ZSTD(1)),
  mint FixedString(32) CODEC(ZSTD(1)),
  lp_amount UInt64 CODEC(ZSTD(1)),
  lp_fee Int64 CODEC(ZSTD(1)),
  lp_price UInt128 CODEC(ZSTD(1)),
  mint_redeem_id UInt64 CODEC(Delta, ZSTD(1)),
  last_aum UInt128 CODEC(ZSTD(1)),
  last_aum_slot UInt64 CODEC(Delta, ZSTD(1)),
  in_market_current_weight Int64 CODEC(ZSTD(1)),
  in_market_target_weight Int64 CODEC(ZSTD(1)),
  lp_pool FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  mint_base58 String ALIAS base58Encode(mint),
  lp_pool_base58 String ALIAS base58Encode(lp_pool),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (authority, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`lp_borrow_lend_deposit` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  spot_market_index UInt16,
  constituent_index UInt16,
  direction LowCardinality(String),
  token_balance Int64 CODEC(ZSTD(1)),
  last_token_balance Int64 CODEC(ZSTD(1)),
  interest_accrued_token_amount Int64 CODEC(Delta, ZSTD(1)),
  amount_deposit_withdraw UInt64 CODEC(ZSTD(1)),
  lp_pool FixedString(32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  lp_pool_base58 String ALIAS base58Encode(lp_pool),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (lp_pool, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`unknown` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  program FixedString(32) CODEC(ZSTD(1)),
  discriminator FixedString(8) CODEC(ZSTD(1)),
  record_name Nullable(String) CODEC(ZSTD(1)),
  raw String CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  program_base58 String ALIAS base58Encode(program)
)
ENGINE = {{replacingMergeTree}}
-- About a month of slots.
PARTITION BY intDiv(slot, 6480000)
ORDER BY (program, discriminator, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
