// The event log of a process with a schema registry: what a record's id stands for is known before the record is handed on.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { learnSchema, leaveRegistry, type Topic, unknownRegistryId, useRegistry } from '../../schemas/index.ts';
import { PassingLog } from './passing.ts';
import type { EventLog, FollowOptions, LogBatch, LogPage, LogRecord } from './port.ts';

const RETRY_MS = 1_000;

/**
 * Registers our schemas, then opens the log; from then on this process writes the Confluent format, until the log is
 * closed. One such log a process. Rejects when the registry does not answer or refuses a schema.
 */
export async function openWithRegistry(url: string, open: () => Promise<EventLog>, logger: Logger): Promise<EventLog> {
  await useRegistry(url);
  try {
    return new LearningLog(await open(), logger.child({ log: 'registry' }));
  } catch (error) {
    leaveRegistry();
    throw error;
  }
}

/**
 * Readers that follow wait while the registry is away, as they do for the log; a single read rejects. State of groups is
 * not looked at: it is no record everywhere, and what it was written with is registered by the time it is loaded.
 */
class LearningLog extends PassingLog {
  readonly #logger: Logger;

  constructor(log: EventLog, logger: Logger) {
    super(log);
    this.#logger = logger;
  }

  override async read(
    topic: Topic,
    partition: number,
    from: bigint,
    maxRecords: number,
  ): Promise<readonly LogRecord[]> {
    const records = await super.read(topic, partition, from, maxRecords);
    for (const id of idsOf(records)) await learnSchema(id);
    return records;
  }

  override async *follow(options: FollowOptions): AsyncGenerator<LogBatch> {
    for await (const batch of super.follow(options)) {
      if (!(await this.#learn(idsOf(batch.records), options.signal))) return;
      yield batch;
    }
  }

  override async *followPages(options: FollowOptions): AsyncGenerator<LogPage> {
    for await (const page of super.followPages(options)) {
      if (!(await this.#learn(idsOfPage(page), options.signal))) return;
      yield page;
    }
  }

  /** False when the signal aborted first. */
  async #learn(ids: Iterable<number>, signal: AbortSignal): Promise<boolean> {
    for (const id of ids) {
      for (;;) {
        try {
          await learnSchema(id);
          break;
        } catch (error) {
          this.#logger.warn({ err: error, id }, 'schema registry does not answer; trying again');
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
          if (signal.aborted) return false;
        }
      }
    }
    return true;
  }

  override async close(): Promise<void> {
    await super.close();
    leaveRegistry();
  }
}

function* idsOf(records: readonly LogRecord[]): Generator<number> {
  for (const { value } of records) {
    const id = unknownRegistryId(value, 0, value.length);
    if (id !== null) yield id;
  }
}

function* idsOfPage({ bytes, ends }: LogPage): Generator<number> {
  let start = 0;
  for (const end of ends) {
    const id = unknownRegistryId(bytes, start, end);
    if (id !== null) yield id;
    start = end;
  }
}
