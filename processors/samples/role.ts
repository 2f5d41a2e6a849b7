// The samples role: follows `book`, writes `samples`. Offset and state change together with each round of samples.

import { Counter } from 'prom-client';
import {
  type Commit,
  type EventLog,
  followingRole,
  type LogBatch,
  offsetKey,
  type RoleContext,
  type RunningRole,
  TopicFollower,
} from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { PartitionSamples, type SampleRecord } from './partition.ts';

export const SAMPLES_GROUP = 'samples';
/** The role saves its offset even without new samples: the sink reads it to know whether the samples are complete. */
const SAVE_RECORDS = 20_000;
const SAVE_EVERY_MS = 2_000;

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startSamples(context: RoleContext): Promise<RunningRole> {
  const { log, metrics } = context;
  await log.ensureTopics([TOPICS.book, TOPICS.samples]);
  const samples = new Counter({ name: 'slotbook_samples_total', help: 'samples published', registers: [metrics] });
  const role = new SamplesRole(log, (count) => samples.inc(count));
  const from = await role.restore();
  return followingRole('samples', role.follow(from));
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
  /** Saves run one after the other. */
  #saving: Promise<void> = Promise.resolve();

  constructor(log: EventLog, count: (samples: number) => void) {
    this.#log = log;
    this.#count = count;
  }

  async restore(): Promise<Map<number, bigint | 'earliest'>> {
    const { offsets, state } = await this.#log.load(SAMPLES_GROUP);
    const from = new Map<number, bigint | 'earliest'>();
    for (const [partition, { samples }] of this.#partitions.entries()) {
      from.set(partition, offsets.get(offsetKey(TOPICS.book.name, partition)) ?? 'earliest');
      const saved = state.get(String(partition));
      if (saved) samples.restore(saved);
    }
    return from;
  }

  follow(from: Map<number, bigint | 'earliest'>): TopicFollower {
    const follower = new TopicFollower();
    const timer = setInterval(() => {
      this.#saveAll().catch((error: unknown) => follower.fail(error));
    }, SAVE_EVERY_MS);
    follower.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    follower.follow({ log: this.#log, topic: TOPICS.book, from, take: (batch) => this.#take(batch) });
    return follower;
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

  /** State and offset are read in the same turn of the event loop, so they belong together. */
  #save(partition: number, own: Partition, records: readonly SampleRecord[]): Promise<void> {
    own.unsaved = 0;
    const step: Commit = {
      outputs: records.length > 0 ? [{ topic: TOPICS.samples, records }] : [],
      offsets: [{ topic: TOPICS.book.name, partition, next: own.next }],
      state: [{ key: String(partition), value: own.samples.save() }],
    };
    const saved = this.#saving.then(() => this.#log.commit(SAMPLES_GROUP, step));
    // After a failure nothing more is saved: a later offset would skip these outputs.
    this.#saving = saved;
    saved.catch(() => {});
    return saved;
  }
}
