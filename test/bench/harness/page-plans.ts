// Time of one page by each plan of `readRows` (api/history/lists.ts), taken in turn, in this process.

import {
  type PagePlan,
  type RowSource,
  readRows,
  rollingRange,
  type SliceRequest,
} from '../../../api/history/lists.ts';
import { USER_TRADES } from '../../../api/history/rows/account-fills.ts';
import { TRADES } from '../../../api/history/rows/market.ts';
import { HistoryStore, type Parameters } from '../../../api/history/store.ts';
import type { ClickHouse } from '../../../platform/index.ts';
import { percentile } from '../../support/platform/percentile.ts';
import { MARKET_SYMBOLS } from './history-store.ts';
import { machine } from './processes.ts';
import { report } from './report.ts';

const LIMIT = 50;
/** The tenth page by its number. */
const SKIPPED = 9 * LIMIT;
const REQUESTS = 60;
/** As the service probes and spans: twice what a page needs. */
const PROBE_ROWS = 2 * (LIMIT + 1) + 64;
const SPAN_MARGIN = 2;

export async function pagePlans(clickhouse: ClickHouse, busy: string, end: number): Promise<void> {
  const store = new HistoryStore(clickhouse.client, clickhouse.database);
  const names = Object.fromEntries(MARKET_SYMBOLS.map((symbol, index) => [`perp-${index}`, symbol]));
  const described = { symbols: names, steps: {}, baseScales: {} };
  const lists: readonly (readonly [string, RowSource, Parameters])[] = [
    ['market-trades', TRADES, { ...described, marketType: 'perp', marketIndex: 0 }],
    ['user-trades', USER_TRADES, { ...described, user: busy }],
  ];
  for (const [name, source, parameters] of lists) {
    const first: SliceRequest = {
      source,
      parameters,
      range: rollingRange(end, undefined, undefined),
      limit: LIMIT,
      skipped: 0,
    };
    const newest = await readRows(store, first, {});
    const span = end - Number(newest.at(-1)?.ts);
    await compared(store, `${name}.first`, first, {
      span: { since: end - SPAN_MARGIN * span - 1 },
      probe: { probe: PROBE_ROWS },
      unbounded: {},
    });
    // A lookup table gives the keys first in any case.
    if (source.lookup !== undefined) continue;
    const offset = { ...first, skipped: SKIPPED };
    await compared(store, `${name}.offset`, offset, { 'keys-first': { keysFirst: true }, whole: {} });
  }
}

async function compared(
  store: HistoryStore,
  name: string,
  request: SliceRequest,
  plans: Readonly<Record<string, PagePlan>>,
): Promise<void> {
  const taken = Object.entries(plans).map(([plan, found]) => ({ plan, found, ms: [] as number[], rows: 0 }));
  for (let round = 0; round < REQUESTS; round++) {
    for (const one of taken) {
      const startedMs = performance.now();
      one.rows = (await readRows(store, request, one.found)).length;
      one.ms.push(performance.now() - startedMs);
    }
  }
  for (const { plan, ms, rows } of taken) {
    const [p50, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)];
    report({
      name: `history.plan.${name}.${plan}`,
      value: p50,
      unit: 'ms',
      p99,
      rows,
      requests: REQUESTS,
      ...machine(),
    });
  }
}
