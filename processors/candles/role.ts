// The candles role: follows `events` and `samples`, writes candles to `views.candles` and the last 24 hours of markets to
// `views.summaries`. The first three topics have a market in the same partition number.

import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type Config,
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  marketIndexes,
  type NewRecord,
  offsetKey,
  publicKeys,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import {
  candleKey,
  encodeMessage,
  marketKey,
  readableMessage,
  type SlotRetraction,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { piecesOf } from '../follow/pieces.ts';
import { endOf, type Step, startReducerRole, stateWrites } from '../follow/reducer-role.ts';
import { type ReadPart, rereadFrom } from '../follow/reread.ts';
import { SlotMarks } from '../follow/slot-marks.ts';
import { type CandleFilter, NO_FILTER } from './candle-filter.ts';
import { CANDLE_ERROR_REASONS, CandleError } from './fill.ts';
import { type MarketRecount, recount } from './recount.ts';
import { Candles, slotOf } from './reducer.ts';

export const CANDLES_GROUP = 'candles';
/** Larger than the log's default: each batch publishes and saves a changed candle once. */
const BATCH_EVENTS = 4_000;
/** Sparse topics: a larger batch would run far ahead of the events, and samples publish quiet candles repeatedly. */
const BATCH_RECORDS: Readonly<Record<string, number>> = { [TOPICS.samples.name]: 200, [TOPICS.retractions.name]: 1 };
/** Chunks after which a step ends, so that its state fits into one commit: a chunk is below 4 kB. */
const STEP_CHUNKS = 1_000;
const STEP_CHECK = 64;
/** Topics that a recount reads. */
const RECOUNTED = [TOPICS.events, TOPICS.samples] as const;
/** Two minutes before the slot: the events of its minute begin there. */
const BEFORE_SLOTS = 300;
/** Factor of the marks that a recount goes further back when the records do not prove the rows, as on a chain of many slots a minute. */
const FURTHER = 8;
/** Prefix of the state key of a partition's marks. */
const MARKS = 'marks:';
/** A retraction whose minutes the log no longer proves. */
const UNPROVEN = 'candle-retraction';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startCandles(context: RoleContext): Promise<RunningRole> {
  const metrics = candleMetrics(context.metrics);
  const filter = candleFilter(context.config);
  const partitions = Array.from({ length: TOPICS.events.partitions }, (_, number) => {
    return new Partition(number, filter, context, metrics);
  });
  return startReducerRole(context, {
    name: 'candles',
    group: CANDLES_GROUP,
    reads: [TOPICS.events, TOPICS.samples, TOPICS.retractions],
    writes: [TOPICS.candleViews, TOPICS.summaryViews, TOPICS.deadLetters],
    maxRecords: (topic) => BATCH_RECORDS[topic.name] ?? BATCH_EVENTS,
    // A retraction counts whenever it is read, so it does not wait behind old events.
    slotOf: (topic, batch) => (topic.name === TOPICS.retractions.name ? 0 : firstSlot(batch)),
    restore: (state, offsets) => {
      for (const partition of partitions) partition.restore(state, offsets);
    },
    take: (topic, batch) => {
      if (topic.name === TOPICS.retractions.name) return retracted(partitions, batch);
      return partitions[batch.partition]?.take(topic, batch) ?? [];
    },
  });
}

/** A retraction concerns every partition. The offset moves with the last one, so a restart repeats the others. */
async function* retracted(partitions: readonly Partition[], batch: LogBatch): AsyncGenerator<Step> {
  for (const record of batch.records) {
    for (const [number, partition] of partitions.entries()) {
      const isLast = number === partitions.length - 1;
      yield await partition.retract(record, isLast ? record.offset + 1n : null);
    }
  }
}

type CandleMetrics = ReturnType<typeof candleMetrics>;

class Partition {
  readonly #candles: Candles;
  readonly #number: number;
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #metrics: CandleMetrics;
  readonly #prefix: string;
  readonly #marks = new SlotMarks(RECOUNTED.length);
  /** Next offset by topic. */
  readonly #next = new Map<string, bigint>();

  constructor(
    number: number,
    filter: CandleFilter,
    { log, logger }: Pick<RoleContext, 'log' | 'logger'>,
    metrics: CandleMetrics,
  ) {
    this.#candles = new Candles(filter);
    this.#number = number;
    this.#log = log;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#prefix = `${number}:`;
  }

  restore(state: ReadonlyMap<string, Uint8Array>, offsets: ReadonlyMap<string, bigint>): void {
    this.#candles.restore(piecesOf(state, this.#prefix));
    const marks = state.get(MARKS + this.#number);
    if (marks) this.#marks.restore(marks);
    for (const { name } of RECOUNTED) this.#next.set(name, offsets.get(offsetKey(name, this.#number)) ?? 0n);
  }

  /** Takes dropped fills out of the candles. `next`: offset of the retractions to commit with the result. */
  async retract(record: LogRecord, next: bigint | null): Promise<Step> {
    const letters: NewRecord[] = [];
    const retraction = readableMessage('SlotRetraction', record.value);
    if (retraction === null || !(await this.#withdraw(retraction))) {
      this.#metrics.parked.inc({ reason: UNPROVEN });
      const detail = retraction === null ? 'no retraction' : 'the log lacks fills of the minute, or they are pruned';
      letters.push(deadLetter(UNPROVEN, TOPICS.retractions, record, detail));
    }
    return this.#step(letters, next);
  }

  /** Recounts with as much of the log as proves the stored rows, at most all of it. False when nothing proves them. */
  async #withdraw(retraction: SlotRetraction): Promise<boolean> {
    for (let earlier = 0; ; earlier = Math.max(1, earlier * FURTHER)) {
      const { recounts, isWhole } = await this.#recount(retraction, earlier);
      const isProven = recounts.every((one) => this.#candles.isProven(one));
      if (isProven || isWhole) return this.#candles.withdraw(retraction, recounts);
    }
  }

  async #recount(
    retraction: SlotRetraction,
    earlierMarks: number,
  ): Promise<{ readonly recounts: readonly MarketRecount[]; readonly isWhole: boolean }> {
    const candles = this.#candles;
    const starts = this.#marks.before(retraction.slot - BEFORE_SLOTS, earlierMarks);
    const [events, samples] = await Promise.all([
      rereadFrom(this.#part(TOPICS.events), starts?.[0] ?? null),
      rereadFrom(this.#part(TOPICS.samples), starts?.[1] ?? null),
    ]);
    const recounts = await recount(retraction, candles, {
      fills: () => readAs(events.values(), (value) => candles.fillIn(value)),
      samples: () => readAs(samples.values(), (value) => readableMessage('MarketSample', value)),
    });
    return { recounts, isWhole: events.isWhole && samples.isWhole };
  }

  #part(topic: Topic): ReadPart {
    const end = this.#next.get(topic.name) ?? 0n;
    return { log: this.#log, topic, partition: this.#number, end };
  }

  *take(topic: Topic, batch: LogBatch): Generator<Step> {
    let letters: NewRecord[] = [];
    for (const [index, record] of batch.records.entries()) {
      this.#apply(topic, record, letters);
      if (index % STEP_CHECK !== 0 || this.#candles.unsavedChunks < STEP_CHUNKS) continue;
      yield this.#step(letters, record.offset + 1n);
      letters = [];
    }
    this.#next.set(topic.name, endOf(batch));
    this.#marks.note(
      this.#candles.newestSlot,
      RECOUNTED.map(({ name }) => this.#next.get(name) ?? 0n),
    );
    yield this.#step(letters, endOf(batch));
    const last = batch.records.at(-1)?.offset ?? batch.end - 1n;
    this.#metrics.lag.set({ topic: topic.name, partition: this.#number }, Number(batch.end - last - 1n));
  }

  #apply(topic: Topic, record: LogRecord, letters: NewRecord[]): void {
    try {
      if (topic.name === TOPICS.samples.name) this.#candles.applySample(record.value);
      else if (this.#candles.applyEvent(record.value) === 'fill') this.#metrics.fills.inc();
    } catch (error) {
      const reason = error instanceof CandleError ? error.reason : 'candle-record';
      this.#metrics.parked.inc({ reason });
      letters.push(deadLetter(reason, topic, record, error));
    }
  }

  #step(letters: readonly NewRecord[], next: bigint | null): Step {
    const records = Array.from(this.#candles.takeCandles(), (candle) => ({
      key: candleKey(candle),
      value: encodeMessage('CandleView', candle),
      partition: this.#number,
    }));
    this.#metrics.views.inc(records.length);
    if (letters.length > 0) this.#logger.warn({ records: letters.length, partition: this.#number }, 'fills parked');
    const summaries = this.#candles
      .takeSummaries()
      .map((summary) => ({ key: marketKey(summary), value: encodeMessage('MarketSummary', summary) }));
    const marks = this.#marks.takeChange();
    return {
      outputs: [
        { topic: TOPICS.candleViews, records },
        { topic: TOPICS.summaryViews, records: summaries },
        { topic: TOPICS.deadLetters, records: letters },
      ],
      state: [
        ...stateWrites(this.#prefix, this.#candles.takeChanges()),
        ...(marks === null ? [] : [{ key: MARKS + this.#number, value: marks }]),
      ],
      next,
    };
  }
}

async function* readAs<T>(values: AsyncIterable<Uint8Array>, read: (value: Uint8Array) => T | null): AsyncGenerator<T> {
  for await (const value of values) {
    const one = read(value);
    if (one !== null) yield one;
  }
}

/** Slot at which a batch begins; 0 when no record has one. */
function firstSlot({ records }: LogBatch): number {
  for (const { value } of records) {
    const slot = slotOf(value);
    if (slot !== null) return slot;
  }
  return 0;
}

const QUOTE_UNITS = 1_000_000n;

/** Throws ConfigError for a malformed key or market index in the settings. */
function candleFilter({ candleNoiseQuote, candleNoiseExempt, candleBlockedMakers }: Config): CandleFilter {
  if (candleNoiseQuote === 0 && candleBlockedMakers === '') return NO_FILTER;
  return {
    belowQuote: BigInt(candleNoiseQuote) * QUOTE_UNITS,
    exemptMarkets: marketIndexes('candleNoiseExempt', candleNoiseExempt),
    blockedMakers: new Set(
      publicKeys('candleBlockedMakers', candleBlockedMakers).map((key) => Buffer.from(key).toString('hex')),
    ),
  };
}

function candleMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    fills: new Counter({ name: 'slotbook_candles_fills_total', help: 'fills applied to candles', registers }),
    views: new Counter({ name: 'slotbook_candles_views_total', help: 'candles published', registers }),
    parked: new Counter({
      name: 'slotbook_candles_parked_total',
      help: 'records put into dead-letters',
      labelNames: ['reason'] as const,
      registers,
    }),
    lag: new Gauge({
      name: 'slotbook_candles_lag_records',
      help: 'records not yet applied',
      labelNames: ['topic', 'partition'] as const,
      registers,
    }),
  };
  // From zero, so that the first dead letter is an increase.
  for (const reason of [...CANDLE_ERROR_REASONS, UNPROVEN]) metrics.parked.inc({ reason }, 0);
  return metrics;
}
