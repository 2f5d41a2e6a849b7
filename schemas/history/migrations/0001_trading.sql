-- Orders and fills of both programs. One row per program event; identity is (signature, event_index).

-- Trades of a market are its fills: action = 'fill'.
CREATE TABLE IF NOT EXISTS {{database}}.`order_action` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  action LowCardinality(String),
  action_explanation LowCardinality(String),
  market_index UInt16,
  market_type LowCardinality(String),
  filler Nullable(FixedString(32)) CODEC(ZSTD(1)),
  filler_reward Nullable(UInt64) CODEC(ZSTD(1)),
  fill_record_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  base_asset_amount_filled Nullable(UInt64) CODEC(ZSTD(1)),
  quote_asset_amount_filled Nullable(UInt64) CODEC(ZSTD(1)),
  taker_fee Nullable(UInt64) CODEC(ZSTD(1)),
  maker_fee Nullable(Int64) CODEC(ZSTD(1)),
  referrer_reward Nullable(UInt32),
  quote_asset_amount_surplus Nullable(Int64) CODEC(ZSTD(1)),
  spot_fulfillment_method_fee Nullable(UInt64) CODEC(ZSTD(1)),
  taker Nullable(FixedString(32)) CODEC(ZSTD(1)),
  taker_order_id Nullable(UInt32),
  taker_order_direction LowCardinality(Nullable(String)),
  taker_order_base_asset_amount Nullable(UInt64) CODEC(ZSTD(1)),
  taker_order_cumulative_base_asset_amount_filled Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  taker_order_cumulative_quote_asset_amount_filled Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  maker Nullable(FixedString(32)) CODEC(ZSTD(1)),
  maker_order_id Nullable(UInt32),
  maker_order_direction LowCardinality(Nullable(String)),
  maker_order_base_asset_amount Nullable(UInt64) CODEC(ZSTD(1)),
  maker_order_cumulative_base_asset_amount_filled Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  maker_order_cumulative_quote_asset_amount_filled Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  oracle_price Int64 CODEC(Delta, ZSTD(1)),
  bit_flags UInt8,
  taker_existing_quote_entry_amount Nullable(UInt64) CODEC(ZSTD(1)),
  taker_existing_base_asset_amount Nullable(UInt64) CODEC(ZSTD(1)),
  maker_existing_quote_entry_amount Nullable(UInt64) CODEC(ZSTD(1)),
  maker_existing_base_asset_amount Nullable(UInt64) CODEC(ZSTD(1)),
  trigger_price Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  builder_idx Nullable(UInt8),
  builder_fee Nullable(UInt64) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  filler_base58 Nullable(String) ALIAS base58Encode(filler),
  taker_base58 Nullable(String) ALIAS base58Encode(taker),
  maker_base58 Nullable(String) ALIAS base58Encode(maker),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX taker_index taker TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX maker_index maker TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, action, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`order` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  user FixedString(32) CODEC(ZSTD(1)),
  order_slot UInt64 CODEC(Delta, ZSTD(1)),
  order_price UInt64 CODEC(Delta, ZSTD(1)),
  order_base_asset_amount UInt64 CODEC(ZSTD(1)),
  order_base_asset_amount_filled UInt64 CODEC(ZSTD(1)),
  order_quote_asset_amount_filled UInt64 CODEC(ZSTD(1)),
  order_trigger_price UInt64 CODEC(Delta, ZSTD(1)),
  order_clob_node_index Nullable(Int64) CODEC(ZSTD(1)),
  order_clob_order_id Nullable(Int64) CODEC(Delta, ZSTD(1)),
  order_max_ts Int64 CODEC(Delta, ZSTD(1)),
  order_oracle_price_offset Int64 CODEC(Delta, ZSTD(1)),
  order_order_id UInt32,
  order_market_index UInt16,
  order_status LowCardinality(String),
  order_order_type LowCardinality(String),
  order_market_type LowCardinality(String),
  order_user_order_id UInt8,
  order_existing_position_direction LowCardinality(String),
  order_direction LowCardinality(String),
  order_reduce_only Bool,
  order_post_only Bool,
  order_immediate_or_cancel Bool,
  order_trigger_condition LowCardinality(String),
  order_unused_auction_duration Nullable(UInt8),
  order_posted_slot_tail UInt8,
  order_bit_flags UInt8,
  order_auction_start_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  order_auction_end_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  order_auction_duration Nullable(UInt8),
  signature_base58 String ALIAS base58Encode(signature),
  user_base58 String ALIAS base58Encode(user),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`taker_origin_cross_v1` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  taker FixedString(32) CODEC(ZSTD(1)),
  filler FixedString(32) CODEC(ZSTD(1)),
  base_asset_amount UInt64 CODEC(ZSTD(1)),
  quote_asset_amount UInt64 CODEC(ZSTD(1)),
  rest_price UInt64 CODEC(Delta, ZSTD(1)),
  fill_price UInt64 CODEC(Delta, ZSTD(1)),
  improvement UInt64 CODEC(ZSTD(1)),
  crank_reward UInt64 CODEC(ZSTD(1)),
  remainder_base UInt64 CODEC(ZSTD(1)),
  clob_order_id UInt64 CODEC(Delta, ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  taker_base58 String ALIAS base58Encode(taker),
  filler_base58 String ALIAS base58Encode(filler),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX taker_index taker TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`order_place_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  order_id UInt64 CODEC(Delta, ZSTD(1)),
  activation_slot UInt64 CODEC(Delta, ZSTD(1)),
  max_ts Int64 CODEC(Delta, ZSTD(1)),
  price UInt64 CODEC(Delta, ZSTD(1)),
  base_asset_amount UInt64 CODEC(ZSTD(1)),
  node_index UInt32,
  client_order_id UInt32,
  market_index UInt16,
  sub_account_id UInt16,
  side UInt8,
  flags UInt8,
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX authority_index authority TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`order_cancel_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  order_id UInt64 CODEC(Delta, ZSTD(1)),
  price UInt64 CODEC(Delta, ZSTD(1)),
  base_asset_amount UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  sub_account_id UInt16,
  client_order_id UInt32,
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX authority_index authority TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`order_evict_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  order_id UInt64 CODEC(Delta, ZSTD(1)),
  price UInt64 CODEC(Delta, ZSTD(1)),
  base_asset_amount UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  sub_account_id UInt16,
  client_order_id UInt32,
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`order_expire_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  order_id UInt64 CODEC(Delta, ZSTD(1)),
  price UInt64 CODEC(Delta, ZSTD(1)),
  base_asset_amount UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  sub_account_id UInt16,
  client_order_id UInt32,
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`orders_cancel_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  authority FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  bid_base UInt64 CODEC(ZSTD(1)),
  ask_base UInt64 CODEC(ZSTD(1)),
  market_index UInt16,
  sub_account_id UInt16,
  sides UInt8,
  exhaustive Bool,
  client_order_ids Array(UInt32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  authority_base58 String ALIAS base58Encode(authority),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`execute_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  direction UInt8,
  fills_order_id Array(UInt64) CODEC(ZSTD(1)),
  fills_base_size Array(UInt64) CODEC(ZSTD(1)),
  fills_client_order_id Array(UInt32) CODEC(ZSTD(1)),
  cancelled_client_order_ids Array(UInt32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE TABLE IF NOT EXISTS {{database}}.`fill_v0` {{onCluster}} (
  signature FixedString(64) CODEC(ZSTD(1)),
  event_index UInt32,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, ZSTD(1)),
  record_slot UInt64 CODEC(Delta, ZSTD(1)),
  market_index UInt16,
  fills_order_id Array(UInt64) CODEC(ZSTD(1)),
  fills_owner Array(FixedString(32)) CODEC(ZSTD(1)),
  fills_price Array(UInt64) CODEC(ZSTD(1)),
  fills_base_size Array(UInt64) CODEC(ZSTD(1)),
  fills_client_order_id Array(UInt32) CODEC(ZSTD(1)),
  cancelled_client_order_ids Array(UInt32) CODEC(ZSTD(1)),
  signature_base58 String ALIAS base58Encode(signature),
  fills_owner_base58 Array(String) ALIAS arrayMap(key -> base58Encode(key), fills_owner),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};
