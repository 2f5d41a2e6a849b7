// Sums of what accounts did, by finished day: marks days open before rows of theirs are stored, and reduces them anew when they
// are over and quiet. A reader that could see a row that the sums lack finds the day open, at every instruction.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient, ClickHouseSettings } from '../../platform/index.ts';
import { ACCOUNT_DAY_SOURCES, ACCOUNT_DAY_TABLES, cleanDaysSql, reduceDaySql } from '../../schemas/index.ts';
import { type Persisting, persist } from './persist.ts';

/** How often it is looked for days to reduce. */
const PASS_MS = 500;
/** A day into which rows still come is left alone for so long after each. */
const QUIET_MS = 1_500;
/** After a failure: readers lack nothing but speed meanwhile. */
const RETRY_MS = 15_000;
/** After a replica that did not answer, which takes as long as the server waits for it. */
const UNSETTLED_MS = 600_000;
const PROGRESS_MS = '10000';

const REDUCE_SETTINGS: ClickHouseSettings = {
  // Answering readers and storing come first.
  max_threads: 1,
  max_bytes_before_external_group_by: '200000000',
  // One block, hence one part, for all but huge days.
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '134217728',
  max_partitions_per_insert_block: '0',
  insert_deduplicate: 0,
  do_not_merge_across_partitions_select_final: 1,
  // The request lives as long as the statement: without progress an idle socket would end it.
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: PROGRESS_MS,
  wait_end_of_query: 1,
};

/** Where the days are. */
export interface DayStore {
  readonly client: ClickHouseClient;
  /** Resolves when every replica has what was stored in a table. */
  readonly settle: (table: string) => Promise<void>;
}

interface Day {
  /**
   * True when this process marked it open and did not try to take that back since. Not so for what an earlier process left: a
   * mark of it may still be on its way.
   */
  isOpen: boolean;
  isClean: boolean;
  /** Number of its newest mark that this process began to set. */
  number: bigint;
  /** Blocks with rows of the day that are being stored. */
  storing: number;
  /** Counts beginnings and ends of those, and when the last was. */
  changes: number;
  changedMs: number;
}

const newDay = (isClean: boolean): Day => {
  return { isOpen: false, isClean, number: 0n, storing: 0, changes: 0, changedMs: 0 };
};

export class AccountDays {
  readonly #client: ClickHouseClient;
  readonly #settle: DayStore['settle'];
  readonly #days = new Map<number, Day>();
  /** Newest number of all marks. */
  #number = 0n;
  readonly #quietMs: number;
  /** Replicas are not waited for before. */
  #settleFromMs = 0;

  constructor({ client, settle }: DayStore, quietMs = QUIET_MS) {
    this.#client = client;
    this.#settle = settle;
    this.#quietMs = quietMs;
  }

