// The samples role: follows `book`, writes `samples`. Position and state change together with each round of samples.

import { Counter } from 'prom-client';
import { type EventLog, type LogBatch, positionKey, type RoleContext, type RunningRole } from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { PartitionSamples, type SampleRecord } from './partition.ts';

export const SAMPLES_GROUP = 'samples';
/** Without samples the position is saved now and then all the same: others ask it whether the samples are complete. */
const SAVE_RECORDS = 20_000;
const SAVE_EVERY_MS = 2_000;

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

interface Partition {
  readonly samples: PartitionSamples;
  /** Offset to read next. */
  next: bigint;
  unsaved: number;
}

class SamplesRole {
  readonly #log: EventLog;
  readonly #count: (samples: number) => void;
  readonly #partitions: readonly Partition[] = Array.from({ length: TOPICS.book.partitions }, () => ({
    samples: new PartitionSamples(),
    next: 0n,
    unsaved: 0,
  }));
  /** Saves go one after the other. */
  #saving: Promise<void> = Promise.resolve();

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
    const failed = new AbortController();
    let failure: unknown;
    const timer = setInterval(() => {
      this.#saveAll().catch((error: unknown) => {
        failure ??= error;
        failed.abort();
      });
    }, SAVE_EVERY_MS);
    const either = AbortSignal.any([signal, failed.signal]);
    try {
      for await (const batch of this.#log.follow({ topic: TOPICS.book, from, signal: either })) {
        await this.#take(batch);
        if (either.aborted) break;
      }
    } catch (error) {
      if (!either.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
    if (failure !== undefined) throw failure;
  }

  async #take({ partition, records }: LogBatch): Promise<void> {
    const own = this.#partitions[partition];
    const last = records.at(-1);
    if (!own || !last) return;
    const published: SampleRecord[] = [];
    for (const { value } of records) published.push(...own.samples.apply(value));
    own.next = last.offset + 1n;
    own.unsaved += records.length;
    if (published.length > 0 || own.unsaved >= SAVE_RECORDS) await this.#save(partition, own, published);
    this.#count(published.length);
  }

  async #saveAll(): Promise<void> {
    for (const [partition, own] of this.#partitions.entries()) {
      if (own.unsaved > 0) await this.#save(partition, own, []);
    }
  }

  /** State and position are taken in the same turn of the loop, so they belong together. */
  #save(partition: number, own: Partition, records: readonly SampleRecord[]): Promise<void> {
    own.unsaved = 0;
    const step = {
      outputs: records.length > 0 ? [{ topic: TOPICS.samples, records }] : [],
      positions: [{ topic: TOPICS.book.name, partition, next: own.next }],
      state: [{ key: String(partition), value: own.samples.save() }],
    };
    const saved = this.#saving.then(() => this.#log.commit(SAMPLES_GROUP, step));
    // After a failure nothing more is saved: a later position would leave out these outputs.
    this.#saving = saved;
    saved.catch(() => {});
    return saved;
  }
}
