// Mean funding rates over a day, a week, a month and a year.

import { FUNDING_RECORDS, fundingPercentSql } from '../../../schemas/index.ts';
import { divideRounded } from '../../http/units.ts';
import { HOUR_S } from '../seconds.ts';
import type { HistoryStore } from '../store.ts';

/** Hours of each mean (docs/internals/history-semantics.md, "Funding averages"). The first covers as many records. */
export const FUNDING_PERIODS = { '24h': FUNDING_RECORDS, '7d': 168, '30d': 720, '1y': 8760 } as const;

export type FundingPeriod = keyof typeof FUNDING_PERIODS;
const PERIODS = Object.keys(FUNDING_PERIODS) as readonly FundingPeriod[];

/** SQL that selects the rows of a period: the newest 24, or all rows younger than its hours. */
const within = (period: FundingPeriod): string =>
  period === '24h' ? `place <= ${FUNDING_RECORDS}` : `ts > {now:Int64} - ${FUNDING_PERIODS[period] * HOUR_S}`;

/**
 * Mean funding of each perp market in percent per hour, 1e9; 0 for a period without rows. Each row is fundingRateLong /
 * oraclePriceTwap * 100, truncated toward zero at 1e9; the mean is rounded. Rows older than a year do not count.
 */
export async function averageFunding(
  store: HistoryStore,
  now: number,
): Promise<ReadonlyMap<number, Readonly<Record<FundingPeriod, bigint>>>> {
  const sums = PERIODS.map((name) => `[toString(sumIf(percent, ${within(name)})), toString(countIf(${within(name)}))]`);
  const rows = await store.rows<{ marketIndex: number; sums: readonly (readonly string[])[] }>(
    `SELECT market_index AS marketIndex, [${sums.join(', ')}] AS sums
     FROM (
       SELECT market_index, ts, row_number() OVER (PARTITION BY market_index ORDER BY record_id DESC) AS place,
         ${fundingPercentSql('funding_rate_long', 'oracle_price_twap')} AS percent
       FROM {db:Identifier}.funding_rate FINAL
       WHERE ts > {now:Int64} - ${FUNDING_PERIODS['1y'] * HOUR_S}
     ) GROUP BY market_index`,
    { now },
  );
  return new Map(rows.map(({ marketIndex, sums }) => [marketIndex, means(sums)]));
}

/** Mean of records, rounded half away from zero; 0 without records. */
export const meanFunding = (sum: bigint, count: bigint): bigint => (count === 0n ? 0n : divideRounded(sum, count));

function means(sums: readonly (readonly string[])[]): Readonly<Record<FundingPeriod, bigint>> {
  const mean = (period: FundingPeriod): bigint => {
    const [sum = '0', count = '0'] = sums[PERIODS.indexOf(period)] ?? [];
    return meanFunding(BigInt(sum), BigInt(count));
  };
  return { '24h': mean('24h'), '7d': mean('7d'), '30d': mean('30d'), '1y': mean('1y') };
}
