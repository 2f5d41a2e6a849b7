// The reference page of metrics, from the metrics that roles register.

import type { Registry } from 'prom-client';
import { code, page, table, written } from './markdown.ts';

const ROOMS: Readonly<Record<string, { readonly heading: string; readonly about: string }>> = {
  processes: { heading: 'Processes', about: 'Every process, whatever its roles.' },
  ingest: { heading: 'Ingest', about: 'Roles `ingest` and `fees`.' },
  processors: {
    heading: 'Processors',
    about:
      'Roles `book`, `trades`, `samples`, `candles`, `rankings`, `fillQuality`, `coverage`, `notifications` and `sink`. Lags count from the newest record of the log.',
  },
  api: {
    heading: 'Servers',
    about:
      'Roles `orderbook` and `history`. Names without `slotbook_` are those of the [predecessor](../concepts/glossary.md).',
  },
};

/** Rows of name, type, labels and meaning, by name. */
async function rowsOf(registry: Registry): Promise<readonly (readonly string[])[]> {
  const metrics = [...(await registry.getMetricsAsJSON())].sort((a, b) => (a.name < b.name ? -1 : 1));
  return metrics.map(({ name, type, help }) => {
    // The types of the client lack this member, which every metric has.
    const { labelNames } = registry.getSingleMetric(name) as unknown as { readonly labelNames: readonly string[] };
    return [code(name), String(type), labelNames.map(code).join(', '), help];
  });
}

export async function metricsPage(byRoom: Readonly<Record<string, Registry>>): Promise<string> {
  const sections = [];
  for (const [room, registry] of Object.entries(byRoom)) {
    const { heading = room, about = '' } = ROOMS[room] ?? {};
    const rows = await rowsOf(registry);
    if (rows.length > 0) sections.push(`## ${heading}`, about, table(['Metric', 'Type', 'Labels', 'Meaning'], rows));
  }
  return page([
    '# Metrics',
    written('the metrics that the roles register'),
    'Every process serves them at `/metrics` on `metricsPort`, with a label `roles` and the usual metrics of Node.js.',
    'Books at `processed` have the metrics of the book role and its readers once more, as `slotbook_processed_` and the name without `slotbook_`.',
    'Rules for alerts stand in `deploy/alerts.yaml`. [Alerts](../operations/alerts.md) has a runbook for each.',
    ...sections,
  ]);
}
