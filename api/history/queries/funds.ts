// The insurance fund of each spot market, and the value of the liquidity pools.

import { DAY_S } from '../seconds.ts';
import type { Grid } from '../snapshots/grid.ts';
import { bucketSql, gridParameters } from '../snapshots/grid.ts';
import type { HistoryStore } from '../store.ts';

/** Days behind the yield of the insurance fund. */
const YIELD_DAYS = 30;

export interface InsuranceFundRow {
  readonly marketIndex: number;
  readonly ts: string;
  /** Tokens, mint decimals. */
  readonly vaultAmount: string;
  readonly totalShares: string;
  readonly userShares: string | null;
  /** Revenue of the last 30 days, tokens. */
  readonly revenue: string;
}

/** Each fund after its newest record: the vault before the record plus its movement. Markets without records are absent. */
export function insuranceFunds(store: HistoryStore, now: number): Promise<readonly InsuranceFundRow[]> {
  const place = '(ts, slot, ifNull(tx_index, 0), event_index)';
  return store.rows<InsuranceFundRow>(
    `SELECT market AS marketIndex, max(ts) AS ts, toString(argMax(vault, place)) AS vaultAmount,
       toString(argMax(shares, place)) AS totalShares, toString(argMaxIf(staked, place, staked IS NOT NULL)) AS userShares,
       toString(sumIf(revenue, ts >= {from:Int64})) AS revenue
     FROM (
       SELECT spot_market_index AS market, ts, ${place} AS place,
         toInt128(insurance_vault_amount_before) + amount AS vault, total_if_shares_after AS shares,
         CAST(NULL AS Nullable(UInt128)) AS staked, toInt128(greatest(amount, 0)) AS revenue
       FROM {db:Identifier}.insurance_fund FINAL
       UNION ALL
       SELECT market_index AS market, ts, ${place} AS place,
         toInt128(insurance_vault_amount_before) + multiIf(action IN ('stake', 'adminDeposit'), toInt128(amount),
           action = 'unstake', -toInt128(amount), toInt128(0)) AS vault,
         total_if_shares_after AS shares, toNullable(user_if_shares_after) AS staked, toInt128(0) AS revenue
       FROM {db:Identifier}.market_insurance_fund_stake FINAL
     ) GROUP BY market ORDER BY market`,
    { from: now - YIELD_DAYS * DAY_S },
  );
}

/** Yearly yield in percent 1e2, from the revenue of 30 days, truncated; 0 for an empty vault. */
export function yieldPercent1e2(revenue: bigint, vaultAmount: bigint): bigint {
  return vaultAmount <= 0n ? 0n : (revenue * 10_000n * 365n) / (BigInt(YIELD_DAYS) * vaultAmount);
}

export interface PoolRow {
  readonly bucket: string;
  readonly lpPool: string;
  /** Quote 1e6. */
  readonly tvl: string;
  /** Price of a share, quote 1e6. */
  readonly price: string;
}

/** The newest settlement of each pool in each bucket of the grid, and the last settlement before the grid. */
export function poolValues(store: HistoryStore, grid: Grid): Promise<readonly PoolRow[]> {
  return store.rows<PoolRow>(
    `SELECT ${bucketSql('ts')} AS bucket, base58Encode(lp_pool) AS lpPool,
       toString(argMax(lp_aum, (ts, slot, record_id))) AS tvl, toString(argMax(lp_price, (ts, slot, record_id))) AS price
     FROM {db:Identifier}.lp_settle WHERE ts <= {last:Int64}
     GROUP BY lp_pool, bucket ORDER BY lp_pool, bucket`,
    gridParameters(grid),
  );
}
