-- What accounts did by day, reduced from the events, and which days that is true of. A day is the 86,400 seconds after its midnight, the next
-- midnight included: day = ceil(ts / 86400) - 1. The reduction replaces a day as a whole (`version`); a day counts only while it is clean
-- (account_day_mark), otherwise its events do.

-- Fills of finished days by account and market. fills: sides of fills, all of them; trades and volumes leave out position transfers. base:
-- bought less sold. entry: change of the entry amount. cash: quote received less paid less fees. realized: P&L of what was closed.
CREATE TABLE IF NOT EXISTS {{database}}.`account_day_fills` {{onCluster}} (
  user FixedString(32) CODEC(ZSTD(1)),
  market_type LowCardinality(String),
  market_index UInt16,
  day Int64 CODEC(Delta, ZSTD(1)),
  fills UInt64 CODEC(ZSTD(1)),
  taker_trades UInt64 CODEC(ZSTD(1)),
  maker_trades UInt64 CODEC(ZSTD(1)),
  taker_volume Int128 CODEC(ZSTD(1)),
  maker_volume Int128 CODEC(ZSTD(1)),
  fee_paid Int128 CODEC(ZSTD(1)),
  fee_rebate Int128 CODEC(ZSTD(1)),
  referrer_rewards Int128 CODEC(ZSTD(1)),
  base Int128 CODEC(ZSTD(1)),
  entry Int128 CODEC(ZSTD(1)),
  cash Int128 CODEC(ZSTD(1)),
  realized Int128 CODEC(ZSTD(1)),
  last_ts Int64 CODEC(Delta, ZSTD(1)),
  last_slot UInt64 CODEC(Delta, ZSTD(1)),
  last_event_index UInt32,
  last_oracle_price Int64 CODEC(Delta, ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  user_base58 String ALIAS base58Encode(user)
)
ENGINE = {{replacingMergeTree}}(version)
PARTITION BY toYYYYMM(toDateTime(day * 86400, 'UTC'))
ORDER BY (user, market_type, market_index, day)
SETTINGS {{deduplicationWindow}};

-- Funding, settled P&L and what liquidations, bankruptcies and expiry moved, of finished days by account and perp market. events: all of them;
-- fundings: funding payments. expired_base and expired_entry: positions that ended by expiry.
CREATE TABLE IF NOT EXISTS {{database}}.`account_day_money` {{onCluster}} (
  user FixedString(32) CODEC(ZSTD(1)),
  market_index UInt16,
  day Int64 CODEC(Delta, ZSTD(1)),
  events UInt64 CODEC(ZSTD(1)),
  fundings UInt64 CODEC(ZSTD(1)),
  funding Int256 CODEC(ZSTD(1)),
  settled Int256 CODEC(ZSTD(1)),
  moved Int256 CODEC(ZSTD(1)),
  expired_base Int256 CODEC(ZSTD(1)),
  expired_entry Int256 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  user_base58 String ALIAS base58Encode(user)
)
ENGINE = {{replacingMergeTree}}(version)
PARTITION BY toYYYYMM(toDateTime(day * 86400, 'UTC'))
ORDER BY (user, market_index, day)
SETTINGS {{deduplicationWindow}};

-- Days that hold events. mark 'open': events were or will be stored since; 'reduced': the tables above have the day as it was at the 'open' of
-- the same number. A day is clean while its newest number is 'reduced'.
CREATE TABLE IF NOT EXISTS {{database}}.`account_day_mark` {{onCluster}} (
  day Int64,
  mark LowCardinality(String),
  number UInt64
)
ENGINE = {{replacingMergeTree}}(number)
ORDER BY (day, mark)
SETTINGS {{deduplicationWindow}};

-- What was stored before days were marked.
INSERT INTO {{database}}.`account_day_mark`
SELECT toInt64(ceil(ts / 86400)) - 1 AS day, 'open', 1 FROM {{database}}.`order_action` GROUP BY day;

INSERT INTO {{database}}.`account_day_mark`
SELECT toInt64(ceil(ts / 86400)) - 1 AS day, 'open', 1 FROM {{database}}.`funding_payment` GROUP BY day;

INSERT INTO {{database}}.`account_day_mark`
SELECT toInt64(ceil(ts / 86400)) - 1 AS day, 'open', 1 FROM {{database}}.`settle_pnl` GROUP BY day;

INSERT INTO {{database}}.`account_day_mark`
SELECT toInt64(ceil(ts / 86400)) - 1 AS day, 'open', 1 FROM {{database}}.`liquidation` GROUP BY day;
