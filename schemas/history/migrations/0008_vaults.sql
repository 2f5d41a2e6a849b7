-- Events of the vault program.

CREATE TABLE IF NOT EXISTS {{database}}.`vault` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  spot_market_index UInt16,
  vault_equity_before UInt64 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (spot_market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`vault_depositor` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  vault FixedString(32) CODEC(ZSTD(1)),
  depositor_authority FixedString(32) CODEC(ZSTD(1)),
  action LowCardinality(String),
  amount UInt64 CODEC(ZSTD(1)),
  spot_market_index UInt16,
  vault_shares_before UInt128 CODEC(ZSTD(1)),
  vault_shares_after UInt128 CODEC(ZSTD(1)),
  vault_equity_before UInt64 CODEC(ZSTD(1)),
  user_vault_shares_before UInt128 CODEC(ZSTD(1)),
  total_vault_shares_before UInt128 CODEC(ZSTD(1)),
  user_vault_shares_after UInt128 CODEC(ZSTD(1)),
  total_vault_shares_after UInt128 CODEC(ZSTD(1)),
  profit_share UInt64 CODEC(ZSTD(1)),
  management_fee Int64 CODEC(ZSTD(1)),
  management_fee_shares Int64 CODEC(ZSTD(1)),
  deposit_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  vault_base58 String ALIAS base58Encode(vault),
  depositor_authority_base58 String ALIAS base58Encode(depositor_authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (vault, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`vault_depositor_v1` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  vault FixedString(32) CODEC(ZSTD(1)),
  depositor_authority FixedString(32) CODEC(ZSTD(1)),
  action LowCardinality(String),
  amount UInt64 CODEC(ZSTD(1)),
  spot_market_index UInt16,
  vault_shares_before UInt128 CODEC(ZSTD(1)),
  vault_shares_after UInt128 CODEC(ZSTD(1)),
  vault_equity_before UInt64 CODEC(ZSTD(1)),
  user_vault_shares_before UInt128 CODEC(ZSTD(1)),
  total_vault_shares_before UInt128 CODEC(ZSTD(1)),
  user_vault_shares_after UInt128 CODEC(ZSTD(1)),
  total_vault_shares_after UInt128 CODEC(ZSTD(1)),
  protocol_shares_before UInt128 CODEC(ZSTD(1)),
  protocol_shares_after UInt128 CODEC(ZSTD(1)),
  protocol_profit_share UInt64 CODEC(ZSTD(1)),
  protocol_fee Int64 CODEC(ZSTD(1)),
  protocol_fee_shares Int64 CODEC(ZSTD(1)),
  manager_profit_share UInt64 CODEC(ZSTD(1)),
  management_fee Int64 CODEC(ZSTD(1)),
  management_fee_shares Int64 CODEC(ZSTD(1)),
  deposit_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  vault_base58 String ALIAS base58Encode(vault),
  depositor_authority_base58 String ALIAS base58Encode(depositor_authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (vault, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`share_transfer` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  vault FixedString(32) CODEC(ZSTD(1)),
  from_vault_depositor FixedString(32) CODEC(ZSTD(1)),
  to_vault_depositor FixedString(32) CODEC(ZSTD(1)),
  shares UInt128 CODEC(ZSTD(1)),
  value UInt64 CODEC(ZSTD(1)),
  from_depositor_shares_before UInt128 CODEC(ZSTD(1)),
  from_depositor_shares_after UInt128 CODEC(ZSTD(1)),
  to_depositor_shares_before UInt128 CODEC(ZSTD(1)),
  to_depositor_shares_after UInt128 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  vault_base58 String ALIAS base58Encode(vault),
  from_vault_depositor_base58 String ALIAS base58Encode(from_vault_depositor),
  to_vault_depositor_base58 String ALIAS base58Encode(to_vault_depositor),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (vault, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`fuel_season` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  authority FixedString(32) CODEC(ZSTD(1)),
  fuel_insurance UInt128 CODEC(ZSTD(1)),
  fuel_deposits UInt128 CODEC(ZSTD(1)),
  fuel_borrows UInt128 CODEC(ZSTD(1)),
  fuel_positions UInt128 CODEC(ZSTD(1)),
  fuel_taker UInt128 CODEC(ZSTD(1)),
  fuel_maker UInt128 CODEC(ZSTD(1)),
  fuel_total UInt128 CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (authority, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
