-- What reducers make of the log, and which parts of the history are complete. Rows are absolute: the newest of a key counts.

-- How each market stood, by block time, about every 50 slots. Prices and spreads 1e6, base 1e9.
CREATE TABLE IF NOT EXISTS {{database}}.`market_sample` {{onCluster}} (
  market_type LowCardinality(String),
  market_index UInt16,
  slot UInt64 CODEC(Delta, ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  oracle_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_high Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_low Nullable(Int64) CODEC(Delta, ZSTD(1)),
  bid_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  ask_price Nullable(Int64) CODEC(Delta, ZSTD(1)),
  long_spread UInt32 CODEC(ZSTD(1)),
  short_spread UInt32 CODEC(ZSTD(1)),
  base_asset_amount_with_amm Int128 CODEC(ZSTD(1)),
  open_interest_long Int128 CODEC(ZSTD(1)),
  open_interest_short Int128 CODEC(ZSTD(1)),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, ts, slot)
SETTINGS {{deduplicationWindow}};

-- Candles as the topic views.candles has them. ts: start of the bucket. Prices and quote 1e6, base 1e9.
CREATE TABLE IF NOT EXISTS {{database}}.`candle` {{onCluster}} (
  market_type LowCardinality(String),
  market_index UInt16,
  resolution LowCardinality(String),
  ts Int64 CODEC(Delta, ZSTD(1)),
  slot UInt64 CODEC(Delta, ZSTD(1)),
  fill_open Nullable(Int64) CODEC(Delta, ZSTD(1)),
  fill_high Nullable(Int64) CODEC(Delta, ZSTD(1)),
  fill_low Nullable(Int64) CODEC(Delta, ZSTD(1)),
  fill_close Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_open Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_high Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_low Nullable(Int64) CODEC(Delta, ZSTD(1)),
  oracle_close Nullable(Int64) CODEC(Delta, ZSTD(1)),
  quote_volume UInt128 CODEC(ZSTD(1)),
  base_volume UInt128 CODEC(ZSTD(1)),
  trades UInt64 CODEC(ZSTD(1)),
  last_trade_ts Nullable(Int64) CODEC(Delta, ZSTD(1)),
  last_fill_record_id Nullable(UInt64) CODEC(Delta, ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC')
)
ENGINE = {{replacingMergeTree}}(version)
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_type, market_index, resolution, ts)
SETTINGS {{deduplicationWindow}};

-- A row is written when all that the log had at the writer's first start is stored: `events`, `samples`, `candles`.
CREATE TABLE IF NOT EXISTS {{database}}.`projection` {{onCluster}} (
  name String,
  built_ts Int64,
  log_end String
)
ENGINE = {{replacingMergeTree}}(built_ts)
ORDER BY name
SETTINGS {{deduplicationWindow}};
