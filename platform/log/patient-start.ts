// A log for a role that starts: its reads then wait for a log that is away, as opening the log does. A started role has its own
// ways to wait.

import type { Topic } from '../../schemas/index.ts';
import { ForwardingLog } from './forwarding.ts';
import type { EventLog, GroupState, GroupUse, LogRecord } from './port.ts';

/** Repeats idempotent work until the log answers. */
export type WhileAway = <T>(work: () => Promise<T>) => Promise<T>;

export class PatientStartLog extends ForwardingLog {
  readonly #wait: WhileAway;
  #isStarted = false;

  constructor(log: EventLog, wait: WhileAway) {
    super(log);
    this.#wait = wait;
  }

  /** From now on an absent log is an error of the call again. */
  started(): void {
    this.#isStarted = true;
  }

  override ensureTopics(topics: readonly Topic[]): Promise<void> {
    return this.#patiently(() => super.ensureTopics(topics));
  }

  override bounds(topic: Topic, partition: number): ReturnType<EventLog['bounds']> {
    return this.#patiently(() => super.bounds(topic, partition));
  }

  override read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    return this.#patiently(() => super.read(topic, partition, from, maxRecords));
  }

  override load(group: string, as?: GroupUse): Promise<GroupState> {
    return this.#patiently(() => super.load(group, as));
  }

  #patiently<T>(call: () => Promise<T>): Promise<T> {
    return this.#isStarted ? call() : this.#wait(call);
  }
}
