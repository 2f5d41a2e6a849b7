// The event log of a simulation: what is stored survives the process, and any write can be its last.

import {
  type Appended,
  type Commit,
  type EventLog,
  type FollowOptions,
  type GroupState,
  LogAwayError,
  type LogBatch,
  type LogRecord,
  type NewRecord,
} from '../../platform/index.ts';
import { partitionOf, type Topic } from '../../schemas/index.ts';
import { grouped } from './group.ts';

/** Records that the processes of a run wrote. */
export class StoredLog {
  readonly #partitions = new Map<string, LogRecord[]>();
  readonly #groups = new Map<string, Map<string, Uint8Array>>();
  readonly #observer: LogObserver;

  constructor(observer: LogObserver) {
    this.#observer = observer;
  }

  partition(topic: Topic, partition: number): LogRecord[] {
    const key = `${topic.name}/${partition}`;
    const records = this.#partitions.get(key) ?? [];
    this.#partitions.set(key, records);
    return records;
  }

  store(topic: Topic, partition: number, records: readonly NewRecord[]): Appended {
    const stored = this.partition(topic, partition);
    const first = BigInt(stored.length);
    for (const { key, value } of records) {
      const record = { partition, offset: BigInt(stored.length), key, value };
      stored.push(record);
      this.#observer.stored(topic, record);
    }
    return { partition, first, last: BigInt(stored.length) - 1n };
  }

  state(group: string): ReadonlyMap<string, Uint8Array> {
    return this.#groups.get(group) ?? new Map();
  }

  commit(group: string, state: NonNullable<Commit['state']>): void {
    const held = new Map(this.state(group));
    for (const { key, value } of state) {
      if (value === null) held.delete(key);
      else held.set(key, value);
    }
    this.#groups.set(group, held);
    this.#observer.committed(group, held);
  }
}

export interface LogObserver {
  stored(topic: Topic, record: LogRecord): void;
  committed(group: string, state: ReadonlyMap<string, Uint8Array>): void;
}

/** Outcome of a write. `storedShare`: the share of its partitions that are stored before it fails. */
export type WriteFate =
  | { readonly kind: 'done' }
  | { readonly kind: 'rejected' | 'crash'; readonly storedShare: number };

export interface WriteControl {
  /** Milliseconds of a call. */
  delay(): Promise<void>;
  /** Decides about the next write. */
  fate(): WriteFate;
  /** The process ends here: none of its promises settles any more. */
  crash(): Promise<never>;
}

/** The log as one process sees it. */
export class ProcessLog implements EventLog {
  readonly kind = 'embedded';
  readonly #stored: StoredLog;
  readonly #control: WriteControl;
  #wake: (() => void)[] = [];

  constructor(stored: StoredLog, control: WriteControl) {
    this.#stored = stored;
    this.#control = control;
  }

  async ensureTopics(): Promise<void> {}

  async append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    await this.#control.delay();
    const groups = [...grouped(records, (one) => one.partition ?? partitionOf(topic, one.key))];
    const fate = this.#control.fate();
    const count = fate.kind === 'done' ? groups.length : Math.floor(groups.length * fate.storedShare);
    const appended = groups.slice(0, count).map(([partition, group]) => this.#stored.store(topic, partition, group));
    await this.#end(fate);
    for (const wake of this.#wake.splice(0)) wake();
    return appended;
  }

  async commit(group: string, { state = [] }: Commit): Promise<void> {
    await this.#control.delay();
    const fate = this.#control.fate();
    if (fate.kind === 'done' || fate.storedShare >= 1) this.#stored.commit(group, state);
    await this.#end(fate);
  }

  async load(group: string): Promise<GroupState> {
    await this.#control.delay();
    return { offsets: new Map(), state: this.#stored.state(group) };
  }

  async bounds(topic: Topic, partition: number): Promise<{ readonly earliest: bigint; readonly next: bigint }> {
    return { earliest: 0n, next: BigInt(this.#stored.partition(topic, partition).length) };
  }

  async read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    return this.#stored.partition(topic, partition).slice(Number(from), Number(from) + maxRecords);
  }

  async *follow({ topic, from, signal }: FollowOptions): AsyncGenerator<LogBatch> {
    const next = new Map([...from.keys()].map((one) => [one, this.#stored.partition(topic, one).length]));
    while (!signal.aborted) {
      for (const [partition, at] of next) {
        const records = this.#stored.partition(topic, partition).slice(at);
        next.set(partition, at + records.length);
        if (records.length > 0) yield { partition, records, end: BigInt(at + records.length) };
      }
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  followPages(): never {
    throw new Error('ingest reads no pages');
  }

  forget(): never {
    throw new Error('ingest forgets no group');
  }

  async enforceRetention(): Promise<void> {}
  async close(): Promise<void> {}

  async #end(fate: WriteFate): Promise<void> {
    if (fate.kind === 'crash') await this.#control.crash();
    if (fate.kind === 'rejected') throw new LogAwayError('the log is away');
  }
}
