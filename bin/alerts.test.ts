// The alerting rules name registered metrics and counters that start at zero. Every role with such metrics registers its own
// here, as in a process.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startExports, startHistory, startOrderBook } from '../api/index.ts';
import { startFees } from '../ingest/index.ts';
import { createIngestMetrics } from '../ingest/metrics.ts';
import {
  exposeRoleStates,
  type RoleContext,
  type RunningRole,
  TailLosses,
  watchDescriptors,
  watchLog,
} from '../platform/index.ts';
import { sinkMetrics } from '../processors/history/metrics.ts';
import {
  startBook,
  startCandles,
  startCoverage,
  startFillQuality,
  startNotifications,
  startRankings,
  startSamples,
  startTrades,
} from '../processors/index.ts';
import { encodeMessage, type FeedQuality, TOPICS } from '../schemas/index.ts';
import { absentStore } from '../test/support/api/absent-store.ts';
import { Stage, snapshot, until } from '../test/support/api/stage.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const { groups } = parse(readFileSync(new URL('../deploy/alerts.yaml', import.meta.url), 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);
/** Words of the query language in places where a metric could be. */
const KEYWORDS = new Set(['or', 'and', 'by', 'offset']);
/** A metric that Prometheus itself records for each target. */
const TARGET_METRIC = 'up';
/** Suffixes of the series of a histogram. */
const PARTS = /_(bucket|sum|count)$/;

/** Metric names of an expression, without selectors, ranges, groupings and functions. */
function metricsOf(expr: string): string[] {
  const bare = expr.replace(/"[^"]*"/g, ' ').replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.has(name));
}

interface Selected {
  readonly name: string;
  /** Label patterns of its series. Like in Prometheus, a pattern must match the whole value. */
  readonly matchers: readonly { readonly label: string; readonly isIncluded: boolean; readonly pattern: RegExp }[];
}

/** Series whose increase or rate an expression uses. */
function selectedOf(expr: string): Selected[] {
  return [...expr.matchAll(/\b(?:increase|rate)\((\w+)(?:\{([^}]*)\})?\[/g)].map(([, name = '', selector = '']) => ({
    name,
    matchers: [...selector.matchAll(/(\w+)(=~|!~|=)"([^"]*)"/g)].map(([, label = '', operator, value]) => ({
      label,
      isIncluded: operator !== '!~',
      pattern: new RegExp(`^(?:${value})$`),
    })),
  }));
}

/** A comparison that the book role wrote before its restart. */
const QUALITY: FeedQuality = {
  marketType: 'perp',
  marketIndex: 0,
  source: 'book',
  slot: 487,
  atMs: 0,
  events: 0,
  gapsFound: 0,
  gapsFilled: 0,
  checks: 1,
  differences: 0,
  checkSlot: 487,
  checkResult: 'equal',
  epoch: 1,
};

let context: RoleContext;
const roles: RunningRole[] = [];

beforeAll(async () => {
  const stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  await stage.log.append(TOPICS.qualityViews, [{ key: 'perp-0/book', value: encodeMessage('FeedQuality', QUALITY) }]);
  context = stage.context();
  const starts = [
    startBook,
    startTrades,
    startCoverage,
    startFillQuality,
    startNotifications,
    startRankings,
    startCandles,
    startSamples,
    startFees,
    startOrderBook,
    (of: RoleContext) => startHistory(of, absentStore()),
    (of: RoleContext) => startExports(of, absentStore()),
  ];
  for (const start of starts) {
    roles.push(await start(context));
  }
  // Every process watches its descriptors.
  watchDescriptors(context).stop();
  createIngestMetrics(context.metrics);
  exposeRoleStates(context.metrics, new Map());
  new TailLosses(context.logger, context.metrics);
  watchLog({ watch: { onLook: () => () => {} }, logger: context.logger, metrics: context.metrics })();
  sinkMetrics(context.metrics, async () => new Map());
  await until(async () => (await valuesOf('slotbook_reader_differences_total')).length > 0);
});

async function valuesOf(name: string): Promise<readonly { value: number; labels: Record<string, unknown> }[]> {
  return (await context.metrics.getSingleMetric(name)?.get())?.values ?? [];
}

afterAll(async () => {
  for (const role of roles.reverse()) await role.stop();
});

it.each(rules)('$alert reads metrics that are registered', ({ expr }) => {
  const names = metricsOf(expr);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names.filter((one) => one !== TARGET_METRIC)) {
    const isRegistered = [name, name.replace(PARTS, '')].some((one) => context.metrics.getSingleMetric(one));
    expect(isRegistered, name).toBe(true);
  }
});

it.each(rules.filter(({ expr }) => selectedOf(expr).length > 0))('$alert counts from zero', async ({ expr }) => {
  for (const { name, matchers } of selectedOf(expr)) {
    if (PARTS.test(name)) continue; // Latency histograms start with their first request.
    const series = (await valuesOf(name)).filter(({ labels }) =>
      matchers.every(({ label, isIncluded, pattern }) => pattern.test(String(labels[label])) === isIncluded),
    );
    expect(series, name).not.toEqual([]);
    for (const { value } of series) expect(value, name).toBe(0);
  }
});

it.each(rules.filter(({ expr }) => expr.includes('delta(')))('$alert counts what a start finds', ({ expr }) => {
  // A gauge that begins with the new count has no delta.
  for (const [, series = ''] of expr.matchAll(/delta\(([^[]+)\[/g)) {
    expect(expr).toContain(`> (max(last_over_time(${series}[7d] offset 15m)) or vector(0))`);
  }
});

it('finds the increasing series of an expression', () => {
  const [one, other] = selectedOf('sum by (p) (rate(a_total{p!~"/|/x", s="5"}[5m])) or increase(b_total[15m]) > 0');
  expect(one?.matchers.map(({ label, isIncluded, pattern }) => [label, isIncluded, pattern.test('/')])).toEqual([
    ['p', false, true],
    ['s', true, false],
  ]);
  expect(other).toEqual({ name: 'b_total', matchers: [] });
});

it('finds only the metrics of an expression', () => {
  const expr = 'sum by (path) (rate(a_total{x=~"b|c", path!~"/d"}[5m])) > 1 or abs(e - f{g="h"}) > 2';
  expect(metricsOf(expr)).toEqual(['a_total', 'e', 'f']);
});
