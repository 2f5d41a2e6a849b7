// The status line of `slotbook dev`: read from the process's own metrics, once a second.

import { metricTotal, type Registry } from '../platform/index.ts';

const INTERVAL_MS = 1_000;
const COUNTERS = {
  slot: 'slotbook_ingest_slot',
  events: 'slotbook_ingest_events_total',
  changes: 'slotbook_book_changes_total',
  rows: 'slotbook_sink_rows_total',
  clients: 'slotbook_gateway_connections',
} as const;
type Reading = Record<keyof typeof COUNTERS, number>;

/** Prints a line a second until the returned function is called. */
export function startStatus(metrics: Registry, say: (line: string) => void): () => void {
  let last: { readonly reading: Reading; readonly atMs: number } | undefined;
  const timer = setInterval(async () => {
    const reading = await read(metrics);
    const atMs = performance.now();
    if (last) say(formatStatus(last.reading, reading, (atMs - last.atMs) / 1000));
    last = { reading, atMs };
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}

async function read(metrics: Registry): Promise<Reading> {
  const entries = Object.entries(COUNTERS).map(async ([name, metric]) => [name, await metricTotal(metrics, metric)]);
  return Object.fromEntries(await Promise.all(entries)) as Reading;
}

/** Rates are per second since the previous reading. */
export function formatStatus(before: Reading, now: Reading, seconds: number): string {
  const rate = (name: keyof Reading) => Math.round((now[name] - before[name]) / seconds);
  const count = (value: number) => value.toLocaleString('en-US');
  return [
    `slot ${count(now.slot)}`,
    `${count(rate('events'))} events/s`,
    `${count(rate('changes'))} book changes/s`,
    `${count(now.rows)} rows`,
    `${count(now.clients)} ${now.clients === 1 ? 'client' : 'clients'}`,
  ].join(' | ');
}
