-- How the tables that serve pages lie on disk. A page is some fifty rows with every column of the event: what it costs is opening the columns and
-- reading the granules around the rows. So granules are small, all columns of a part are one file up to a size, and codecs are
-- quick, which makes inserts and merges cheaper too (most of an event is keys and noise, which none makes small). Parts that were
-- there stay as they are until they are merged.

CREATE TABLE IF NOT EXISTS {{database}}.`order_action_next` {{onCluster}} (
  signature FixedString(64) CODEC(NONE),
  event_index UInt32,
  slot UInt64 CODEC(Delta, LZ4),
  tx_index Nullable(UInt32),
  ts Int64 CODEC(Delta, LZ4),
  action LowCardinality(String),
  action_explanation LowCardinality(String),
  market_index UInt16,
  market_type LowCardinality(String),
  filler Nullable(FixedString(32)),
  filler_reward Nullable(UInt64),
  fill_record_id Nullable(UInt64) CODEC(Delta, LZ4),
  base_asset_amount_filled Nullable(UInt64),
  quote_asset_amount_filled Nullable(UInt64),
  taker_fee Nullable(UInt64),
  maker_fee Nullable(Int64),
  referrer_reward Nullable(UInt32),
  quote_asset_amount_surplus Nullable(Int64),
  spot_fulfillment_method_fee Nullable(UInt64),
  taker Nullable(FixedString(32)),
  taker_order_id Nullable(UInt32),
  taker_order_direction LowCardinality(Nullable(String)),
  taker_order_base_asset_amount Nullable(UInt64),
  taker_order_cumulative_base_asset_amount_filled Nullable(UInt64) CODEC(Delta, LZ4),
  taker_order_cumulative_quote_asset_amount_filled Nullable(UInt64) CODEC(Delta, LZ4),
  maker Nullable(FixedString(32)),
  maker_order_id Nullable(UInt32),
  maker_order_direction LowCardinality(Nullable(String)),
  maker_order_base_asset_amount Nullable(UInt64),
  maker_order_cumulative_base_asset_amount_filled Nullable(UInt64) CODEC(Delta, LZ4),
  maker_order_cumulative_quote_asset_amount_filled Nullable(UInt64) CODEC(Delta, LZ4),
  oracle_price Int64 CODEC(Delta, LZ4),
  bit_flags UInt8,
  taker_existing_quote_entry_amount Nullable(UInt64),
  taker_existing_base_asset_amount Nullable(UInt64),
  maker_existing_quote_entry_amount Nullable(UInt64),
  maker_existing_base_asset_amount Nullable(UInt64),
  trigger_price Nullable(UInt64) CODEC(Delta, LZ4),
  builder_idx Nullable(UInt8),
  builder_fee Nullable(UInt64),
  signature_base58 String ALIAS base58Encode(signature),
  filler_base58 Nullable(String) ALIAS base58Encode(filler),
  taker_base58 Nullable(String) ALIAS base58Encode(taker),
  maker_base58 Nullable(String) ALIAS base58Encode(maker),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, action, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}}, index_granularity = 2048, min_bytes_for_wide_part = 268435456;

-- The new table takes the name before it is given the parts of the old one, so that no insert goes past it.
EXCHANGE TABLES {{database}}.`order_action` AND {{database}}.`order_action_next` {{onCluster}};

ALTER TABLE {{database}}.`order_action` {{onCluster}} ATTACH PARTITION ALL FROM {{database}}.`order_action_next`;

DROP TABLE IF EXISTS {{database}}.`order_action_next` {{onCluster}} SYNC;

-- A page of candles is a thousand rows of few columns.
CREATE TABLE IF NOT EXISTS {{database}}.`candle_next` {{onCluster}} AS {{database}}.`candle`
ENGINE = {{replacingMergeTree}}(version)
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, resolution, ts)
SETTINGS {{deduplicationWindow}}, index_granularity = 1024;

EXCHANGE TABLES {{database}}.`candle` AND {{database}}.`candle_next` {{onCluster}};

ALTER TABLE {{database}}.`candle` {{onCluster}} ATTACH PARTITION ALL FROM {{database}}.`candle_next`;

DROP TABLE IF EXISTS {{database}}.`candle_next` {{onCluster}} SYNC;
