// Fill quality: what takers paid relative to the oracle, by order size and by counterparty.
//
//   npm run example fill-quality -- [--market 0] [--hours 24] [--markout 60]
//
// Data: one SQL query as the read-only user (docs/reference/tables.md), tables order_action and market_sample.
// - One row per taker size cohort (quote filled by one fill) and counterparty: a resting maker, or the vAMM.
// - slip bps: side * (fill price / oracle at the fill - 1) * 1e4, weighted by quote; side +1 when the taker buys.
//   Positive: the taker paid more than the oracle. p50, p95: over fills, unweighted.
// - fee bps: taker fee / quote. All in = slip + fee.
// - markout bps: side * (oracle `markout` seconds later / fill price - 1) * 1e4, weighted by quote, from the first sample at
//   or after that time. Positive: the price moved in the taker's favour. '-' without samples.
// Leaves out liquidations and position transfers: nobody chose their price.

import { decimals, printTable, queryRows, readFlags } from './shared.ts';

const flags = readFlags(['market', 'hours', 'markout']);
const market = flags.number('market', 0);
const fromTs = Math.floor(Date.now() / 1000 - flags.number('hours', 24) * 3_600);
const markout = flags.number('markout', 60);

const SQL = `
WITH fills AS (
  SELECT ts + {markout:Int64} AS due,
    if(taker_order_direction = 'long', 1, -1) AS side,
    toFloat64(assumeNotNull(quote_asset_amount_filled)) / 1e6 AS quote,
    toFloat64(assumeNotNull(quote_asset_amount_filled)) / assumeNotNull(base_asset_amount_filled) * 1e3 AS price,
    oracle_price / 1e6 AS oracle,
    ifNull(taker_fee, 0) / 1e6 AS fee,
    if(isNull(maker), 'vAMM', 'maker') AS counterparty,
    market_index
  FROM order_action FINAL
  WHERE market_type = 'perp' AND market_index = {market:UInt16} AND action = 'fill' AND ts >= {from:Int64}
    AND action_explanation NOT IN ('liquidation', 'transferPerpPosition')
    AND taker IS NOT NULL AND base_asset_amount_filled > 0 AND oracle_price > 0
), samples AS (
  SELECT ts, oracle_price / 1e6 AS later, market_index FROM market_sample FINAL
  WHERE market_type = 'perp' AND market_index = {market:UInt16} AND ts >= {from:Int64} AND oracle_price > 0
)
SELECT
  multiIf(quote < 100, '< 100', quote < 1000, '100 - 1k', quote < 10000, '1k - 10k', '> 10k') AS cohort,
  counterparty,
  count() AS fills,
  sum(quote) AS notional,
  sum(quote * side * (price / oracle - 1)) / sum(quote) * 1e4 AS slipBps,
  quantileExact(0.5)(side * (price / oracle - 1)) * 1e4 AS p50Bps,
  quantileExact(0.95)(side * (price / oracle - 1)) * 1e4 AS p95Bps,
  sum(fee) / sum(quote) * 1e4 AS feeBps,
  countIf(later > 0) AS markedOut,
  sumIf(quote * side * (later / price - 1), later > 0) / sumIf(quote, later > 0) * 1e4 AS markoutBps
FROM fills ASOF LEFT JOIN samples ON fills.market_index = samples.market_index AND samples.ts >= fills.due
GROUP BY cohort, counterparty
ORDER BY min(quote), counterparty`;

interface Row {
  readonly cohort: string;
  readonly counterparty: string;
  readonly fills: string | number;
  readonly notional: number;
  readonly slipBps: number;
  readonly p50Bps: number;
  readonly p95Bps: number;
  readonly feeBps: number;
  readonly markedOut: string | number;
  readonly markoutBps: number | null;
}

const rows = await queryRows<Row>(flags.endpoint('sql'), SQL, { market, from: fromTs, markout });
if (!flags.json) process.stdout.write(`perp market ${market}: taker fills against the oracle, markout ${markout} s\n`);
printTable(
  flags,
  ['size', 'against', 'fills', 'notional', 'slip bps', 'p50', 'p95', 'fee bps', 'all in', 'markout bps'],
  rows.map((row) => [
    row.cohort,
    row.counterparty,
    Number(row.fills),
    decimals(row.notional, 0),
    decimals(row.slipBps, 2),
    decimals(row.p50Bps, 2),
    decimals(row.p95Bps, 2),
    decimals(row.feeBps, 2),
    decimals(row.slipBps + row.feeBps, 2),
    decimals(Number(row.markedOut) === 0 ? null : row.markoutBps, 2),
  ]),
  rows,
);
