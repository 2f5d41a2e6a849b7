// Metrics of the push role.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { PushJobs } from './jobs.ts';

export function pushMetrics(registry: Registry, jobs: PushJobs) {
  const registers = [registry];
  new Gauge({
    name: 'slotbook_push_jobs',
    help: 'notifications that wait for their devices',
    registers,
    collect() {
      this.set(jobs.size);
    },
  });
  return {
    attempts: new Counter({
      name: 'slotbook_push_attempts_total',
      help: 'requests to devices, by adapter and result (sent, refused, gone, busy, unreachable)',
      labelNames: ['adapter', 'result'] as const,
      registers,
    }),
    outcomes: new Counter({
      name: 'slotbook_push_outcomes_total',
      help: 'notifications whose push ended, SENT or FAILED',
      labelNames: ['status'] as const,
      registers,
    }),
  };
}
