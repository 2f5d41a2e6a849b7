// An event log in memory: append and the reading half of the port, without durability.
// Keeps records until `removeBefore` removes them, like retention.

import {
  type Appended,
  type Commit,
  type EventLog,
  type FollowOptions,
  type GroupState,
  type LogBatch,
  type LogPage,
  type LogRecord,
  type NewRecord,
  pagesOf,
} from '../../../platform/index.ts';
import { partitionOf, type Topic } from '../../../schemas/index.ts';

const DEFAULT_BATCH = 1000;

export class FakeLog implements EventLog {
  readonly kind = 'embedded';
  readonly #partitions = new Map<string, LogRecord[]>();
  readonly #groups = new Map<string, { offsets: Map<string, bigint>; state: Map<string, Uint8Array> }>();
  readonly #earliest = new Map<LogRecord[], bigint>();
  readonly #waiting = new Set<() => void>();
  /** Offset at which the newest follower of `topic/partition` started. */
  readonly readFrom = new Map<string, bigint>();

  async ensureTopics(): Promise<void> {}

  async append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    const appended = new Map<number, { partition: number; first: bigint; last: bigint }>();
    for (const { key, value, partition = partitionOf(topic, key) } of records) {
      const list = this.#list(topic, partition);
      const offset = BigInt(list.length);
      list.push({ partition, offset, key, value });
      appended.set(partition, { partition, first: appended.get(partition)?.first ?? offset, last: offset });
    }
    for (const wake of [...this.#waiting]) wake();
    return [...appended.values()];
  }

  async bounds(topic: Topic, partition: number): Promise<{ earliest: bigint; next: bigint }> {
    const list = this.#list(topic, partition);
    return { earliest: this.#earliest.get(list) ?? 0n, next: BigInt(list.length) };
  }

  /** Simulates retention: removes all records before this offset. */
  removeBefore(topic: Topic, partition: number, offset: bigint): void {
    this.#earliest.set(this.#list(topic, partition), offset);
  }

  async read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    const list = this.#list(topic, partition);
    const earliest = this.#earliest.get(list) ?? 0n;
    const first = Number(from > earliest ? from : earliest);
    return list.slice(first, first + maxRecords);
  }

  async *follow({ topic, from, signal, maxRecords = DEFAULT_BATCH }: FollowOptions): AsyncIterable<LogBatch> {
    const next = new Map<number, number>();
    for (const [partition, start] of from) {
      const end = this.#list(topic, partition).length;
      const first = start === 'earliest' ? 0 : start === 'latest' ? end : Number(start);
      next.set(partition, first);
      this.readFrom.set(`${topic.name}/${partition}`, BigInt(first));
    }
    while (!signal.aborted) {
      let found = false;
      for (const [partition, start] of next) {
        const list = this.#list(topic, partition);
        const records = list.slice(start, start + maxRecords);
        if (records.length === 0) continue;
        found = true;
        next.set(partition, start + records.length);
        yield { partition, records, end: BigInt(list.length) };
      }
      if (!found) await this.#change(signal);
    }
  }

  followPages(options: FollowOptions): AsyncIterable<LogPage> {
    return pagesOf(this.follow(options));
  }

  async commit(group: string, step: Commit): Promise<void> {
    for (const { topic, records } of step.outputs ?? []) await this.append(topic, records);
    const kept = this.#groups.get(group) ?? { offsets: new Map(), state: new Map() };
    this.#groups.set(group, kept);
    for (const { topic, partition, next } of step.offsets ?? []) kept.offsets.set(`${topic}/${partition}`, next);
    for (const { key, value } of step.state ?? []) {
      if (value === null) kept.state.delete(key);
      else kept.state.set(key, value);
    }
  }

  async load(group: string): Promise<GroupState> {
    return this.#groups.get(group) ?? { offsets: new Map(), state: new Map() };
  }

  async forget(group: string): Promise<void> {
    this.#groups.delete(group);
  }

  async enforceRetention(): Promise<void> {}

  async close(): Promise<void> {}

  #list(topic: Topic, partition: number): LogRecord[] {
    const key = `${topic.name}/${partition}`;
    const list = this.#partitions.get(key) ?? [];
    this.#partitions.set(key, list);
    return list;
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}
