// What accounts did, summed: one definition for the reduction that stores finished days and for readers that sum the rest from
// the events. `db` is what stands before a table's name in all of this SQL: nothing, or a database with its dot.

import { ACCOUNT_DAY_TABLES } from './tables.ts';

export const DAY_S = 86_400;

/** The day a time belongs to, unix seconds: the seconds after its midnight, the next midnight included. */
export const dayOf = (ts: number): number => Math.ceil(ts / DAY_S) - 1;

/** Tables of which the sums are made: a row that comes into one of them changes its day. */
export const ACCOUNT_DAY_SOURCES: ReadonlySet<string> = new Set([
  'order_action',
  'funding_payment',
  'settle_pnl',
  'liquidation',
]);

/** Days of which the stored sums are true, oldest first. */
export const cleanDaysSql = (db: string): string =>
  `SELECT day FROM ${db}${ACCOUNT_DAY_TABLES.marks} GROUP BY day
   HAVING maxIf(number, mark = 'reduced') >= maxIf(number, mark = 'open') ORDER BY day`;

/** Fills from the events, a row for each side that has an account: for questions about a time. `where` is over the events. */
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

/** The same rows from the companion table: for questions about accounts. */
export const fillSidesByAccount = (db: string, where: string): string => `
  SELECT user, ts, slot, event_index, side, market_type, market_index, action_explanation, oracle_price,
    order_direction AS direction, base_asset_amount_filled AS base_filled, quote_asset_amount_filled AS quote_filled,
    fee AS fee_charged, referrer_reward AS referrer_gain, existing_quote_entry_amount AS existing_quote, existing_base_asset_amount AS existing_base
  FROM ${db}account_action FINAL
  WHERE action = 'fill' AND ${where}`;

/** Columns of sums that are added up to sums of longer periods. */
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
/** The place of the last fill, and the oracle price there; of equal places the highest price. */
export const LAST_FILL = ['last_ts', 'last_slot', 'last_event_index', 'last_oracle_price'] as const;

/**
 * Sums of fills by account, market and `period` (an expression over `ts`), columns as in the table of days. Quote 1e6, base
 * 1e9 (spot: units of the token).
 *
 * `closed` is the part of the filled base that closed a position (history reference 4.12): the existing base when the record
 * has one (a flip), all of it when it has the existing entry alone, else nothing. A record that names an existing base beyond
 * what was filled closed a part of it: all of the filled base, and the entry by the same part. Divisions are truncated toward
 * zero. No greatest() or least() of Int128: the engine compares them as unsigned once it has compiled the expression (26.7).
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
      action_explanation = 'transferPerpPosition' AS is_transfer, if(direction = 'long', 1, -1) AS sign,
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

/** Funding payments as rows of money. */
export const fundingRows = (db: string, where: string): string => `
  SELECT user, ts, market_index, 1 AS is_funding, toInt256(funding_payment) AS funding_amount, ${NOTHING} AS settled_amount,
    ${NOTHING} AS moved_amount, ${NOTHING} AS ended_base, ${NOTHING} AS ended_entry
  FROM ${db}funding_payment FINAL WHERE ${where}`;

/**
 * Funding payments, settlements, and profit or loss that liquidations moved (fees of liquidations are in their fills), a row
 * for each account. `where(column)` is over the events, with the account in `column`.
 */
export function moneyRows(db: string, where: (column: 'user' | 'liquidator') => string): string {
  const settled = `
  SELECT user, ts, market_index, 0 AS is_funding, ${NOTHING} AS funding_amount, toInt256(pnl) AS settled_amount,
    if(explanation = 'expiredPosition', intDiv(toInt256(base_asset_amount) * settle_price, toInt256(1000000000)),
      ${NOTHING}) AS moved_amount,
    if(explanation = 'expiredPosition', toInt256(base_asset_amount), ${NOTHING}) AS ended_base,
    if(explanation = 'expiredPosition', toInt256(quote_entry_amount), ${NOTHING}) AS ended_entry
  FROM ${db}settle_pnl FINAL WHERE ${where('user')}`;
  const moved = (column: 'user' | 'liquidator', sign: '' | '-') => `
  SELECT ${column === 'user' ? column : `${column} AS user`}, ts,
    multiIf(liquidation_type = 'liquidateBorrowForPerpPnl', liquidate_borrow_for_perp_pnl_perp_market_index,
      liquidation_type = 'liquidatePerpPnlForDeposit', liquidate_perp_pnl_for_deposit_perp_market_index,
      perp_bankruptcy_market_index) AS market_index,
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

/** Sums of money by account, perp market and `period` (an expression over `ts`), columns as in the table of days. */
export const moneySumsSql = (rows: string, period: string): string => `
  SELECT user, market_index, ${period} AS period, count() AS events, countIf(is_funding = 1) AS fundings,
    sum(funding_amount) AS funding, sum(settled_amount) AS settled, sum(moved_amount) AS moved,
    sum(ended_base) AS expired_base, sum(ended_entry) AS expired_entry
  FROM (${rows}) GROUP BY user, market_index, period`;

/** Statements that store one day anew under a version. */
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
