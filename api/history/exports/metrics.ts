// Metrics of the exports role.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ExportOutcome } from './jobs.ts';

const SECONDS = [1, 5, 20, 60, 300, 1200];

export interface ExportMetrics {
  readonly finished: Counter<'outcome'>;
  readonly rows: Counter;
  readonly seconds: Histogram;
  readonly lost: Counter;
}

/** `waiting` is the number of jobs without an outcome. */
export function exportMetrics(registry: Registry, waiting: () => number): ExportMetrics {
  const registers = [registry];
  new Gauge({
    name: 'slotbook_exports_waiting',
    help: 'statement exports without an outcome, of all processes',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  const finished = new Counter({
    name: 'slotbook_exports_finished_total',
    help: 'statement exports that this process finished, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['ready', 'empty', 'failed'] satisfies ExportOutcome[]) finished.inc({ outcome }, 0);
  return {
    finished,
    rows: new Counter({ name: 'slotbook_exports_rows_total', help: 'rows in finished statements', registers }),
    seconds: new Histogram({
      name: 'slotbook_exports_seconds',
      help: 'time from taking a statement export to its outcome',
      buckets: SECONDS,
      registers,
    }),
    lost: new Counter({
      name: 'slotbook_exports_lost_total',
      help: 'statement exports that another worker took after a lapsed claim of this process',
      registers,
    }),
  };
}
