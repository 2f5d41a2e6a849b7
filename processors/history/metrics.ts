// Metrics of the sink.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PARK_REASONS } from './catalogue.ts';

export interface SinkMetrics {
  readonly rows: Counter<'table'>;
  readonly parked: Counter<'reason'>;
  readonly lag: Gauge<'partition'>;
  readonly blocks: Counter;
  readonly retries: Counter;
  readonly days: Counter;
  readonly retracted: Counter<'table'>;
  readonly blockRows: Histogram;
  readonly blockSeconds: Histogram;
}

const ROW_BUCKETS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
const SECOND_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `readLag` returns the records in the log that are not stored yet, by partition; each scrape calls it. */
export function sinkMetrics(registry: Registry, readLag: () => Promise<ReadonlyMap<number, bigint>>): SinkMetrics {
  const registers = [registry];
  const metrics: SinkMetrics = {
    rows: new Counter({
      name: 'slotbook_sink_rows_total',
      help: 'rows acknowledged by ClickHouse',
      labelNames: ['table'],
      registers,
    }),
    parked: new Counter({
      name: 'slotbook_sink_parked_total',
      help: 'records put into dead-letters',
      labelNames: ['reason'],
      registers,
    }),
    lag: new Gauge({
      name: 'slotbook_sink_lag_records',
      help: 'records appended but not stored yet',
      labelNames: ['partition'],
      registers,
      async collect() {
        try {
          for (const [partition, records] of await readLag()) this.set({ partition }, Number(records));
        } catch {
          // The log is away or closed: the last values remain, and other metrics are still read.
        }
      },
    }),
    blocks: new Counter({ name: 'slotbook_sink_blocks_total', help: 'blocks stored', registers }),
    retries: new Counter({
      name: 'slotbook_sink_retries_total',
      help: 'inserts that failed and were repeated',
      registers,
    }),
    days: new Counter({
      name: 'slotbook_sink_days_reduced_total',
      help: 'days whose sums of accounts were stored',
      registers,
    }),
    retracted: new Counter({
      name: 'slotbook_sink_retracted_rows_total',
      help: 'stored rows removed because the chain dropped their transaction',
      labelNames: ['table'],
      registers,
    }),
    blockRows: new Histogram({
      name: 'slotbook_sink_block_rows',
      help: 'records of a block',
      buckets: ROW_BUCKETS,
      registers,
    }),
    blockSeconds: new Histogram({
      name: 'slotbook_sink_block_seconds',
      help: 'from the intent to the committed offset of a block',
      buckets: SECOND_BUCKETS,
      registers,
    }),
  };
  // From zero, so that the first dead letter is an increase.
  for (const reason of PARK_REASONS) metrics.parked.inc({ reason }, 0);
  return metrics;
}
