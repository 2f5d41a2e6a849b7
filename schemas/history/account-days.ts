// SQL that sums account activity by day. The sink stores finished days with it; readers sum all other days from the events.
// `db` is the prefix of a table's name: empty, or a database and a dot.

import { BASE_PRECISION } from '../chain/scales.ts';
import { IS_TRANSFER_SQL } from './fill-use.ts';
import { LIQUIDATED_PERP } from './liquidated-perp.ts';
import { ACCOUNT_DAY_TABLES } from './tables.ts';
import { quoteValueSql } from './values.ts';

export const DAY_S = 86_400;

/** Day of a time in Unix seconds. A day starts one second after its midnight and includes the next midnight. */
export const dayOf = (ts: number): number => Math.ceil(ts / DAY_S) - 1;

/** Source tables of the sums. A new row in one of them invalidates its day. */
export const ACCOUNT_DAY_SOURCES: ReadonlySet<string> = new Set([
  'order_action',
  'funding_payment',
  'settle_pnl',
  'liquidation',
]);

/** Days whose stored sums are current, oldest first. */
export const cleanDaysSql = (db: string): string =>
  `SELECT day FROM ${db}${ACCOUNT_DAY_TABLES.marks} GROUP BY day
   HAVING maxIf(number, mark = 'reduced') >= maxIf(number, mark = 'open') ORDER BY day`;

/** Fills from the events, one row for each side with an account: for queries by time. `where` filters the events. */
export const fillSidesByTime = (db: string, where: string): string => `
  SELECT assumeNotNull(if(side = 'taker', taker, maker)) AS user, ts, slot, event_index, side, market_type, market_index,
    action_explanation, oracle_price,
    ifNull(if(side = 'taker', taker_order_direction, maker_order_direction), '') AS direction,
    ifNull(base_asset_amount_filled, 0) AS base_filled, ifNull(quote_asset_amount_filled, 0) AS quote_filled,
    if(side = 'taker', reinterpretAsInt64(ifNull(taker_fee, 0)), ifNull(maker_fee, 0)) AS fee_charged,
    if(side = 'taker', ifNull(referrer_reward, 0), 0) AS referrer_gain,
    if(side = 'taker', taker_existing_quote_entry_amount, maker_existing_quote_entry_amount) AS existing_quote,
    if(side = 'taker', taker_existing_base_asset_amount, maker_existing_base_asset_amount) AS existing_base
  FROM ${db}order_action FINAL
  ARRAY JOIN arrayFilter(one -> if(one = 'taker', isNotNull(taker), isNotNull(maker)), ['taker', 'maker']) AS side
  WHERE action = 'fill' AND ${where}`;

/** The same rows from the lookup table: for queries by account. */
export const fillSidesByAccount = (db: string, where: string): string => `
  SELECT user, ts, slot, event_index, side, market_type, market_index, action_explanation, oracle_price,
    order_direction AS direction, base_asset_amount_filled AS base_filled, quote_asset_amount_filled AS quote_filled,
    fee AS fee_charged, referrer_reward AS referrer_gain, existing_quote_entry_amount AS existing_quote, existing_base_asset_amount AS existing_base
  FROM ${db}account_action FINAL
  WHERE action = 'fill' AND ${where}`;

/** Columns that add up to sums of longer periods. */
export const FILL_SUMS = [
  'fills',
  'taker_trades',
  'maker_trades',
  'taker_volume',
  'maker_volume',
  'fee_paid',
  'fee_rebate',
  'referrer_rewards',
  'base',
  'entry',
  'cash',
  'realized',
] as const;
/** Key of the last fill and the oracle price there; equal keys keep the highest price. */
export const LAST_FILL = ['last_ts', 'last_slot', 'last_event_index', 'last_oracle_price'] as const;

/**
 * Sums of fills by account, market and `period` (an expression over `ts`), with the columns of the day table. Quote 1e6, base
 * 1e9 (spot: units of the token). `closed` is the filled base that closed a position
 * (docs/internals/history-semantics.md, "Closed positions"); divisions truncate toward zero.
 *
 * - The record has an existing base: the smaller of it and the filled base. The closed entry is the same share of the entry.
 * - The record has only an existing entry: all of the filled base. It has neither: nothing.
 *
 * Avoids greatest() and least() of Int128: the compiled expression compares them as unsigned (ClickHouse 26.7).
 */
export const fillSumsSql = (sides: string, period: string): string => `
  SELECT user, market_type, market_index, period, count() AS fills,
    countIf(side = 'taker' AND NOT is_transfer) AS taker_trades, countIf(side = 'maker' AND NOT is_transfer) AS maker_trades,
    sumIf(filled_quote, side = 'taker' AND NOT is_transfer) AS taker_volume,
    sumIf(filled_quote, side = 'maker' AND NOT is_transfer) AS maker_volume,
    sumIf(charged, is_paid) AS fee_paid, sumIf(-charged, NOT is_paid) AS fee_rebate,
    toInt128(sum(referrer_gain)) AS referrer_rewards,
    sum(sign * filled_base) AS base, sum(-sign * (closed_entry + filled_quote - closed_quote)) AS entry,
    sum(-sign * filled_quote - charged) AS cash,
    sumIf(-sign * (closed_quote - closed_entry) - closed_fee, closes) AS realized,
    ${LAST_FILL.map((column, index) => `tupleElement(max((ts, slot, event_index, oracle_price)), ${index + 1}) AS ${column}`).join(', ')}
  FROM (
    SELECT user, market_type, market_index, ${period} AS period, side, ts, slot, event_index, oracle_price, referrer_gain,
      ${IS_TRANSFER_SQL} AS is_transfer, if(direction = 'long', 1, -1) AS sign,
      toInt128(base_filled) AS filled_base, toInt128(quote_filled) AS filled_quote, toInt128(fee_charged) AS charged,
      fee_charged > 0 AS is_paid,
      existing_quote IS NOT NULL AND base_filled > 0 AS closes,
      if(closes, toInt256(ifNull(existing_base, base_filled)), toInt256(0)) AS held,
      least(held, toInt256(base_filled)) AS closed,
      toInt128(intDiv(toInt256(ifNull(existing_quote, 0)) * closed, greatest(held, toInt256(1)))) AS closed_entry,
      toInt128(intDiv(toInt256(quote_filled) * closed, greatest(toInt256(base_filled), toInt256(1)))) AS closed_quote,
      toInt128(intDiv(toInt256(fee_charged) * closed, greatest(toInt256(base_filled), toInt256(1)))) AS closed_fee
    FROM (${sides})
  ) GROUP BY user, market_type, market_index, period`;

