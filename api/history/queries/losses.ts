// Totals of liquidations and bankruptcies over the whole exchange.

import { quoteValueSql } from '../../../schemas/index.ts';
import { DAY_S } from '../seconds.ts';
import type { HistoryStore, Parameters } from '../store.ts';

const scale = (index: string): string =>
  `toInt256OrZero({baseScales:Map(String, String)}[concat('spot-', toString(${index}))])`;
const worth = (tokens: string, price: string, index: string): string =>
  quoteValueSql(tokens, price, `greatest(${scale(index)}, toInt256(1))`);

/**
 * Quote of a liquidation, 1e6: the fill of a perp liquidation, the value of the repaid debt, or the P&L that changed owner.
 */
const AMOUNT = `multiIf(
  liquidation_type = 'liquidatePerp', toInt256(abs(liquidate_perp_quote_asset_amount)),
  liquidation_type = 'liquidateSpot', ${worth('liquidate_spot_liability_transfer', 'liquidate_spot_liability_price', 'liquidate_spot_liability_market_index')},
  liquidation_type = 'liquidateBorrowForPerpPnl', toInt256(liquidate_borrow_for_perp_pnl_pnl_transfer),
  liquidation_type = 'liquidatePerpPnlForDeposit', toInt256(liquidate_perp_pnl_for_deposit_pnl_transfer),
  toInt256(0))`;

/** The two types that socialize a loss; the other four liquidate. */
export const BANKRUPTCIES = `(liquidation_type IN ('perpBankruptcy', 'spotBankruptcy'))`;

export interface LiquidationStats {
  readonly count: number;
  /** Quote 1e6. */
  readonly amount: string;
}

/** Liquidations without bankruptcies, since now - 24 h and now - 30 d. Needs the parameter `baseScales`. */
export async function liquidationStats(
  store: HistoryStore,
  now: number,
  scales: Parameters,
): Promise<Readonly<Record<'24h' | '30d', LiquidationStats>>> {
  const [row] = await store.rows<Record<'count24h' | 'amount24h' | 'count30d' | 'amount30d', string>>(
    `SELECT countIf(ts >= {day:Int64}) AS count24h, toString(sumIf(amount, ts >= {day:Int64})) AS amount24h,
       count() AS count30d, toString(sum(amount)) AS amount30d
     FROM (
       SELECT ts, ${AMOUNT} AS amount FROM {db:Identifier}.liquidation_by_time FINAL
       WHERE NOT ${BANKRUPTCIES} AND ts >= {month:Int64} AND ts <= {now:Int64}
     )`,
    { ...scales, now, day: now - DAY_S, month: now - 30 * DAY_S },
  );
  return {
    '24h': { count: Number(row?.count24h ?? 0), amount: row?.amount24h ?? '0' },
    '30d': { count: Number(row?.count30d ?? 0), amount: row?.amount30d ?? '0' },
  };
}

export interface BankruptcyTotals {
  readonly totalCount: number;
  /** Quote 1e6. */
  readonly totalAmount: bigint;
  readonly ifPayment: bigint;
  readonly socialLoss: bigint;
}

/**
 * Totals of all bankruptcies (docs/internals/history-semantics.md, "Liquidation rows"). They are |pnl| of perps and the value
 * of borrows, the insurance payments, and the loss of other users after these and clawbacks. A borrow's price is the newest
 * oracle sample of its market at or before its second, else `{prices}` (1e6 by spot index). Needs the parameter `baseScales`.
 */
export async function bankruptcyTotals(store: HistoryStore, parameters: Parameters): Promise<BankruptcyTotals> {
  const [row] = await store.rows<{ count: string; total: string; paid: string; clawback: string }>(
    `WITH lost AS (
       SELECT * FROM {db:Identifier}.liquidation_by_time FINAL WHERE ${BANKRUPTCIES}
     ), samples AS (
       SELECT market_index, ts, toInt256(argMax(assumeNotNull(oracle_price), slot)) AS price
       FROM {db:Identifier}.market_sample
       WHERE market_type = 'spot' AND oracle_price IS NOT NULL AND market_index IN (
         SELECT spot_bankruptcy_market_index FROM lost WHERE liquidation_type = 'spotBankruptcy')
       GROUP BY market_index, ts
     )
     SELECT count() AS count, toString(sum(amount)) AS total, toString(sum(paid)) AS paid,
       toString(sum(clawback)) AS clawback
     FROM (
       SELECT toInt256(abs(perp_bankruptcy_pnl)) AS amount, toInt256(perp_bankruptcy_if_payment) AS paid,
         toInt256(ifNull(perp_bankruptcy_clawback_user_payment, 0)) AS clawback
       FROM lost WHERE liquidation_type = 'perpBankruptcy'
       UNION ALL
       SELECT ${worth('lost.spot_bankruptcy_borrow_amount', 'known', 'lost.spot_bankruptcy_market_index')} AS amount,
         ${worth('lost.spot_bankruptcy_if_payment', 'known', 'lost.spot_bankruptcy_market_index')} AS paid,
         toInt256(0) AS clawback
       FROM (
         SELECT spot_bankruptcy_market_index, spot_bankruptcy_borrow_amount, spot_bankruptcy_if_payment,
           if(samples.price = 0, toInt256OrZero({prices:Map(String, String)}[toString(spot_bankruptcy_market_index)]),
             samples.price) AS known
         FROM lost ASOF LEFT JOIN samples
           ON lost.spot_bankruptcy_market_index = samples.market_index AND lost.ts >= samples.ts
         WHERE liquidation_type = 'spotBankruptcy'
       ) AS lost
     )`,
    parameters,
  );
  const [total, paid, clawback] = [row?.total, row?.paid, row?.clawback].map((text) => BigInt(text ?? 0));
  const [totalAmount, ifPayment] = [total ?? 0n, paid ?? 0n];
  return {
    totalCount: Number(row?.count ?? 0),
    totalAmount,
    ifPayment,
    socialLoss: totalAmount - ifPayment - (clawback ?? 0n),
  };
}
