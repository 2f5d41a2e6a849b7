// The lists of metrics in the READMEs of the rooms are what the roles register, names and labels.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { startOrderBook } from '../api/index.ts';
import { Stage } from '../api/testing/stage.ts';
import { startFees } from '../ingest/index.ts';
import { createIngestMetrics } from '../ingest/metrics.ts';
import type { Registry, RoleContext, RunningRole } from '../platform/index.ts';
import { sinkMetrics } from '../processors/history/metrics.ts';
import {
  startBook,
  startCandles,
  startFillQuality,
  startRankings,
  startSamples,
  startTrades,
} from '../processors/index.ts';

/** Roles of each room as in a process; of ingest and the sink, which need a chain and a store, what they register. */
const ROOMS = {
  ingest: [startFees, ({ metrics }: RoleContext) => void createIngestMetrics(metrics)],
  processors: [
    ...[startBook, startTrades, startFillQuality, startRankings, startCandles, startSamples],
    ({ metrics }: RoleContext) => void sinkMetrics(metrics, async () => new Map()),
  ],
  api: [startOrderBook],
} as const;

const roles: RunningRole[] = [];
afterAll(async () => {
  for (const role of roles.reverse()) await role.stop();
});

/** Rows of a table but for what each metric counts, in order of names. */
function tableOf(registry: Registry): readonly string[] {
  const rows = [...registry.getMetricsAsArray()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return rows.map(({ name }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as { readonly labelNames: readonly string[] };
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${labels}${labels && ' '}|`;
  });
}

describe('the metrics that a README lists', () => {
  it.each(Object.keys(ROOMS) as (keyof typeof ROOMS)[])('are those of the roles of %s', async (room) => {
    const stage = new Stage();
    await stage.markets();
    const context = stage.context();
    for (const start of ROOMS[room]) {
      const role = await start(context);
      if (role) roles.push(role);
    }
    const readme = readFileSync(new URL(`../${room}/README.md`, import.meta.url), 'utf8');
    const [, section = ''] = readme.split(/^## Metrics$/m);
    const [, , ...listed] = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
    const registered = tableOf(context.metrics);
    expect(registered.length).toBeGreaterThan(5);
    expect(listed.map((row) => row.split('|', 3).join('|').concat('|'))).toEqual(registered);
    for (const row of listed) expect(row).toMatch(/\| \w[^|]+ \|$/);
  });
});
