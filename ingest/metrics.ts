// The Prometheus metrics of ingest.

import { Counter, Gauge } from 'prom-client';
import type { Registry } from '../platform/index.ts';
import { PARK_REASONS } from './park-reasons.ts';

/** The book role counts it as well; both roles may run in one process. */
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
      help: 'unreadable inputs, by reason',
      labelNames: ['reason'],
      registers,
    }),
    reconnects: new Counter({
      name: 'slotbook_ingest_reconnects_total',
      help: 'lost connections to the source and failed attempts to connect',
      registers,
    }),
    shadowDifferences:
      (registry.getSingleMetric(SHADOW_DIFFERENCES) as Counter<'market'> | undefined) ??
      new Counter({
        name: SHADOW_DIFFERENCES,
        help: 'differences between a book and the chain, found by the shadow check',
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
      help: 'gap notices: slot ranges with missing transactions, found or filled',
      labelNames: ['filled'],
      registers,
    }),
    openGaps: new Gauge({
      name: 'slotbook_ingest_open_gaps',
      help: 'open gaps of the log; lasting ones cannot be filled',
      labelNames: ['lasting'],
      registers,
    }),
  };
  // Alerts use increases, and a series that starts with its first event has no increase.
  for (const reason of PARK_REASONS) metrics.parked.inc({ reason }, 0);
  for (const filled of ['true', 'false']) metrics.gaps.inc({ filled }, 0);
  return metrics;
}
