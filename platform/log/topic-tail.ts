// Reads a topic of one partition by calls: each takes the records since the last one.

import type { Topic } from '../../schemas/index.ts';
import type { EventLog, LogRecord } from './port.ts';
import { readPages } from './read-to-end.ts';

const ONLY_PARTITION = 0;

export class TopicTail {
  readonly #log: Pick<EventLog, 'bounds' | 'ensureTopics' | 'read'>;
  readonly #topic: Topic;
  #isOpen = false;
  #next = 0n;

  constructor(log: Pick<EventLog, 'bounds' | 'ensureTopics' | 'read'>, topic: Topic) {
    this.#log = log;
    this.#topic = topic;
  }

  /**
   * Takes the records up to the present end, from the oldest one at the first call. Calls may overlap: each record is taken once.
   * Rejects when the log cannot be read or `take` throws; the next call goes on behind the last record taken.
   */
  async read(take: (record: LogRecord) => void): Promise<void> {
    await this.#open();
    const [log, topic, partition] = [this.#log, this.#topic, ONLY_PARTITION];
    const { next: end } = await log.bounds(topic, partition);
    // The topic lost its tail: the records from its end on are new. A read from beyond the end is empty, like one at the end.
    if (end < this.#next) this.#next = end;
    if (this.#next === end) return;
    for await (const page of readPages({ log, topic, partition }, this.#next)) {
      for (const record of page) {
        if (record.offset < this.#next) continue;
        this.#next = record.offset + 1n;
        take(record);
      }
      if (this.#next >= end) return;
    }
  }

  /** A log that no writer of the topic has opened lacks it. */
  async #open(): Promise<void> {
    if (!this.#isOpen) await this.#log.ensureTopics([this.#topic]);
    this.#isOpen = true;
  }
}
