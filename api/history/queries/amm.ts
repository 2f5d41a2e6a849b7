// Market samples as series with even steps.

import { bucketSql } from '../snapshots/grid.ts';
import type { HistoryStore } from '../store.ts';

/** Points at `first`, `first + step`, ... */
export interface Steps {
  /** Unix seconds. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

const MIN_STEP_S = 20;

/**
 * At most `samples` points from start to end, both inclusive, at least 20 seconds apart
 * (docs/reference/history-rest.md). The function counts back from the end, so the newest state always has a point.
 */
export function stepsOf(start: number, end: number, samples: number): Steps {
  const step = Math.max(MIN_STEP_S, Math.ceil((end - start) / samples));
  const count = Math.min(samples, Math.floor((end - start) / step) + 1);
  return { first: end - (count - 1) * step, step, count };
}

/** Column expressions of a sample. A sample with a null column is skipped. */
export type SampleColumns = readonly string[];

export type SamplePoint = readonly [ts: number, ...values: string[]];

/** The newest sample at or before each point; points before the first sample are absent. Raw integers as text. */
export async function sampleSeries(
  store: HistoryStore,
  marketIndex: number,
  columns: SampleColumns,
  { first, step, count }: Steps,
): Promise<readonly SamplePoint[]> {
  const last = first + (count - 1) * step;
  const known = columns.map((column) => `${column} IS NOT NULL`).join(' AND ');
  const from = `FROM {db:Identifier}.market_sample
    WHERE market_type = 'perp' AND market_index = {marketIndex:UInt16} AND ${known}`;
  const values = `[${columns.map((column) => `toString(assumeNotNull(${column}))`).join(', ')}]`;
  const rows = await store.rows<{ point: string; sample: readonly string[] }>(
    `SELECT point, argMax(sample, (ts, slot)) AS sample FROM (
       SELECT ${bucketSql('ts')} AS point, ts, slot, ${values} AS sample
       ${from} AND ts > {first:Int64} AND ts <= {last:Int64}
       UNION ALL
       SELECT 0 AS point, ts, slot, ${values} AS sample
       ${from} AND ts <= {first:Int64} ORDER BY ts DESC, slot DESC LIMIT 1
     ) GROUP BY point ORDER BY point`,
    { marketIndex, first, step, last },
  );
  return carriedForward(rows, { first, step, count });
}

function carriedForward(
  rows: readonly { readonly point: string; readonly sample: readonly string[] }[],
  { first, step, count }: Steps,
): readonly SamplePoint[] {
  const points: SamplePoint[] = [];
  let next = 0;
  let known: readonly string[] | null = null;
  for (let point = 0; point < count; point++) {
    const row = rows[next];
    if (row && Number(row.point) === point) {
      known = row.sample;
      next++;
    }
    if (known) points.push([first + point * step, ...known]);
  }
  return points;
}
