// The alerting rules name metrics that exist: every role whose metrics they read registers its own here, as in a process.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startOrderBook } from '../api/index.ts';
import { Stage } from '../api/testing/stage.ts';
import { createIngestMetrics } from '../ingest/metrics.ts';
import type { RoleContext, RunningRole } from '../platform/index.ts';
import { sinkMetrics } from '../processors/history/metrics.ts';
import { startBook, startCandles, startFillQuality, startRankings, startTrades } from '../processors/index.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const { groups } = parse(readFileSync(new URL('../deploy/alerts.yaml', import.meta.url), 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);
/** Words of the query language that stand where a metric could. */
const KEYWORDS = new Set(['or', 'and', 'by']);
/** Series that a histogram is made of. */
const PARTS = /_(bucket|sum|count)$/;

/** What is left when selectors, ranges, groupings and functions are taken out. */
function metricsOf(expr: string): string[] {
  const bare = expr.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.has(name));
}

let context: RoleContext;
const roles: RunningRole[] = [];

beforeAll(async () => {
  const stage = new Stage();
  await stage.markets();
  context = stage.context();
  for (const start of [startBook, startTrades, startFillQuality, startRankings, startCandles, startOrderBook]) {
    roles.push(await start(context));
  }
  createIngestMetrics(context.metrics);
  sinkMetrics(context.metrics, async () => new Map());
});

afterAll(async () => {
  for (const role of roles.reverse()) await role.stop();
});

it.each(rules)('$alert reads metrics that are registered', ({ expr }) => {
  const names = metricsOf(expr);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const isRegistered = [name, name.replace(PARTS, '')].some((one) => context.metrics.getSingleMetric(one));
    expect(isRegistered, name).toBe(true);
  }
});

it('reads the metrics of an expression and nothing else', () => {
  const expr = 'sum by (path) (rate(a_total{x=~"b|c", path!~"/d"}[5m])) > 1 or abs(e - f{g="h"}) > 2';
  expect(metricsOf(expr)).toEqual(['a_total', 'e', 'f']);
});
