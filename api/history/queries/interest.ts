// Hourly interest records of a spot market, each with the insurance fund's share.

import type { InterestState } from '../interest.ts';
import { HOUR_S } from '../seconds.ts';
import type { HistoryStore } from '../store.ts';

export interface InterestPoint {
  /** Unix seconds. */
  readonly ts: number;
  readonly state: InterestState;
  /** 1e6; 0 before the first insurance record. */
  readonly insuranceFactor: bigint;
}

const COLUMNS =
  'deposit_balance, cumulative_deposit_interest, borrow_balance, cumulative_borrow_interest, optimal_utilization, ' +
  'optimal_borrow_rate, max_borrow_rate';

/** The last record of each UTC hour since `from`, oldest first. */
export async function interestHistory(
  store: HistoryStore,
  marketIndex: number,
  from: number,
): Promise<readonly InterestPoint[]> {
  const parameters = { marketIndex, from };
  const [rows, factors] = await Promise.all([
    store.rows<{ last: string; state: readonly string[] }>(
      `SELECT max(ts) AS last, argMax(arrayMap(x -> toString(x), [${COLUMNS.split(', ')
        .map((column) => `toUInt128(${column})`)
        .join(', ')}]), (ts, slot, event_index)) AS state
       FROM {db:Identifier}.spot_interest
       WHERE market_index = {marketIndex:UInt16} AND ts >= {from:Int64}
       GROUP BY intDiv(ts, ${HOUR_S}) ORDER BY last`,
      parameters,
    ),
    store.rows<{ ts: string; factor: number }>(
      `SELECT ts, total_if_factor AS factor FROM {db:Identifier}.insurance_fund
       WHERE spot_market_index = {marketIndex:UInt16} ORDER BY ts, slot, event_index`,
      parameters,
    ),
  ]);
  let next = 0;
  let insuranceFactor = 0n;
  return rows.map(({ last, state }) => {
    for (let row = factors[next]; row && Number(row.ts) <= Number(last); row = factors[++next]) {
      insuranceFactor = BigInt(row.factor);
    }
    return { ts: Number(last), state: stateOf(state), insuranceFactor };
  });
}

function stateOf(values: readonly string[]): InterestState {
  const [deposits, depositInterest, borrows, borrowInterest, optimal, atOptimal, maximum] = values.map(BigInt);
  return {
    depositBalance: deposits ?? 0n,
    cumulativeDepositInterest: depositInterest ?? 0n,
    borrowBalance: borrows ?? 0n,
    cumulativeBorrowInterest: borrowInterest ?? 0n,
    optimalUtilization: optimal ?? 0n,
    optimalBorrowRate: atOptimal ?? 0n,
    maxBorrowRate: maximum ?? 0n,
  };
}
