// The export jobs of the log, in one process: follows the topic, and reads up to its end where an answer must be current.

import {
  type EventLog,
  type LogBatch,
  type Logger,
  type LogRecord,
  readPages,
  readToEnd,
  TopicFollower,
} from '../../../platform/index.ts';
import { decodeMessage, encodeMessage, type MessageTypes, TOPICS } from '../../../schemas/index.ts';
import { followAlways } from '../../views/follow.ts';
import { ExportJobs } from './jobs.ts';

const TOPIC = TOPICS.exports;
const PARTITION = 0;

export type ExportRecord = 'ExportRequested' | 'ExportClaimed' | 'ExportFinished' | 'ExportExpired';

export interface JobLogParts {
  readonly log: EventLog;
  readonly logger: Logger;
}

export class JobLog {
  readonly jobs = new ExportJobs();
  readonly #parts: JobLogParts;
  readonly #follower = new TopicFollower();
  readonly #listeners = new Set<() => void>();
  /** Next offset to apply. */
  #next = 0n;
  #reading: Promise<void> = Promise.resolve();

  constructor(parts: JobLogParts) {
    this.#parts = parts;
  }

  /** Resolves when all jobs so far are known. Rejects when the log cannot be read. */
  async start(): Promise<void> {
    const { log, logger } = this.#parts;
    // Not `readAndFollow`: listeners are called once a batch, so that no worker claims a job whose claim is in the same batch.
    await log.ensureTopics([TOPIC]);
    const next = await readToEnd({ log, topic: TOPIC, partition: PARTITION }, (record) => this.#take(record));
    const from = new Map([[PARTITION, next]]);
    const take = ({ records }: LogBatch): void => this.#takeAll(records);
    followAlways(this.#follower, { log, logger, topic: TOPIC, from, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  /** Calls back after every change of the jobs. Call the result to end it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Appends a record and applies the log up to it. After a rejection the record may be in the log nevertheless. */
  async append<N extends ExportRecord>(
    name: N,
    value: MessageTypes[N] & { readonly requestId: string },
  ): Promise<void> {
    await this.#parts.log.append(TOPIC, [{ key: value.requestId, value: encodeMessage(name, value) }]);
    await this.readToEnd();
  }

  /** Resolves when every record that is in the log at this moment is applied. Rejects when the log cannot be read. */
  readToEnd(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readOn());
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    if (this.#follower.signal.aborted) return;
    for await (const records of readPages({ log: this.#parts.log, topic: TOPIC, partition: PARTITION }, this.#next)) {
      this.#takeAll(records);
      if (this.#follower.signal.aborted) return;
    }
  }

  #takeAll(records: readonly LogRecord[]): void {
    const before = this.#next;
    for (const record of records) this.#take(record);
    if (this.#next !== before) for (const listener of [...this.#listeners]) listener();
  }

  /** The follower and `readToEnd` read the same records; each counts once. */
  #take({ offset, value }: LogRecord): void {
    if (offset < this.#next) return;
    this.#next = offset + 1n;
    try {
      this.jobs.apply(decodeMessage(value), offset);
    } catch (error) {
      const origin = `${TOPIC.name}/${PARTITION}/${offset}`;
      this.#parts.logger.warn({ origin, error: String(error) }, 'unreadable export record');
    }
  }
}
