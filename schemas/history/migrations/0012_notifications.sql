-- Notifications, from topic notifications: one row for each cause and wallet. Keys are texts in base58; an empty authority is
-- every wallet. Texts name a market by its key (perp-0).
CREATE TABLE IF NOT EXISTS {{database}}.`notification` {{onCluster}} (
  id String CODEC(ZSTD(1)),
  authority String CODEC(ZSTD(1)),
  user Nullable(String) CODEC(ZSTD(1)),
  type LowCardinality(String),
  title LowCardinality(String),
  body String CODEC(ZSTD(1)),
  data String CODEC(ZSTD(1)),
  slot UInt64 CODEC(Delta, ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1))
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (authority, ts, id)
SETTINGS {{deduplicationWindow}};

-- Notifications that a wallet read, from topic notification-marks.
CREATE TABLE IF NOT EXISTS {{database}}.`notification_read` {{onCluster}} (
  id String CODEC(ZSTD(1)),
  authority String CODEC(ZSTD(1)),
  at_ms UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = {{replacingMergeTree}}
ORDER BY (authority, id)
SETTINGS {{deduplicationWindow}};

-- State of the push of a notification to the devices of a wallet: PENDING (version 0), then SENT or FAILED (version 1).
CREATE TABLE IF NOT EXISTS {{database}}.`notification_delivery` {{onCluster}} (
  id String CODEC(ZSTD(1)),
  authority String CODEC(ZSTD(1)),
  status LowCardinality(String),
  version UInt8,
  at_ms UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = {{replacingMergeTree}}(version)
ORDER BY (authority, id)
SETTINGS {{deduplicationWindow}};