const NOTHING = 'toInt256(0)';

/** Funding payments as rows of amounts. */
export const fundingRows = (db: string, where: string): string => `
  SELECT user, ts, market_index, 1 AS is_funding, toInt256(funding_payment) AS funding_amount, ${NOTHING} AS settled_amount,
    ${NOTHING} AS moved_amount, ${NOTHING} AS ended_base, ${NOTHING} AS ended_entry
  FROM ${db}funding_payment FINAL WHERE ${where}`;

/**
 * Funding payments, settlements, and profit or loss from liquidations, one row for each account. Fills carry the fees of
 * liquidations. `where(column)` filters the events, with the account in `column`.
 */
export function moneyRows(db: string, where: (column: 'user' | 'liquidator') => string): string {
  const settled = `
  SELECT user, ts, market_index, 0 AS is_funding, ${NOTHING} AS funding_amount, toInt256(pnl) AS settled_amount,
    if(explanation = 'expiredPosition', ${quoteValueSql('base_asset_amount', 'settle_price', BASE_PRECISION)},
      ${NOTHING}) AS moved_amount,
    if(explanation = 'expiredPosition', toInt256(base_asset_amount), ${NOTHING}) AS ended_base,
    if(explanation = 'expiredPosition', toInt256(quote_entry_amount), ${NOTHING}) AS ended_entry
  FROM ${db}settle_pnl FINAL WHERE ${where('user')}`;
  const moved = (column: 'user' | 'liquidator', sign: '' | '-') => `
  SELECT ${column === 'user' ? column : `${column} AS user`}, ts,
    multiIf(liquidation_type = 'liquidateBorrowForPerpPnl', ${LIQUIDATED_PERP.liquidateBorrowForPerpPnl},
      liquidation_type = 'liquidatePerpPnlForDeposit', ${LIQUIDATED_PERP.liquidatePerpPnlForDeposit},
      ${LIQUIDATED_PERP.perpBankruptcy}) AS market_index,
    0 AS is_funding, ${NOTHING} AS funding_amount, ${NOTHING} AS settled_amount,
    ${sign}multiIf(liquidation_type = 'liquidateBorrowForPerpPnl', -toInt256(liquidate_borrow_for_perp_pnl_pnl_transfer),
      liquidation_type = 'liquidatePerpPnlForDeposit', toInt256(liquidate_perp_pnl_for_deposit_pnl_transfer),
      -toInt256(perp_bankruptcy_pnl)) AS moved_amount, ${NOTHING} AS ended_base, ${NOTHING} AS ended_entry
  FROM ${db}liquidation FINAL
  WHERE ${where(column)} AND liquidation_type IN ('liquidateBorrowForPerpPnl', 'liquidatePerpPnlForDeposit'${
    column === 'user' ? ", 'perpBankruptcy'" : ''
  })`;
  return [fundingRows(db, where('user')), settled, moved('user', ''), moved('liquidator', '-')].join('\n  UNION ALL');
}

export const MONEY_SUMS = [
  'events',
  'fundings',
  'funding',
  'settled',
  'moved',
  'expired_base',
  'expired_entry',
] as const;

/** Sums of amounts by account, perp market and `period` (an expression over `ts`), with the columns of the day table. */
export const moneySumsSql = (rows: string, period: string): string => `
  SELECT user, market_index, ${period} AS period, count() AS events, countIf(is_funding = 1) AS fundings,
    sum(funding_amount) AS funding, sum(settled_amount) AS settled, sum(moved_amount) AS moved,
    sum(ended_base) AS expired_base, sum(ended_entry) AS expired_entry
  FROM (${rows}) GROUP BY user, market_index, period`;

/** Statements that compute one day and store it under `version`. */
export function reduceDaySql(day: number, version: bigint): readonly string[] {
  const inside = `ts > ${day * DAY_S} AND ts <= ${(day + 1) * DAY_S}`;
  const period = `toInt64(${day})`;
  const fills = fillSumsSql(fillSidesByTime('', inside), period);
  const money = moneySumsSql(
    moneyRows('', () => inside),
    period,
  );
  const [fillColumns, moneyColumns] = [[...FILL_SUMS, ...LAST_FILL].join(', '), MONEY_SUMS.join(', ')];
  return [
    `INSERT INTO ${ACCOUNT_DAY_TABLES.fills} (user, market_type, market_index, day, ${fillColumns}, version)
     SELECT user, market_type, market_index, period, ${fillColumns}, ${version} FROM (${fills})`,
    `INSERT INTO ${ACCOUNT_DAY_TABLES.money} (user, market_index, day, ${moneyColumns}, version)
     SELECT user, market_index, period, ${moneyColumns}, ${version} FROM (${money})`,
  ];
}
