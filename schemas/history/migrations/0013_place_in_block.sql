-- The place in the block belongs to the order of rows within a slot, so the lookup tables need it too.
ALTER TABLE {{database}}.`account_action` {{onCluster}} ADD COLUMN IF NOT EXISTS tx_index Nullable(UInt32);

ALTER TABLE {{database}}.`account_fill` {{onCluster}} ADD COLUMN IF NOT EXISTS tx_index Nullable(UInt32);

ALTER TABLE {{database}}.`account_action_view` {{onCluster}} MODIFY QUERY
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
  oracle_price,
  tx_index
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side;

ALTER TABLE {{database}}.`account_fill_view` {{onCluster}} MODIFY QUERY
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
    isNotNull(maker_existing_quote_entry_amount) OR isNotNull(maker_existing_base_asset_amount)) AS closes,
  tx_index
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side
WHERE action = 'fill';

-- What is stored already. A merge keeps the newer of two rows with one key, which is the one with the place.
INSERT INTO {{database}}.`account_action` (user, ts, slot, signature, event_index, side, market_type, market_index, action, action_explanation, order_id, order_direction, order_base_asset_amount, order_cumulative_base_asset_amount_filled, order_cumulative_quote_asset_amount_filled, base_asset_amount_filled, quote_asset_amount_filled, fee, referrer_reward, existing_quote_entry_amount, existing_base_asset_amount, oracle_price, tx_index)
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
  oracle_price,
  tx_index
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side
WHERE isNotNull(tx_index);

INSERT INTO {{database}}.`account_fill` (user, ts, slot, fill_record_id, signature, event_index, side, market_type, market_index, action, closes, tx_index)
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
    isNotNull(maker_existing_quote_entry_amount) OR isNotNull(maker_existing_base_asset_amount)) AS closes,
  tx_index
FROM {{database}}.`order_action`
ARRAY JOIN if(isNull(taker), if(isNull(maker), [], ['maker']), if(isNull(maker), ['taker'], ['taker', 'maker'])) AS side
WHERE action = 'fill' AND isNotNull(tx_index);
