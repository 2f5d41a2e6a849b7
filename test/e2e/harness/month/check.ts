// Compares a running history service with the truth of a month, endpoint by endpoint.

import type { StatsCheck } from './answers.ts';
import { freshnessChecks } from './freshness.ts';
import type { ListCheck } from './lists.ts';
import { type MonthMarket, marketChecks } from './markets.ts';
import { checkDated, checkRolling, getJson, type Outcome } from './paging.ts';
import { sampleChecks } from './samples.ts';
import { snapshotChecks } from './snapshots.ts';
import { statsChecks } from './stats.ts';
import type { Sample } from './stored-samples.ts';
import { type MonthTruth, utcSpan } from './truth.ts';

const AT_ONCE = 4;
const ROWS_PER_PAGE = 50;
/** Every compared archive slot is read as CSV, one in so many as JSON as well. */
const JSON_EVERY = 3;
/** One in so many of the slots without rows is read. */
const EMPTY_EVERY = 11;

/** Served paths of the contract, in its spelling. */
export async function servedPaths(base: string): Promise<ReadonlySet<string>> {
  const { paths } = await getJson<{ paths: Record<string, unknown> }>(`${base}/openapi.json`);
  return new Set(Object.keys(paths));
}

/**
 * Everything that is not a list or a candle. To be requested before the lists, because the service caches some of their sums
 * for a minute.
 */
export function sumChecks(
  truth: MonthTruth,
  samples: readonly Sample[],
  markets: readonly MonthMarket[],
): readonly StatsCheck[] {
  return [
    ...statsChecks(truth),
    ...sampleChecks(truth, samples, markets),
    ...marketChecks(truth, samples, markets),
    ...snapshotChecks(truth, samples),
    ...freshnessChecks(truth, samples),
  ];
}

export interface EndpointReport {
  readonly endpoint: string;
  readonly lists: number;
  readonly rows: number;
  readonly requests: number;
  readonly differences: readonly string[];
}

/** One line per endpoint, in the order of the first list of each. */
export function byEndpoint(outcomes: readonly Outcome[]): readonly EndpointReport[] {
  const found = new Map<string, Outcome[]>();
  for (const outcome of outcomes) found.set(outcome.endpoint, [...(found.get(outcome.endpoint) ?? []), outcome]);
  return [...found].map(([endpoint, list]) => ({
    endpoint,
    lists: list.length,
    rows: list.reduce((sum, { rows }) => sum + rows, 0),
    requests: list.reduce((sum, { requests }) => sum + requests, 0),
    differences: list.flatMap(({ path, difference }) => (difference === null ? [] : [`${path}: ${difference}`])),
  }));
}

/**
 * Checks every list that is served, and of its archive one slot in `slotEvery`; `missing` names the endpoints that are not
 * served.
 */
export async function checkLists(
  base: string,
  checks: readonly ListCheck[],
  finalTs: number,
  slotEvery = 1,
): Promise<{ readonly reports: readonly EndpointReport[]; readonly missing: readonly string[] }> {
  const served = await servedPaths(base);
  const missing = new Set<string>();
  /** Archive slots so far, of each endpoint, with and without rows: the first of each is compared. */
  const counted = new Map<string, number>();
  const jobs: (() => Promise<Outcome>)[] = [];
  for (const [index, check] of checks.entries()) {
    if (!served.has(check.endpoint)) {
      missing.add(check.endpoint);
      continue;
    }
    // Every seventh list is read with the default page, the others with the largest, which takes fewer requests.
    const limit = index % 7 === 0 && check.rows.length < 300 ? undefined : (check.pageRows ?? ROWS_PER_PAGE);
    jobs.push(() => failed(check, () => checkRolling(base, check, limit)));
    if (!check.archive) continue;
    if (![...served].some((path) => path.startsWith(`${check.endpoint}/{year}`))) {
      missing.add(`${check.endpoint}/${check.archive}`);
      continue;
    }
    for (const slot of slotsOf(check)) {
      const isFull = hasRows(check, slot);
      const kind = `${check.endpoint} ${isFull}`;
      const nth = counted.get(kind) ?? 0;
      counted.set(kind, nth + 1);
      const every = isFull ? slotEvery : EMPTY_EVERY;
      if (nth % every !== 0) continue;
      const asJson = (nth / every) % JSON_EVERY === 0;
      jobs.push(() => failed(check, () => checkDated(base, check, slot, { finalTs, asJson })));
    }
  }
  return { reports: byEndpoint(await inParallel(jobs)), missing: [...missing] };
}

async function failed(check: ListCheck, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    return { endpoint: check.endpoint, path: check.path, rows: 0, requests: 1, difference: String(error) };
  }
}

type Slot = readonly [year: number, month: number, day?: number];

/** Every day (or month) of the chain's life, and one before it. */
function slotsOf({ archive }: ListCheck): readonly Slot[] {
  const now = Math.floor(Date.now() / 1000);
  const slots = new Map<string, Slot>();
  for (let ts = now - 34 * 86_400; ts <= now; ts += 86_400) {
    const date = new Date(ts * 1000);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const slot: Slot = archive === 'month' ? [year, month] : [year, month, date.getUTCDate()];
    slots.set(slot.join('/'), slot);
  }
  return [...slots.values()];
}

function hasRows({ rows }: ListCheck, slot: Slot): boolean {
  const { from, to } = utcSpan(...slot);
  return rows.some(({ ts }) => Number(ts) >= from && Number(ts) < to);
}

async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let job = next++; job < jobs.length; job = next++) {
      const work = jobs[job];
      if (work) results[job] = await work();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
