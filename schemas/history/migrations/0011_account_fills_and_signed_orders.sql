-- Fills by account in the order of every list of fills: time, slot, fill id. A fill has a row for its taker and one for its
-- maker; `closes` says that it reduced, closed or flipped the position of the row's side. (market_type, market_index,
-- action, ts, slot, signature, event_index) finds the whole event in order_action.
CREATE TABLE IF NOT EXISTS {{database}}.`account_fill` {{onCluster}} (
  user FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  slot UInt64 CODEC(Delta, ZSTD(1)),
  fill_record_id UInt64 CODEC(Delta, ZSTD(1)),
  signature FixedString(64) CODEC(NONE),
  event_index UInt32,
  side LowCardinality(String),
  market_type LowCardinality(String),
  market_index UInt16,
  action LowCardinality(String),
  closes Bool,
  user_base58 String ALIAS base58Encode(user),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX market_index_index (market_type, market_index) TYPE set(64) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, fill_record_id, signature, event_index, side)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`account_fill_view` {{onCluster}} TO {{database}}.`account_fill` AS
SELECT
  assumeNotNull(if(side = 'taker', taker, maker)) AS user,
  ts,
  slot,
  ifNull(order_action.fill_record_id, 0) AS fill_record_id,
  signature,
  event_index,
  side,
  market_type,
  market_index,
  action,
  if(side = 'taker', isNotNull(taker_existing_quote_entry_amount) OR isNotNull(taker_existing_base_asset_amount),
    isNotNull(maker_existing_quote_entry_amount) OR isNotNull(maker_existing_base_asset_amount)) AS closes
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side
WHERE action = 'fill';

-- What is stored already. A row that the view stores meanwhile is the same row.
INSERT INTO {{database}}.`account_fill`
SELECT
  assumeNotNull(if(side = 'taker', taker, maker)) AS user,
  ts,
  slot,
  ifNull(order_action.fill_record_id, 0) AS fill_record_id,
  signature,
  event_index,
  side,
  market_type,
  market_index,
  action,
  if(side = 'taker', isNotNull(taker_existing_quote_entry_amount) OR isNotNull(taker_existing_base_asset_amount),
    isNotNull(maker_existing_quote_entry_amount) OR isNotNull(maker_existing_base_asset_amount)) AS closes
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side
WHERE action = 'fill';

-- The settings go by the names that the program gives them.
ALTER TABLE {{database}}.`market_update_v0` {{onCluster}}
  RENAME COLUMN IF EXISTS settings_before_order_tick_size TO before_order_tick_size,
  RENAME COLUMN IF EXISTS settings_before_order_step_size TO before_order_step_size,
  RENAME COLUMN IF EXISTS settings_before_min_order_size TO before_min_order_size,
  RENAME COLUMN IF EXISTS settings_before_blocking_min_size TO before_blocking_min_size,
  RENAME COLUMN IF EXISTS settings_before_default_activation_delay_slots TO before_default_activation_delay_slots,
  RENAME COLUMN IF EXISTS settings_before_max_activation_delay_slots TO before_max_activation_delay_slots,
  RENAME COLUMN IF EXISTS settings_before_unknown_user_grace_slots TO before_unknown_user_grace_slots,
  RENAME COLUMN IF EXISTS settings_before_evict_threshold_per_side TO before_evict_threshold_per_side,
  RENAME COLUMN IF EXISTS settings_before_max_quote_levels TO before_max_quote_levels,
  RENAME COLUMN IF EXISTS settings_before_max_execute_fills TO before_max_execute_fills,
  RENAME COLUMN IF EXISTS settings_before_max_execute_users TO before_max_execute_users,
  RENAME COLUMN IF EXISTS settings_before_reservation_grace_slots TO before_reservation_grace_slots,
  RENAME COLUMN IF EXISTS settings_after_order_tick_size TO after_order_tick_size,
  RENAME COLUMN IF EXISTS settings_after_order_step_size TO after_order_step_size,
  RENAME COLUMN IF EXISTS settings_after_min_order_size TO after_min_order_size,
  RENAME COLUMN IF EXISTS settings_after_blocking_min_size TO after_blocking_min_size,
  RENAME COLUMN IF EXISTS settings_after_default_activation_delay_slots TO after_default_activation_delay_slots,
  RENAME COLUMN IF EXISTS settings_after_max_activation_delay_slots TO after_max_activation_delay_slots,
  RENAME COLUMN IF EXISTS settings_after_unknown_user_grace_slots TO after_unknown_user_grace_slots,
  RENAME COLUMN IF EXISTS settings_after_evict_threshold_per_side TO after_evict_threshold_per_side,
  RENAME COLUMN IF EXISTS settings_after_max_quote_levels TO after_max_quote_levels,
  RENAME COLUMN IF EXISTS settings_after_max_execute_fills TO after_max_execute_fills,
  RENAME COLUMN IF EXISTS settings_after_max_execute_users TO after_max_execute_users,
  RENAME COLUMN IF EXISTS settings_after_reservation_grace_slots TO after_reservation_grace_slots;

-- Orders that takers signed off the chain, as they were placed.
CREATE TABLE IF NOT EXISTS {{database}}.`signed_msg_order` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  user FixedString(32) CODEC(ZSTD(1)),
  hash String CODEC(ZSTD(1)),
  matching_order_params_order_type LowCardinality(String),
  matching_order_params_market_type LowCardinality(String),
  matching_order_params_direction LowCardinality(String),
  matching_order_params_user_order_id UInt8,
  matching_order_params_base_asset_amount UInt64 CODEC(ZSTD(1)),
  matching_order_params_price UInt64 CODEC(Delta, ZSTD(1)),
  matching_order_params_market_index UInt16,
  matching_order_params_reduce_only Bool,
  matching_order_params_post_only LowCardinality(String),
  matching_order_params_bit_flags UInt8,
  matching_order_params_max_ts Nullable(Int64) CODEC(Delta, ZSTD(1)),
  matching_order_params_trigger_price Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  matching_order_params_trigger_condition LowCardinality(String),
  matching_order_params_oracle_price_offset Nullable(Int64) CODEC(ZSTD(1)),
  matching_order_params_activation_delay_slots Nullable(UInt32),
  matching_order_params_builder_idx Nullable(UInt8),
  matching_order_params_builder_fee_tenth_bps Nullable(UInt16),
  user_order_id UInt32,
  signed_msg_order_max_slot UInt64 CODEC(Delta, ZSTD(1)),
  signed_msg_order_uuid FixedString(8) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  matching_order_params_auction_duration Nullable(UInt8),
  matching_order_params_auction_start_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  matching_order_params_auction_end_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  user_base58 String ALIAS base58Encode(user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
