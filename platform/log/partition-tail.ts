// Reads one partition by calls: each returns the records since the last one.

import type { Topic } from '../../schemas/index.ts';
import type { EventLog, LogRecord } from './port.ts';

/** Between two checks whether the partition lost its tail. A read from beyond the end is empty, like one at the end. */
export const CHECK_MS = 10_000;

export class PartitionTail {
  readonly #log: Pick<EventLog, 'bounds' | 'read'>;
  readonly #topic: Topic;
  readonly #partition: number;
  #next: bigint;
  #checkedMs = performance.now();

  /** `next`: the offset to read first. */
  constructor(log: Pick<EventLog, 'bounds' | 'read'>, topic: Topic, partition: number, next: bigint) {
    this.#log = log;
    this.#topic = topic;
    this.#partition = partition;
    this.#next = next;
  }

  /** Empty at the end. */
  async read(maxRecords: number): Promise<readonly LogRecord[]> {
    const records = await this.#log.read(this.#topic, this.#partition, this.#next, maxRecords);
    const last = records.at(-1);
    if (last) this.#next = last.offset + 1n;
    else await this.#check();
    return records;
  }

  async #check(): Promise<void> {
    if (performance.now() - this.#checkedMs < CHECK_MS) return;
    const { next } = await this.#log.bounds(this.#topic, this.#partition);
    if (next < this.#next) this.#next = next;
    this.#checkedMs = performance.now();
  }
}
