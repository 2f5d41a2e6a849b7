// The Prometheus metrics of the fork that the node follows.

import { Counter, Gauge } from 'prom-client';
import type { Registry } from '../../platform/index.ts';

export interface ForkMetrics {
  readonly slot: Gauge;
  readonly reverts: Counter;
  readonly undoBytes: Gauge;
  readonly reconnects: Counter;
  readonly fills: Counter;
}

export function createForkMetrics(registry: Registry): ForkMetrics {
  const registers = [registry];
  return {
    slot: new Gauge({
      name: 'slotbook_processed_slot',
      help: 'newest slot of the fork that the node follows',
      registers,
    }),
    reverts: new Counter({
      name: 'slotbook_processed_reverts_total',
      help: 'undos of abandoned slots in the books at processed',
      registers,
    }),
    undoBytes: new Gauge({
      name: 'slotbook_processed_undo_bytes',
      help: 'account states that an undo may need',
      registers,
    }),
    reconnects: new Counter({
      name: 'slotbook_processed_reconnects_total',
      help: 'lost connections to the stream at processed and failed attempts to connect',
      registers,
    }),
    fills: new Counter({
      name: 'slotbook_processed_fills_total',
      help: 'fills written to fills.processed, by step: processed, withdrawn as their slot left the fork, confirmed',
      labelNames: ['step'],
      registers,
    }),
  };
}
