// The fill-quality role: follows `events`, publishes rolling means of taker fills to `views.fill-quality`. One commit per
// batch stores outputs, offset, windows and the ids of applied events.

import { Counter, type Registry } from 'prom-client';
import type { LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { type PartitionReducer, startPartitionRole } from '../follow/partition-role.ts';
import { SeenEvents } from '../trades/seen.ts';
import { takerFillOf } from './fill.ts';
import { FillQuality } from './reducer.ts';

export const FILL_QUALITY_GROUP = 'fill-quality';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startFillQuality(context: RoleContext): Promise<RunningRole> {
  const metrics = fillQualityMetrics(context.metrics);
  return startPartitionRole(context, {
    name: 'fillQuality',
    group: FILL_QUALITY_GROUP,
    reads: TOPICS.events,
    writes: [TOPICS.fillQualityViews],
    letter: 'fill-quality-record',
    reducer: () => new Means(metrics),
    outputs: (records) => [{ topic: TOPICS.fillQualityViews, records }],
    applied: (published, parked) => {
      metrics.views.inc(published);
      metrics.parked.inc(parked);
    },
  });
}

/** The means of a partition, of each fill once. */
class Means implements PartitionReducer {
  readonly parts;
  readonly #metrics: ReturnType<typeof fillQualityMetrics>;
  readonly #means = new FillQuality();
  readonly #seen = new SeenEvents();

  constructor(metrics: ReturnType<typeof fillQualityMetrics>) {
    this.#metrics = metrics;
    this.parts = { means: this.#means, seen: this.#seen };
  }

  *take({ value }: LogRecord): Iterable<NewRecord> {
    const event = decodeEvent(value);
    if (takerFillOf(event) !== null) {
      if (!this.#seen.add(event.signature, event.eventIndex)) return;
      this.#metrics.fills.inc();
    }
    for (const view of this.#means.apply(event)) {
      yield { key: marketKey(view), value: encodeMessage('FillQualityView', view) };
    }
  }
}

function fillQualityMetrics(registry: Registry) {
  const registers = [registry];
  return {
    fills: new Counter({ name: 'slotbook_fill_quality_fills_total', help: 'taker fills counted', registers }),
    views: new Counter({ name: 'slotbook_fill_quality_views_total', help: 'fill-quality views published', registers }),
    parked: new Counter({
      name: 'slotbook_fill_quality_parked_total',
      help: 'records put into dead-letters',
      registers,
    }),
  };
}
