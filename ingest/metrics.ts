// The Prometheus metrics of ingest.

import { Counter, Gauge } from 'prom-client';
import type { Registry } from '../platform/index.ts';
import type { LiveSource } from '../schemas/index.ts';
import { PARK_REASONS } from './dead-letter.ts';

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
  readonly retracted: Counter;
  readonly unchecked: Counter;
  readonly shadowDifferences: Counter<'market'>;
  readonly shadowChecks: Counter;
  readonly sources: SourceMetrics;
}

/** Of live sources that run at once. */
type SourceMetrics = Readonly<Record<'slot' | 'lag' | 'leads' | 'lying' | 'contradictions', Gauge<'source'>>> & {
  readonly missing: Gauge<'source' | 'what'>;
};

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
    retracted: new Counter({
      name: 'slotbook_ingest_retracted_transactions_total',
      help: 'stored transactions whose confirmed slot the chain dropped',
      registers,
    }),
    unchecked: new Counter({
      name: 'slotbook_ingest_unchecked_transactions_total',
      help: 'stored transactions that were never compared with the finalized chain',
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
    sources: sourceMetrics(registers),
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

function sourceMetrics(registers: Registry[]): SourceMetrics {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `slotbook_source_${name}`, help, labelNames: ['source'], registers });
  return {
    slot: gauge('slot', 'newest complete slot of a live source that runs beside others'),
    lag: gauge('lag_slots', 'slots of a live source behind the first of all sources'),
    leads: gauge('leads', '1 for the live source whose updates pass first, 0 for the others'),
    lying: gauge('lying', '1 for a live source with several faults that a read of the chain proved'),
    contradictions: gauge('contradictions', 'accounts and blocks of a slot that differ from those of another source'),
    missing: new Gauge({
      name: 'slotbook_source_missing',
      help: 'account changes and transactions that other live sources delivered and this one did not',
      labelNames: ['source', 'what'],
      registers,
    }),
  };
}

/** Shows the newest report of the live sources. */
export function reportSources({ sources: metrics }: IngestMetrics, sources: readonly LiveSource[]): void {
  for (const { name: source, role, ...report } of sources) {
    metrics.slot.set({ source }, report.slot);
    metrics.lag.set({ source }, report.lagSlots);
    metrics.leads.set({ source }, role === 'leader' ? 1 : 0);
    metrics.lying.set({ source }, report.isLying ? 1 : 0);
    metrics.contradictions.set({ source }, report.contradictions);
    metrics.missing.set({ source, what: 'accounts' }, report.missingAccounts);
    metrics.missing.set({ source, what: 'transactions' }, report.missingTransactions);
  }
}
