// The event log of a process with a schema registry. The log stores records with the registry's ids, and this process sees
// them with our own envelope: RegistryLog translates on the way in and out.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RegistryFormat, type Topic } from '../../schemas/index.ts';
import { ForwardingLog } from './forwarding.ts';
import type { Appended, Commit, EventLog, FollowOptions, LogBatch, LogPage, LogRecord, NewRecord } from './port.ts';

const RETRY_MS = 1_000;

/** Registers our schemas, then opens the log. Rejects when the registry does not answer or refuses a schema. */
export async function openWithRegistry(url: string, open: () => Promise<EventLog>, logger: Logger): Promise<EventLog> {
  const format = await RegistryFormat.register(url);
  return new RegistryLog(await open(), format, logger.child({ log: 'registry' }));
}

/** While the registry is away, followers wait as they do for the log; a single read rejects. */
class RegistryLog extends ForwardingLog {
  readonly #format: RegistryFormat;
  readonly #logger: Logger;

  constructor(log: EventLog, format: RegistryFormat, logger: Logger) {
    super(log);
    this.#format = format;
    this.#logger = logger;
  }

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return super.append(topic, this.#outgoing(records));
  }

  /** State stays as it is: only this process reads it, and not all of it is records. */
  override commit(group: string, { outputs = [], ...step }: Commit): Promise<void> {
    const translated = outputs.map(({ topic, records }) => ({ topic, records: this.#outgoing(records) }));
    return super.commit(group, { ...step, outputs: translated });
  }

  override async read(
    topic: Topic,
    partition: number,
    from: bigint,
    maxRecords: number,
  ): Promise<readonly LogRecord[]> {
    const records = await super.read(topic, partition, from, maxRecords);
    for (const { value } of records) {
      const id = this.#format.unknownId(value, 0, value.length);
      if (id !== null) await this.#format.learn(id);
    }
    return records.map((record) => this.#incoming(record));
  }

  override async *follow(options: FollowOptions): AsyncGenerator<LogBatch> {
    for await (const { records, ...batch } of super.follow(options)) {
      for (const { value } of records) {
        const id = this.#format.unknownId(value, 0, value.length);
        if (id !== null && !(await this.#learn(id, options.signal))) return;
      }
      yield { ...batch, records: records.map((record) => this.#incoming(record)) };
    }
  }

  override async *followPages(options: FollowOptions): AsyncGenerator<LogPage> {
    for await (const page of super.followPages(options)) {
      const values: Uint8Array[] = [];
      let start = 0;
      for (const end of page.ends) {
        const id = this.#format.unknownId(page.bytes, start, end);
        if (id !== null && !(await this.#learn(id, options.signal))) return;
        values.push(this.#format.fromRegistry(page.bytes.subarray(start, end)));
        start = end;
      }
      let size = 0;
      const ends = page.ends.map((_, index) => {
        size += values[index]?.length ?? 0;
        return size;
      });
      yield { ...page, bytes: Buffer.concat(values, size), ends };
    }
  }

  #outgoing(records: readonly NewRecord[]): NewRecord[] {
    return records.map((record) => ({ ...record, value: this.#format.toRegistry(record.value) }));
  }

  #incoming(record: LogRecord): LogRecord {
    return { ...record, value: this.#format.fromRegistry(record.value) };
  }

  /** False when the signal aborts first. */
  async #learn(id: number, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        await this.#format.learn(id);
        return true;
      } catch (error) {
        this.#logger.warn({ err: error, id }, 'schema registry does not answer; retrying');
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
        if (signal.aborted) return false;
      }
    }
  }
}
