// Watches when a part of the history is complete: everything that the log had at the start is stored. Writes it to the
// table `projection`; until then readers answer that it is not built.

import type { ClickHouseClient, EventLog, Logger } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

export type HistoryPart = 'events' | 'samples' | 'candles' | 'vaults' | 'notifications' | 'notificationMarks';

interface Watched {
  readonly part: HistoryPart;
  readonly topic: Topic;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly client: ClickHouseClient;
}

/** Offset to read next, by partition; absent for an unread partition. */
export type Stored = ReadonlyMap<number, bigint>;

export class BuiltWatch {
  readonly #watched: Watched;
  /** Ends of the partitions that are still to reach; null before `begin` and after completion is written. */
  #missing: Map<number, bigint> | null = null;

  #isComplete = false;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** True once everything that the log had at the start is stored and the table says so. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reads the current ends of the topic. */
  async begin(stored: Stored): Promise<void> {
    const { log, topic } = this.#watched;
    const missing = new Map<number, bigint>();
    for (let partition = 0; partition < topic.partitions; partition++) {
      const { earliest, next } = await log.bounds(topic, partition);
      if (next > earliest) missing.set(partition, next);
    }
    this.#missing = missing;
    await this.stored(stored);
  }

  /** Call it after each step, when rows and offset are stored. The next step repeats a failure. */
  async stored(stored: Stored): Promise<void> {
    const missing = this.#missing;
    if (missing === null) return;
    for (const [partition, end] of missing) if ((stored.get(partition) ?? 0n) >= end) missing.delete(partition);
    if (missing.size > 0) return;
    const { part, client, logger, topic } = this.#watched;
    const ends = Object.fromEntries([...stored].map(([partition, next]) => [partition, String(next)]));
    const row = {
      name: part,
      built_ts: Math.floor(Date.now() / 1_000),
      log_end: JSON.stringify({ [topic.name]: ends }),
    };
    try {
      await client.insert({ table: 'projection', values: [row], format: 'JSONEachRow' });
      this.#missing = null;
      this.#isComplete = true;
      logger.info(row, 'everything that the log had at the start is stored');
    } catch (error) {
      logger.warn({ err: error, part }, 'completeness not stored; trying again');
    }
  }
}