  /** Reads what earlier processes left. Rejects when the signal aborts. */
  async load(persisting: Persisting): Promise<void> {
    const { marks } = ACCOUNT_DAY_TABLES;
    await persist(persisting, { table: marks }, async () => {
      const newest = `SELECT day, max(number) AS number, day IN (${cleanDaysSql('')}) AS clean FROM ${marks} GROUP BY day`;
      const answer = await this.#client.query({ query: newest, format: 'JSONEachRow' });
      for (const { day, number, clean } of await answer.json<{ day: string; number: string; clean: number }>()) {
        this.#days.set(Number(day), newDay(clean === 1));
        if (BigInt(number) > this.#number) this.#number = BigInt(number);
      }
    });
  }

  /** To be called before rows of these days are sent. Rejects when the signal aborts. */
  async storing(days: ReadonlySet<number>, persisting: Persisting): Promise<void> {
    for (const day of days) this.#change(day, 1);
    const closed = [...days].filter((day) => !this.#day(day).isOpen);
    if (closed.length === 0) return;
    await this.#markOpen(closed, persisting);
    await this.#settleMarks(persisting);
  }

  /** Rows must not be seen where the mark is not. A replica that is down holds up the sink once in a while only. */
  async #settleMarks({ logger }: Persisting): Promise<void> {
    if (performance.now() < this.#settleFromMs) return;
    try {
      await this.#settle(ACCOUNT_DAY_TABLES.marks);
    } catch (error) {
      this.#settleFromMs = performance.now() + UNSETTLED_MS;
      logger.warn({ err: error }, 'a replica may not have the marks of days');
    }
  }

  /** To be called when they are stored. */
  stored(days: ReadonlySet<number>): void {
    for (const day of days) this.#change(day, -1);
  }

  /** Reduces what is due until the signal aborts, as long as `isReady`: while much comes in, all of it would be done again. */
  async run(persisting: Persisting, isReady: () => boolean): Promise<void> {
    for (;;) {
      await sleep(PASS_MS, undefined, { signal: persisting.signal });
      if (isReady()) await this.reduceDue(persisting);
    }
  }

  /**
   * Reduces the days that are over and were left alone for a while; one that fails waits for its next turn. Rejects when the signal
   * aborts.
   */
  async reduceDue(persisting: Persisting): Promise<void> {
    const { signal, logger, metrics } = persisting;
    for (const day of this.#due()) {
      try {
        if (await this.#reduce(day, persisting)) metrics.days.inc();
      } catch (error) {
        signal.throwIfAborted();
        this.#day(day).changedMs = performance.now() + RETRY_MS;
        logger.warn({ err: error, day }, 'sums of a day not stored; trying again');
      }
    }
  }

  /** Days that are over, because an event of a later one is known, and hold rows that are not summed; oldest first. */
  #due(): readonly number[] {
    const newest = [...this.#days.keys()].reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const quietMs = performance.now() - this.#quietMs;
    return [...this.#days]
      .filter(([day, state]) => day < newest && !state.isClean && state.storing === 0 && state.changedMs <= quietMs)
      .map(([day]) => day)
      .sort((a, b) => a - b);
  }

  /** False when rows of the day came in meanwhile: it stays open then. */
  async #reduce(day: number, persisting: Persisting): Promise<boolean> {
    const state = this.#day(day);
    // A number of its own for each attempt, so that one that was given up cannot replace the sums of a later one.
    const number = await this.#markOpen([day], persisting);
    const { changes } = state;
    const isUnchanged = () => state.number === number && state.storing === 0 && state.changes === changes;
    if (!isUnchanged()) return false;
    for (const table of ACCOUNT_DAY_SOURCES) await this.#settle(table);
    for (const query of reduceDaySql(day, number)) {
      if (!isUnchanged()) return false;
      const { signal } = persisting;
      await this.#client.command({ query, clickhouse_settings: REDUCE_SETTINGS, abort_signal: signal });
    }
    for (const table of [ACCOUNT_DAY_TABLES.fills, ACCOUNT_DAY_TABLES.money]) await this.#settle(table);
    if (!isUnchanged()) return false;
    // From here on rows of the day need a newer mark, whether or not this one arrives.
    state.isOpen = false;
    await this.#mark([day], 'reduced', number);
    state.isClean = isUnchanged();
    return state.isClean;
  }

  async #markOpen(days: readonly number[], persisting: Persisting): Promise<bigint> {
    // Later than the clock too: the replica that was asked for the newest mark may not have had it.
    const now = BigInt(Date.now());
    this.#number = this.#number < now ? now : this.#number + 1n;
    const number = this.#number;
    for (const day of days) Object.assign(this.#day(day), { number, isClean: false });
    await persist(persisting, { table: ACCOUNT_DAY_TABLES.marks, days }, () => this.#mark(days, 'open', number));
    for (const day of days) this.#day(day).isOpen = true;
    return number;
  }

  async #mark(days: readonly number[], mark: 'open' | 'reduced', number: bigint): Promise<void> {
    await this.#client.insert({
      table: ACCOUNT_DAY_TABLES.marks,
      values: days.map((day) => ({ day, mark, number: String(number) })),
      format: 'JSONEachRow',
      clickhouse_settings: { wait_end_of_query: 1 },
    });
  }

  #change(day: number, blocks: 1 | -1): void {
    const state = this.#day(day);
    state.storing += blocks;
    state.changes += 1;
    state.changedMs = performance.now();
  }

  #day(day: number): Day {
    const state = this.#days.get(day) ?? newDay(false);
    this.#days.set(day, state);
    return state;
  }
}
