// A log that forwards every call to another log. Subclasses change some of the calls.

import type { Topic } from '../../schemas/index.ts';
import type {
  Appended,
  Commit,
  EventLog,
  FollowOptions,
  GroupState,
  GroupUse,
  LogBatch,
  LogPage,
  LogRecord,
  NewRecord,
} from './port.ts';

export class ForwardingLog implements EventLog {
  readonly kind: EventLog['kind'];
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.kind = log.kind;
    this.#log = log;
  }

  ensureTopics(topics: readonly Topic[]): Promise<void> {
    return this.#log.ensureTopics(topics);
  }

  append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return this.#log.append(topic, records);
  }

  bounds(topic: Topic, partition: number): Promise<{ readonly earliest: bigint; readonly next: bigint }> {
    return this.#log.bounds(topic, partition);
  }

  read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    return this.#log.read(topic, partition, from, maxRecords);
  }

  follow(options: FollowOptions): AsyncIterable<LogBatch> {
    return this.#log.follow(options);
  }

  followPages(options: FollowOptions): AsyncIterable<LogPage> {
    return this.#log.followPages(options);
  }

  commit(group: string, step: Commit): Promise<void> {
    return this.#log.commit(group, step);
  }

  load(group: string, as?: GroupUse): Promise<GroupState> {
    return this.#log.load(group, as);
  }

  forget(group: string): Promise<void> {
    return this.#log.forget(group);
  }

  enforceRetention(nowMs: number): Promise<void> {
    return this.#log.enforceRetention(nowMs);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
