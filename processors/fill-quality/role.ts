// The fill-quality role: follows `events`, publishes rolling means of taker fills to `views.fill-quality`. One commit per
// batch stores outputs, offset, windows and the ids of applied events.

import { Counter, type Registry } from 'prom-client';
import type { LogBatch, Logger, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { deadLetter, endOf, piecesOf, type Step, startReducerRole, stateWrites } from '../follow/reducer-role.ts';
import { SeenEvents } from '../trades/seen.ts';
import { takerFillOf } from './fill.ts';
import { FillQuality } from './reducer.ts';

export const FILL_QUALITY_GROUP = 'fill-quality';
const SEEN_STATE = 'seen';
const MEANS_STATE = 'means';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startFillQuality(context: RoleContext): Promise<RunningRole> {
  const metrics = fillQualityMetrics(context.metrics);
  const partitions = Array.from(
    { length: TOPICS.events.partitions },
    (_, number) => new Partition(number, context.logger, metrics),
  );
  return startReducerRole(context, {
    name: 'fillQuality',
    group: FILL_QUALITY_GROUP,
    reads: [TOPICS.events],
    writes: [TOPICS.fillQualityViews, TOPICS.deadLetters],
    restore: (state) => {
      for (const partition of partitions) partition.restore(state);
    },
    take: (_, batch) => partitions[batch.partition]?.take(batch) ?? [],
  });
}

class Partition {
  readonly #number: number;
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof fillQualityMetrics>;
  readonly #means = new FillQuality();
  readonly #seen = new SeenEvents();

  constructor(number: number, logger: Logger, metrics: ReturnType<typeof fillQualityMetrics>) {
    this.#number = number;
    this.#logger = logger;
    this.#metrics = metrics;
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    this.#means.restore(piecesOf(state, this.#prefix(MEANS_STATE)));
    this.#seen.restore(piecesOf(state, this.#prefix(SEEN_STATE)));
  }

  take(batch: LogBatch): Step[] {
    const views: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of batch.records) this.#reduce(record, views, letters);
    if (letters.length > 0) this.#logger.warn({ records: letters.length, partition: this.#number }, 'fills parked');
    this.#metrics.views.inc(views.length);
    this.#metrics.parked.inc(letters.length);
    const outputs = [
      { topic: TOPICS.fillQualityViews, records: views },
      { topic: TOPICS.deadLetters, records: letters },
    ];
    const state = [
      ...stateWrites(this.#prefix(MEANS_STATE), this.#means.takeChanges()),
      ...stateWrites(this.#prefix(SEEN_STATE), this.#seen.takeChanges()),
    ];
    return [{ outputs, state, next: endOf(batch) }];
  }

  #reduce(record: LogRecord, views: NewRecord[], letters: NewRecord[]): void {
    try {
      const event = decodeEvent(record.value);
      if (takerFillOf(event) !== null) {
        if (!this.#seen.add(event.signature, event.eventIndex)) return;
        this.#metrics.fills.inc();
      }
      for (const view of this.#means.apply(event)) {
        views.push({ key: marketKey(view), value: encodeMessage('FillQualityView', view) });
      }
    } catch (error) {
      letters.push(deadLetter('fill-quality-record', TOPICS.events, record, error));
    }
  }

  #prefix(kind: string): string {
    return `${kind}:${this.#number}:`;
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
