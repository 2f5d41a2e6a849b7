// An event log in memory with the limits of every log, and faults on demand: appends that fail before, after or halfway through.

import {
  APPEND_BYTES_MAX,
  type Appended,
  type Commit,
  commitBytes,
  type EventLog,
  type GroupState,
  LogLimitError,
  type LogRecord,
  type NewRecord,
  offsetKey,
  storedBytes,
} from '../../../platform/index.ts';
import { partitionOf, type Topic } from '../../../schemas/index.ts';

/** Called before each append. Throws to fail it, or returns how many partitions take their records before the failure. */
export type Fault = (topic: Topic) => number | null;

export class MemoryLog implements EventLog {
  readonly kind = 'embedded';
  readonly #partitions = new Map<string, LogRecord[]>();
  readonly #state = new Map<string, Map<string, Uint8Array>>();
  readonly #offsets = new Map<string, Map<string, bigint>>();
  fault: Fault = () => null;

  async ensureTopics(): Promise<void> {}

  async append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.#append(topic, records);
  }

  async bounds(topic: Topic, partition: number) {
    return { earliest: 0n, next: BigInt(this.#of(topic, partition).length) };
  }

  async read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    return this.#of(topic, partition).slice(Number(from), Number(from) + maxRecords);
  }

  /** Loses the records of a partition from an offset on. */
  lose(topic: Topic, partition: number, from: number): void {
    this.#of(topic, partition).length = from;
  }

  /** All records of a topic, partition after partition. */
  all(topic: Topic): LogRecord[] {
    return Array.from({ length: topic.partitions }, (_, partition) => this.#of(topic, partition)).flat();
  }

  // biome-ignore lint/correctness/useYield: an empty stream
  async *follow(): AsyncGenerator<never> {
    throw new Error('not used');
  }

  followPages(): AsyncGenerator<never> {
    return this.follow();
  }

  async commit(group: string, step: Commit): Promise<void> {
    const { outputs = [], offsets = [], state = [] } = step;
    checkBytes(commitBytes(step));
    for (const { topic, records } of outputs) this.#append(topic, records);
    const [held, kept] = [this.#state.get(group) ?? new Map(), this.#offsets.get(group) ?? new Map()];
    for (const { key, value } of state) {
      if (value === null) held.delete(key);
      else held.set(key, value);
    }
    for (const { topic, partition, next } of offsets) kept.set(offsetKey(topic, partition), next);
    this.#state.set(group, held);
    this.#offsets.set(group, kept);
  }

  async load(group: string): Promise<GroupState> {
    return { offsets: new Map(this.#offsets.get(group)), state: new Map(this.#state.get(group)) };
  }

  async forget(group: string): Promise<void> {
    this.#state.delete(group);
    this.#offsets.delete(group);
  }

  async enforceRetention(): Promise<void> {}
  async close(): Promise<void> {}

  #append(topic: Topic, records: readonly NewRecord[]): readonly Appended[] {
    const limit = this.fault(topic);
    const groups = new Map<number, NewRecord[]>();
    for (const record of records) {
      const partition = record.partition ?? partitionOf(topic, record.key);
      groups.set(partition, [...(groups.get(partition) ?? []), record]);
    }
    for (const group of groups.values()) {
      checkBytes(group.reduce((sum, record) => sum + storedBytes(record), 0));
    }
    const appended: Appended[] = [];
    for (const [partition, group] of groups) {
      if (limit !== null && appended.length >= limit) throw new Error('log unavailable');
      const stored = this.#of(topic, partition);
      const first = BigInt(stored.length);
      for (const { key, value } of group) stored.push({ partition, offset: BigInt(stored.length), key, value });
      appended.push({ partition, first, last: BigInt(stored.length) - 1n });
    }
    if (limit !== null) throw new Error('log unavailable');
    return appended;
  }

  #of(topic: Topic, partition: number): LogRecord[] {
    const key = `${topic.name}/${partition}`;
    const records = this.#partitions.get(key) ?? [];
    this.#partitions.set(key, records);
    return records;
  }
}

function checkBytes(bytes: number): void {
  if (bytes > APPEND_BYTES_MAX) throw new LogLimitError(`${bytes} bytes in one call`);
}
