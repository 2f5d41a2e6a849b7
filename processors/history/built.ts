// When a part of the history counts as complete: everything that the log had at the start is stored. Written to the
// table `projection`; until then readers answer that it is not built.

import type { ClickHouseClient, EventLog, Logger } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

export type Projection = 'events' | 'samples' | 'candles' | 'vaults';

interface Watched {
  readonly projection: Projection;
  readonly topic: Topic;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly client: ClickHouseClient;
}

/** Offset to read next, by partition; a partition without one has not been read. */
export type Stored = ReadonlyMap<number, bigint>;

export class BuiltWatch {
  readonly #watched: Watched;
  /** Partitions that are not stored up to the end they had at the start; null before `begin` and once it is written. */
  #missing: Map<number, bigint> | null = null;

  #isComplete = false;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** True once everything that the log had at the start is stored, and that is written. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Takes the ends of the topic as they are now. */
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

  /** To be called after each step, when rows and position are stored. A failure is tried again with the next step. */
  async stored(stored: Stored): Promise<void> {
    const missing = this.#missing;
    if (missing === null) return;
    for (const [partition, end] of missing) if ((stored.get(partition) ?? 0n) >= end) missing.delete(partition);
    if (missing.size > 0) return;
    const { projection, client, logger, topic } = this.#watched;
    const ends = Object.fromEntries([...stored].map(([partition, next]) => [partition, String(next)]));
    const row = {
      name: projection,
      built_ts: Math.floor(Date.now() / 1_000),
      log_end: JSON.stringify({ [topic.name]: ends }),
    };
    try {
      await client.insert({ table: 'projection', values: [row], format: 'JSONEachRow' });
      this.#missing = null;
      this.#isComplete = true;
      logger.info(row, 'stored all that the log had');
    } catch (error) {
      logger.warn({ err: error, projection }, 'completeness not written; trying again');
    }
  }
}
