// What an export can answer for: rows, first and last, gaps of the chain data in its range, and what was not stored yet.

import type { ClickHouseClient } from '@clickhouse/client';
import type { ChainGap } from '../../schemas/index.ts';
import type { ExportRequest } from './request.ts';
import { SOURCE } from './select.ts';
import { rows } from './store.ts';

export interface RangeFacts {
  readonly rows: number;
  /** Null when there are no rows. */
  readonly first: { readonly slot: number | null; readonly ts: number } | null;
  readonly last: { readonly slot: number | null; readonly ts: number } | null;
}

export interface CoveredGap {
  readonly fromSlot: number;
  readonly toSlot: number;
  /** Unix seconds of the nearest stored events around it; null where there are none. */
  readonly fromTs: number | null;
  readonly toTs: number | null;
  readonly filled: boolean;
  /** ISO time; null while it is open. */
  readonly filledAt: string | null;
  /** True when nothing can bring what it lacks. */
  readonly lasting: boolean;
  readonly reason: string;
}

export interface StoredUpTo {
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** The newest event that is stored; null for an empty store. */
export async function readStoredUpTo(client: ClickHouseClient, db: string): Promise<StoredUpTo | null> {
  const [row] = await rows<{ n: string; slot: string; ts: string }>(
    client,
    'SELECT count() AS n, max(slot) AS slot, max(ts) AS ts FROM {db:Identifier}.order_action',
    { db },
  );
  return !row || row.n === '0' ? null : { slot: Number(row.slot), ts: Number(row.ts) };
}

type Request = Pick<ExportRequest, 'table' | 'fromTs' | 'toTs'>;

/** Counts the rows of the range and finds its ends. */
export async function readRangeFacts(
  client: ClickHouseClient,
  db: string,
  { table, fromTs, toTs }: Request,
  hasSlot: boolean,
): Promise<RangeFacts> {
  const ends = hasSlot ? ', min(slot) AS firstSlot, max(slot) AS lastSlot' : '';
  const [row] = await rows<Record<'rows' | 'firstTs' | 'lastTs' | 'firstSlot' | 'lastSlot', string>>(
    client,
    `SELECT count() AS rows, min(ts) AS firstTs, max(ts) AS lastTs${ends} FROM ${SOURCE}`,
    { db, table, fromTs, toTs },
  );
  if (!row || row.rows === '0') return { rows: 0, first: null, last: null };
  const slot = (text: string) => (hasSlot ? Number(text) : null);
  return {
    rows: Number(row.rows),
    first: { slot: slot(row.firstSlot), ts: Number(row.firstTs) },
    last: { slot: slot(row.lastSlot), ts: Number(row.lastTs) },
  };
}

/** Gaps that may lack something of the range, oldest first. Slots and times are put together by the stored order actions. */
export async function gapsOfRange(
  client: ClickHouseClient,
  db: string,
  { fromTs, toTs }: Request,
  gaps: readonly ChainGap[],
): Promise<readonly CoveredGap[]> {
  if (gaps.length === 0) return [];
  const [range] = await rows<{ before: string; after: string; hasBefore: number; hasAfter: number }>(
    client,
    `SELECT maxIf(slot, ts < {fromTs:Int64}) AS before, countIf(ts < {fromTs:Int64}) > 0 AS hasBefore,
       minIf(slot, ts >= {toTs:Int64}) AS after, countIf(ts >= {toTs:Int64}) > 0 AS hasAfter
     FROM {db:Identifier}.order_action`,
    { db, fromTs, toTs },
  );
  const fromSlot = range?.hasBefore ? Number(range.before) : 0;
  const toSlot = range?.hasAfter ? Number(range.after) : Number.MAX_SAFE_INTEGER;
  const within = gaps.filter((gap) => gap.toSlot >= fromSlot && gap.fromSlot <= toSlot);
  const times = await timesAround(client, db, within);
  return within.map((gap, index) => ({
    fromSlot: gap.fromSlot,
    toSlot: gap.toSlot,
    fromTs: times[index]?.fromTs ?? null,
    toTs: times[index]?.toTs ?? null,
    filled: gap.filledAtMs !== null,
    filledAt: gap.filledAtMs === null ? null : new Date(gap.filledAtMs).toISOString(),
    lasting: gap.isLasting,
    reason: gap.reason,
  }));
}

const NEVER = '9223372036854775807';

async function timesAround(client: ClickHouseClient, db: string, gaps: readonly ChainGap[]) {
  if (gaps.length === 0) return [];
  const [row] = await rows<{ before: readonly string[]; after: readonly string[] }>(
    client,
    `SELECT maxForEach(arrayMap(bound -> if(slot <= bound, ts, -1), {fromSlots:Array(UInt64)})) AS before,
       minForEach(arrayMap(bound -> if(slot >= bound, ts, ${NEVER}), {toSlots:Array(UInt64)})) AS after
     FROM {db:Identifier}.order_action`,
    { db, fromSlots: gaps.map(({ fromSlot }) => fromSlot), toSlots: gaps.map(({ toSlot }) => toSlot) },
  );
  return gaps.map((_, index) => {
    const before = row?.before[index];
    const after = row?.after[index];
    return {
      fromTs: before === undefined || before === '-1' ? null : Number(before),
      toTs: after === undefined || after === NEVER ? null : Number(after),
    };
  });
}
