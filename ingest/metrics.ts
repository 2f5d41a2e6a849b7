// The ingester's metrics, as an operator reads them.

import { Counter, Gauge } from 'prom-client';
import type { Registry } from '../platform/index.ts';
import { PARK_REASONS } from './park-reasons.ts';

/** Also counted by the book role; both may live in one process. */
const SHADOW_DIFFERENCES = 'slotbook_shadow_differences_total';

export interface IngestMetrics {
  readonly slot: Gauge;
  readonly events: Counter<'name'>;
  readonly accountUpdates: Counter;
  readonly parked: Counter<'reason'>;
  readonly reconnects: Counter;
  readonly gaps: Counter<'filled'>;
  readonly openGaps: Gauge<'lasting'>;
  readonly shadowDifferences: Counter<'market'>;
  readonly shadowChecks: Counter;
}

export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const metrics: IngestMetrics = {
    slot: new Gauge({ name: 'slotbook_ingest_slot', help: 'newest slot written to the log', registers }),
    events: new Counter({
      name: 'slotbook_ingest_events_total',
      help: 'program events appended, by record name',
      labelNames: ['name'],
      registers,
    }),
    accountUpdates: new Counter({
      name: 'slotbook_ingest_account_updates_total',
      help: 'account updates received from the source',
      registers,
    }),
    parked: new Counter({
      name: 'slotbook_ingest_parked_total',
      help: 'things that could not be read, by reason',
      labelNames: ['reason'],
      registers,
    }),
    reconnects: new Counter({
      name: 'slotbook_ingest_reconnects_total',
      help: 'connections to the source lost, and attempts at one that failed',
      registers,
    }),
    shadowDifferences:
      (registry.getSingleMetric(SHADOW_DIFFERENCES) as Counter<'market'> | undefined) ??
      new Counter({
        name: SHADOW_DIFFERENCES,
        help: 'differences that the shadow check found between a book and the chain',
        labelNames: ['market'],
        registers,
      }),
    shadowChecks: new Counter({
      name: 'slotbook_shadow_checks_total',
      help: 'comparisons of all accounts with a fresh read of the chain',
      registers,
    }),
    gaps: new Counter({
      name: 'slotbook_ingest_gaps_total',
      help: 'stretches of slots in which transactions were missing, and whether they were filled',
      labelNames: ['filled'],
      registers,
    }),
    openGaps: new Gauge({
      name: 'slotbook_ingest_open_gaps',
      help: 'gaps of the log that are not filled now, and whether nothing can fill them',
      labelNames: ['lasting'],
      registers,
    }),
  };
  // Alerts ask for increases, and a series that begins with its first event has none.
  for (const reason of PARK_REASONS) metrics.parked.inc({ reason }, 0);
  for (const filled of ['true', 'false']) metrics.gaps.inc({ filled }, 0);
  return metrics;
}
