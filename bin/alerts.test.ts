// The alerting rules name metrics that exist, and counters that begin at zero: every role whose metrics they read registers
// its own here, as in a process.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startOrderBook } from '../api/index.ts';
import { Stage, snapshot, until } from '../api/testing/stage.ts';
import { startFees } from '../ingest/index.ts';
import { createIngestMetrics } from '../ingest/metrics.ts';
import type { RoleContext, RunningRole } from '../platform/index.ts';
import { sinkMetrics } from '../processors/history/metrics.ts';
import {
  startBook,
  startCandles,
  startFillQuality,
  startRankings,
  startSamples,
  startTrades,
} from '../processors/index.ts';
import { encodeMessage, type FeedQuality, TOPICS } from '../schemas/index.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const { groups } = parse(readFileSync(new URL('../deploy/alerts.yaml', import.meta.url), 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);
/** Words of the query language that stand where a metric could. */
const KEYWORDS = new Set(['or', 'and', 'by']);
/** What Prometheus itself tells of a target. */
const TARGET_METRIC = 'up';
/** Series that a histogram is made of. */
const PARTS = /_(bucket|sum|count)$/;

/** What is left when selectors, ranges, groupings and functions are taken out. */
function metricsOf(expr: string): string[] {
  const bare = expr.replace(/"[^"]*"/g, ' ').replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.has(name));
}

interface Selected {
  readonly name: string;
  /** What the labels of its series must match, each as Prometheus matches: the whole value. */
  readonly matchers: readonly { readonly label: string; readonly isWanted: boolean; readonly pattern: RegExp }[];
}

/** What an expression takes the increase or the rate of. */
function selectedOf(expr: string): Selected[] {
  return [...expr.matchAll(/\b(?:increase|rate)\((\w+)(?:\{([^}]*)\})?\[/g)].map(([, name = '', selector = '']) => ({
    name,
    matchers: [...selector.matchAll(/(\w+)(=~|!~|=)"([^"]*)"/g)].map(([, label = '', operator, value]) => ({
      label,
      isWanted: operator !== '!~',
      pattern: new RegExp(`^(?:${value})$`),
    })),
  }));
}

/** A comparison that the book role told of before it was started again. */
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
    startFillQuality,
    startRankings,
    startCandles,
    startSamples,
    startFees,
    startOrderBook,
  ];
  for (const start of starts) {
    roles.push(await start(context));
  }
  createIngestMetrics(context.metrics);
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
    if (PARTS.test(name)) continue; // Of a histogram: how long requests took, which is asked of many.
    const series = (await valuesOf(name)).filter(({ labels }) =>
      matchers.every(({ label, isWanted, pattern }) => pattern.test(String(labels[label])) === isWanted),
    );
    expect(series, name).not.toEqual([]);
    for (const { value } of series) expect(value, name).toBe(0);
  }
});

it('reads what increases out of an expression', () => {
  const [one, other] = selectedOf('sum by (p) (rate(a_total{p!~"/|/x", s="5"}[5m])) or increase(b_total[15m]) > 0');
  expect(one?.matchers.map(({ label, isWanted, pattern }) => [label, isWanted, pattern.test('/')])).toEqual([
    ['p', false, true],
    ['s', true, false],
  ]);
  expect(other).toEqual({ name: 'b_total', matchers: [] });
});

it('reads the metrics of an expression and nothing else', () => {
  const expr = 'sum by (path) (rate(a_total{x=~"b|c", path!~"/d"}[5m])) > 1 or abs(e - f{g="h"}) > 2';
  expect(metricsOf(expr)).toEqual(['a_total', 'e', 'f']);
});
