-- The same events in other orders, one table for each further way in. Materialized views fill them with each insert into
-- the base table; keyed by the event, so a repeated insert counts once. What was stored before is copied at the end.

-- Order actions by account: a fill has a row for its taker and one for its maker. Columns without a prefix are those of
-- the row's side; amounts the event lacks are 0. (market_type, market_index, action, ts, slot, signature, event_index)
-- finds the whole event in order_action.
CREATE TABLE IF NOT EXISTS {{database}}.`account_action` {{onCluster}} (
  user FixedString(32) CODEC(ZSTD(1)),
  ts Int64 CODEC(Delta, ZSTD(1)),
  slot UInt64 CODEC(Delta, ZSTD(1)),
  signature FixedString(64) CODEC(NONE),
  event_index UInt32,
  side LowCardinality(String),
  market_type LowCardinality(String),
  market_index UInt16,
  action LowCardinality(String),
  action_explanation LowCardinality(String),
  order_id Nullable(UInt32),
  order_direction LowCardinality(String),
  order_base_asset_amount UInt64,
  order_cumulative_base_asset_amount_filled UInt64,
  order_cumulative_quote_asset_amount_filled UInt64,
  base_asset_amount_filled UInt64,
  quote_asset_amount_filled UInt64,
  fee Int64,
  referrer_reward UInt32,
  existing_quote_entry_amount Nullable(UInt64),
  existing_base_asset_amount Nullable(UInt64),
  oracle_price Int64 CODEC(Delta, LZ4),
  user_base58 String ALIAS base58Encode(user),
  signature_base58 String ALIAS base58Encode(signature),
  ts_time DateTime('UTC') ALIAS toDateTime(ts, 'UTC'),
  INDEX order_id_index order_id TYPE minmax GRANULARITY 1,
  INDEX market_index_index (market_type, market_index) TYPE set(64) GRANULARITY 1,
  INDEX action_index action TYPE set(8) GRANULARITY 1
)
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index, side)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`account_action_view` {{onCluster}} TO {{database}}.`account_action` AS
SELECT
  assumeNotNull(if(side = 'taker', taker, maker)) AS user,
  ts,
  slot,
  signature,
  event_index,
  side,
  market_type,
  market_index,
  action,
  action_explanation,
  if(side = 'taker', taker_order_id, maker_order_id) AS order_id,
  ifNull(if(side = 'taker', taker_order_direction, maker_order_direction), '') AS order_direction,
  ifNull(if(side = 'taker', taker_order_base_asset_amount, maker_order_base_asset_amount), 0) AS order_base_asset_amount,
  ifNull(if(side = 'taker', taker_order_cumulative_base_asset_amount_filled, maker_order_cumulative_base_asset_amount_filled), 0) AS order_cumulative_base_asset_amount_filled,
  ifNull(if(side = 'taker', taker_order_cumulative_quote_asset_amount_filled, maker_order_cumulative_quote_asset_amount_filled), 0) AS order_cumulative_quote_asset_amount_filled,
  ifNull(order_action.base_asset_amount_filled, 0) AS base_asset_amount_filled,
  ifNull(order_action.quote_asset_amount_filled, 0) AS quote_asset_amount_filled,
  if(side = 'taker', reinterpretAsInt64(ifNull(taker_fee, 0)), ifNull(maker_fee, 0)) AS fee,
  if(side = 'taker', ifNull(order_action.referrer_reward, 0), 0) AS referrer_reward,
  if(side = 'taker', taker_existing_quote_entry_amount, maker_existing_quote_entry_amount) AS existing_quote_entry_amount,
  if(side = 'taker', taker_existing_base_asset_amount, maker_existing_base_asset_amount) AS existing_base_asset_amount,
  oracle_price
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side;

-- Deposits, withdrawals, transfers and rewards by spot market.
CREATE TABLE IF NOT EXISTS {{database}}.`market_deposit` {{onCluster}} AS {{database}}.`deposit`
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`market_deposit_view` {{onCluster}} TO {{database}}.`market_deposit` AS
SELECT * FROM {{database}}.`deposit`;

