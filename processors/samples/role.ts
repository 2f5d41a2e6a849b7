// The samples role: follows `book`, writes `samples`. Position and state change together with each round of samples.

import { Counter } from 'prom-client';
import { type EventLog, type LogBatch, positionKey, type RoleContext, type RunningRole } from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { PartitionSamples, type SampleRecord } from './partition.ts';

export const SAMPLES_GROUP = 'samples';
/** Without block times the position is saved now and then all the same. */
const SAVE_RECORDS = 20_000;

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startSamples(context: RoleContext): Promise<RunningRole> {
  const { log, metrics } = context;
  await log.ensureTopics([TOPICS.book, TOPICS.samples]);
  const samples = new Counter({ name: 'slotbook_samples_total', help: 'samples published', registers: [metrics] });
  const role = new SamplesRole(log, (count) => samples.inc(count));
  const from = await role.restore();
  const stopping = new AbortController();
  const done = role.run(from, stopping.signal);
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: 'samples',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

class SamplesRole {
  readonly #log: EventLog;
  readonly #count: (samples: number) => void;
  readonly #partitions = Array.from({ length: TOPICS.book.partitions }, () => ({
    samples: new PartitionSamples(),
    unsaved: 0,
  }));

  constructor(log: EventLog, count: (samples: number) => void) {
    this.#log = log;
    this.#count = count;
  }

  async restore(): Promise<Map<number, bigint | 'earliest'>> {
    const { positions, state } = await this.#log.load(SAMPLES_GROUP);
    const from = new Map<number, bigint | 'earliest'>();
    for (const [partition, { samples }] of this.#partitions.entries()) {
      from.set(partition, positions.get(positionKey(TOPICS.book.name, partition)) ?? 'earliest');
      const saved = state.get(String(partition));
      if (saved) samples.restore(saved);
    }
    return from;
  }

  async run(from: Map<number, bigint | 'earliest'>, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of this.#log.follow({ topic: TOPICS.book, from, signal })) {
        await this.#take(batch);
        if (signal.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #take({ partition, records }: LogBatch): Promise<void> {
    const own = this.#partitions[partition];
    const last = records.at(-1);
    if (!own || !last) return;
    const published: SampleRecord[] = [];
    for (const { value } of records) published.push(...own.samples.apply(value));
    own.unsaved += records.length;
    if (published.length === 0 && own.unsaved < SAVE_RECORDS) return;
    own.unsaved = 0;
    await this.#log.commit(SAMPLES_GROUP, {
      outputs: published.length > 0 ? [{ topic: TOPICS.samples, records: published }] : [],
      positions: [{ topic: TOPICS.book.name, partition, next: last.offset + 1n }],
      state: [{ key: String(partition), value: own.samples.save() }],
    });
    this.#count(published.length);
  }
}
