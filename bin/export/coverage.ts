// The coverage of an export: rows, first and last row, gaps of the chain data in the range, and events not stored yet.

import type { ClickHouseClient } from '@clickhouse/client';
import {
  type ChainGap,
  provesRecord,
  type ReconstructedFills,
  type ReconstructedOrder,
  type StreamCoverage,
  streamKey,
} from '../../schemas/index.ts';
import type { ExportRequest } from './request.ts';
import { SOURCE } from './select.ts';
import { rows } from './store.ts';

export interface RangeCoverage {
  readonly rows: number;
  /** Null without rows. */
  readonly first: { readonly slot: number | null; readonly ts: number } | null;
  readonly last: { readonly slot: number | null; readonly ts: number } | null;
}

export interface CoveredGap {
  readonly fromSlot: number;
  readonly toSlot: number;
  /** Unix seconds of the nearest stored events around the gap; null without any. */
  readonly fromTs: number | null;
  readonly toTs: number | null;
  readonly filled: boolean;
  /** ISO time; null while the gap is open. */
  readonly filledAt: string | null;
  /** True when no source can close the gap. */
  readonly lasting: boolean;
  readonly reason: string;
}

export interface StoredUpTo {
  readonly slot: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** The newest stored event; null for an empty store. */
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
export async function readRangeCoverage(
  client: ClickHouseClient,
  db: string,
  { table, fromTs, toTs }: Request,
  hasSlot: boolean,
): Promise<RangeCoverage> {
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

/** Gaps that touch the range, oldest first. Stored order actions relate slots to times. */
export async function gapsOfRange(
  client: ClickHouseClient,
  db: string,
  request: Request,
  gaps: readonly ChainGap[],
): Promise<readonly CoveredGap[]> {
  if (gaps.length === 0) return [];
  const [fromSlot, toSlot] = await slotsOfRange(client, db, request);
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

/** Numbered records that the log lacks in slots that touch the range. */
export interface MissingRecords {
  readonly stream: string;
  readonly fromId: number;
  readonly toId: number;
  readonly fromSlot: number;
  readonly toSlot: number;
  /** No node has them. */
  readonly lost: boolean;
  /** Of lost fills, the exact sum for each order that later records or account states prove. */
  readonly reconstructed: readonly ReconstructedFills[];
  /** Of lost orders, those that account states showed. */
  readonly reconstructedOrders: readonly ReconstructedOrder[];
}

export interface Evidence {
  readonly toTs: number;
  /** Whether the chain can take back nothing in the range. */
  readonly isFinal: boolean;
  readonly storedUpTo: StoredUpTo | null;
  readonly eventsNotStored: number | null;
  /** Null: nobody knows them. */
  readonly gaps: readonly CoveredGap[] | null;
  readonly streams: readonly StreamCoverage[];
  readonly missing: readonly MissingRecords[];
}

/** Whether the store has every event up to the end of the range, all of them final, and known coverage lacks none in it. */
export function isRangeComplete({
  toTs,
  isFinal,
  storedUpTo,
  eventsNotStored,
  gaps,
  streams,
  missing,
}: Evidence): boolean {
  if (!isFinal || gaps === null || streams.length === 0) return false;
  if (eventsNotStored !== 0 || storedUpTo === null || storedUpTo.ts < toTs) return false;
  const proving = new Set(streams.filter(provesRecord).map(streamKey));
  return gaps.every(({ filled }) => filled) && !missing.some(({ stream }) => proving.has(stream));
}

export async function holesOfRange(
  client: ClickHouseClient,
  db: string,
  request: Request,
  coverage: readonly StreamCoverage[],
): Promise<readonly MissingRecords[]> {
  const holes = coverage.flatMap((one) => one.holes.map((hole) => ({ stream: streamKey(one), ...hole })));
  if (holes.length === 0) return [];
  const [fromSlot, toSlot] = await slotsOfRange(client, db, request);
  return holes
    .filter((hole) => hole.toSlot >= fromSlot && hole.fromSlot <= toSlot)
    .map(({ isLost, ...hole }) => ({ ...hole, lost: isLost }));
}

/** First and last slot around the range, by stored order actions. */
async function slotsOfRange(
  client: ClickHouseClient,
  db: string,
  { fromTs, toTs }: Request,
): Promise<readonly [number, number]> {
  const [range] = await rows<{ before: string; after: string; hasBefore: number; hasAfter: number }>(
    client,
    `SELECT maxIf(slot, ts < {fromTs:Int64}) AS before, countIf(ts < {fromTs:Int64}) > 0 AS hasBefore,
       minIf(slot, ts >= {toTs:Int64}) AS after, countIf(ts >= {toTs:Int64}) > 0 AS hasAfter
     FROM {db:Identifier}.order_action`,
    { db, fromTs, toTs },
  );
  return [range?.hasBefore ? Number(range.before) : 0, range?.hasAfter ? Number(range.after) : Number.MAX_SAFE_INTEGER];
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