-- Swaps by spot market: a row for the market that the account gave (side 'in') and one for the market that it got ('out').
CREATE TABLE IF NOT EXISTS {{database}}.`market_swap` {{onCluster}} (
  market_index UInt16,
  side LowCardinality(String),
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
ORDER BY (market_index, ts, slot, signature, event_index, side)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`market_swap_view` {{onCluster}} TO {{database}}.`market_swap` AS
SELECT
  if(side = 'in', in_market_index, out_market_index) AS market_index,
  side,
  signature,
  event_index,
  slot,
  tx_index,
  ts,
  user,
  amount_out,
  amount_in,
  out_market_index,
  in_market_index,
  out_oracle_price,
  in_oracle_price,
  fee
FROM {{database}}.`swap`
ARRAY JOIN ['in', 'out'] AS side;

-- Insurance-fund stakes by spot market.
CREATE TABLE IF NOT EXISTS {{database}}.`market_insurance_fund_stake` {{onCluster}} AS {{database}}.`insurance_fund_stake`
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (market_index, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`market_insurance_fund_stake_view` {{onCluster}} TO {{database}}.`market_insurance_fund_stake` AS
SELECT * FROM {{database}}.`insurance_fund_stake`;

-- Liquidations and bankruptcies of the whole exchange by time.
CREATE TABLE IF NOT EXISTS {{database}}.`liquidation_by_time` {{onCluster}} AS {{database}}.`liquidation`
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`liquidation_by_time_view` {{onCluster}} TO {{database}}.`liquidation_by_time` AS
SELECT * FROM {{database}}.`liquidation`;

-- Accounts by their own key (new_user finds them by authority), and by who referred them.
CREATE TABLE IF NOT EXISTS {{database}}.`account` {{onCluster}} AS {{database}}.`new_user`
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (user, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`account_view` {{onCluster}} TO {{database}}.`account` AS
SELECT * FROM {{database}}.`new_user`;

CREATE TABLE IF NOT EXISTS {{database}}.`referral` {{onCluster}} AS {{database}}.`new_user`
ENGINE = {{replacingMergeTree}}
PARTITION BY toYYYYMM(toDateTime(ts, 'UTC'))
ORDER BY (referrer, ts, slot, signature, event_index)
SETTINGS {{deduplicationWindow}};

CREATE MATERIALIZED VIEW IF NOT EXISTS {{database}}.`referral_view` {{onCluster}} TO {{database}}.`referral` AS
SELECT * FROM {{database}}.`new_user` WHERE referrer != toFixedString('', 32);

-- One order of an account: its ids grow with time, so a range per granule finds it.
ALTER TABLE {{database}}.`order` {{onCluster}} ADD INDEX IF NOT EXISTS order_id_index order_order_id TYPE minmax GRANULARITY 1;
ALTER TABLE {{database}}.`order` {{onCluster}} MATERIALIZE INDEX order_id_index;

-- Accounts are found in account_action now.
ALTER TABLE {{database}}.`order_action` {{onCluster}} DROP INDEX IF EXISTS taker_index;
ALTER TABLE {{database}}.`order_action` {{onCluster}} DROP INDEX IF EXISTS maker_index;

-- What was stored before the views existed.
INSERT INTO {{database}}.`account_action`
SELECT
  assumeNotNull(if(side = 'taker', taker, maker)) AS user,
  ts,
  slot,
  signature,
  event_index,
  side,
  market_type,
  market_index,
  action,
  action_explanation,
  if(side = 'taker', taker_order_id, maker_order_id) AS order_id,
  ifNull(if(side = 'taker', taker_order_direction, maker_order_direction), '') AS order_direction,
  ifNull(if(side = 'taker', taker_order_base_asset_amount, maker_order_base_asset_amount), 0) AS order_base_asset_amount,
  ifNull(if(side = 'taker', taker_order_cumulative_base_asset_amount_filled, maker_order_cumulative_base_asset_amount_filled), 0) AS order_cumulative_base_asset_amount_filled,
  ifNull(if(side = 'taker', taker_order_cumulative_quote_asset_amount_filled, maker_order_cumulative_quote_asset_amount_filled), 0) AS order_cumulative_quote_asset_amount_filled,
  ifNull(order_action.base_asset_amount_filled, 0) AS base_asset_amount_filled,
  ifNull(order_action.quote_asset_amount_filled, 0) AS quote_asset_amount_filled,
  if(side = 'taker', reinterpretAsInt64(ifNull(taker_fee, 0)), ifNull(maker_fee, 0)) AS fee,
  if(side = 'taker', ifNull(order_action.referrer_reward, 0), 0) AS referrer_reward,
  if(side = 'taker', taker_existing_quote_entry_amount, maker_existing_quote_entry_amount) AS existing_quote_entry_amount,
  if(side = 'taker', taker_existing_base_asset_amount, maker_existing_base_asset_amount) AS existing_base_asset_amount,
  oracle_price
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side;

INSERT INTO {{database}}.`market_deposit`
SELECT * FROM {{database}}.`deposit`;

INSERT INTO {{database}}.`market_swap`
SELECT
  if(side = 'in', in_market_index, out_market_index) AS market_index,
  side,
  signature,
  event_index,
  slot,
  tx_index,
  ts,
  user,
  amount_out,
  amount_in,
  out_market_index,
  in_market_index,
  out_oracle_price,
  in_oracle_price,
  fee
FROM {{database}}.`swap`
ARRAY JOIN ['in', 'out'] AS side;

INSERT INTO {{database}}.`market_insurance_fund_stake`
SELECT * FROM {{database}}.`insurance_fund_stake`;

INSERT INTO {{database}}.`liquidation_by_time`
SELECT * FROM {{database}}.`liquidation`;

INSERT INTO {{database}}.`account`
SELECT * FROM {{database}}.`new_user`;

INSERT INTO {{database}}.`referral`
SELECT * FROM {{database}}.`new_user` WHERE referrer != toFixedString('', 32);
