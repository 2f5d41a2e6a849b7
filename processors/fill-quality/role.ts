// The fill-quality role: follows `events`, publishes rolling means of taker fills to `views.fill-quality`. Outputs,
// position, windows and the ids already seen are left behind in one commit per batch.

import { Counter, type Registry } from 'prom-client';
import {
  type Commit,
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  type NewRecord,
  positionKey,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import { decodeEvent, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { type SeenChunk, SeenEvents } from '../trades/seen.ts';
import { takerFillOf } from './fill.ts';
import { FillQuality } from './reducer.ts';

export const FILL_QUALITY_GROUP = 'fill-quality';
const SEEN_STATE = 'seen';
const MEANS_STATE = 'means';

interface Partition {
  readonly means: FillQuality;
  readonly seen: SeenEvents;
}

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startFillQuality(context: RoleContext): Promise<RunningRole> {
  await context.log.ensureTopics([TOPICS.events, TOPICS.fillQualityViews, TOPICS.deadLetters]);
  const role = new FillQualityRole(context);
  const from = await role.restore();
  const stopping = new AbortController();
  const done = role.run(from, stopping.signal);
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: 'fillQuality',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

class FillQualityRole {
  private readonly log: EventLog;
  private readonly logger: Logger;
  private readonly metrics: ReturnType<typeof fillQualityMetrics>;
  private readonly partitions: readonly Partition[] = Array.from({ length: TOPICS.events.partitions }, () => ({
    means: new FillQuality(),
    seen: new SeenEvents(),
  }));

  constructor({ log, logger, metrics }: RoleContext) {
    this.log = log;
    this.logger = logger;
    this.metrics = fillQualityMetrics(metrics);
  }

  async restore(): Promise<Map<number, bigint | 'earliest'>> {
    const { positions, state } = await this.log.load(FILL_QUALITY_GROUP);
    const from = new Map<number, bigint | 'earliest'>();
    for (const [partition, { means, seen }] of this.partitions.entries()) {
      from.set(partition, positions.get(positionKey(TOPICS.events.name, partition)) ?? 'earliest');
      means.restore(pieces(state, `${MEANS_STATE}:${partition}:`));
      seen.restore(pieces(state, `${SEEN_STATE}:${partition}:`));
    }
    return from;
  }

  async run(from: Map<number, bigint | 'earliest'>, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of this.log.follow({ topic: TOPICS.events, from, signal })) {
        const step = this.take(batch);
        if (step) await this.log.commit(FILL_QUALITY_GROUP, step);
        if (signal.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private take({ partition, records }: LogBatch): Commit | null {
    const last = records.at(-1);
    const state = this.partitions[partition];
    if (!last || !state) return null;
    const views: NewRecord[] = [];
    const letters: NewRecord[] = [];
    for (const record of records) this.reduce(record, state, views, letters);
    if (letters.length > 0) this.logger.warn({ records: letters.length, partition }, 'fills parked');
    this.metrics.views.inc(views.length);
    this.metrics.parked.inc(letters.length);
    const named = (kind: string, changes: Iterable<{ name: string; bytes: Uint8Array | null }>) =>
      [...changes].map(({ name, bytes }) => ({ key: `${kind}:${partition}:${name}`, value: bytes }));
    return {
      outputs: [
        { topic: TOPICS.fillQualityViews, records: views },
        { topic: TOPICS.deadLetters, records: letters },
      ].filter(({ records: written }) => written.length > 0),
      positions: [{ topic: TOPICS.events.name, partition, next: last.offset + 1n }],
      state: [...named(MEANS_STATE, state.means.takeChanges()), ...named(SEEN_STATE, state.seen.takeChanges())],
    };
  }

  private reduce(record: LogRecord, { means, seen }: Partition, views: NewRecord[], letters: NewRecord[]): void {
    try {
      const event = decodeEvent(record.value);
      if (takerFillOf(event) !== null) {
        if (!seen.add(event.signature, event.eventIndex)) return;
        this.metrics.fills.inc();
      }
      for (const view of means.apply(event)) {
        views.push({ key: marketKey(view), value: encodeMessage('FillQualityView', view) });
      }
    } catch (error) {
      const reason = 'fill-quality-record';
      const detail = error instanceof Error ? error.message : String(error);
      const origin = `${TOPICS.events.name}/${record.partition}/${record.offset}`;
      const value = encodeMessage('DeadLetter', { reason, detail, slot: 0, origin, bytes: record.value });
      letters.push({ key: reason, value });
    }
  }
}

function pieces(state: ReadonlyMap<string, Uint8Array>, prefix: string): SeenChunk[] {
  const found: SeenChunk[] = [];
  for (const [key, bytes] of state) if (key.startsWith(prefix)) found.push({ name: key.slice(prefix.length), bytes });
  return found;
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
