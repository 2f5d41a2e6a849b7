// Sends inserts to ClickHouse until they are stored: waits while it is away, and isolates rows that it refuses.

import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '../../platform/index.ts';
import type { Persisting } from './persist.ts';
import { halve, type Insert, type Parked } from './rows.ts';

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
const PARALLEL_INSERTS = 4;
const DETAIL_CHARS_MAX = 500;

const INSERT_SETTINGS: ClickHouseSettings = {
  // A schema version older than the table lacks its newer columns.
  input_format_avro_allow_missing_fields: 1,
  // Merges and readers remove copies of an event: a search for them here would cost two thirds of an insert.
  optimize_on_insert: 0,
  // A rebuild inserts many months at once.
  max_partitions_per_insert_block: '0',
  // A repeated block may still be missing in a lookup table: each table keeps its own tokens.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // The answer comes after the rows are stored, so that its status is final.
  wait_end_of_query: 1,
};

/**
 * Error codes about the rows, not about the server: the same rows would fail again.
 * Names as in ClickHouse's ErrorCodes.cpp.
 */
const ROW_ERRORS: ReadonlySet<string> = new Set([
  '6', // CANNOT_PARSE_TEXT
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '32', // ATTEMPT_TO_READ_AFTER_EOF
  '33', // CANNOT_READ_ALL_DATA
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '349', // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  '407', // DECIMAL_OVERFLOW
]);
/** ILLEGAL_COLUMN: a column cannot store the type of the schema version, so none of its rows can be stored. */
const SCHEMA_ERROR = '44';
/** The server's Avro library throws exceptions without a ClickHouse code. */
const AVRO_EXCEPTION = /avro::Exception/;

export class BlockWriter {
  readonly #client: ClickHouseClient;
  readonly #persisting: Persisting;

  constructor(client: ClickHouseClient, persisting: Persisting) {
    this.#client = client;
    this.#persisting = persisting;
  }

  /** Resolves with the refused rows once all others are stored. Rejects when the signal aborts, or with `mayWrite`. */
  async store(inserts: readonly Insert[]): Promise<readonly Parked[]> {
    const queue = [...inserts];
    const parked: Parked[] = [];
    const work = async () => {
      for (let insert = queue.shift(); insert; insert = queue.shift()) parked.push(...(await this.#insert(insert)));
    };
    await Promise.all(Array.from({ length: PARALLEL_INSERTS }, work));
    return parked;
  }

  async #insert(insert: Insert): Promise<readonly Parked[]> {
    const { logger, metrics, signal, mayWrite } = this.#persisting;
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      signal.throwIfAborted();
      await mayWrite?.();
      try {
        await this.#send(insert);
        metrics.rows.inc({ table: insert.table }, insert.rows.length);
        return [];
      } catch (error) {
        if (isAboutSchema(error)) return insert.rows.map((row) => refused(insert, row, error));
        if (isAboutRows(error)) return this.#isolate(insert, error);
        metrics.retries.inc();
        logger.warn(
          { err: error, table: insert.table, rows: insert.rows.length, waitMs },
          'insert failed; trying again',
        );
        await sleep(waitMs, undefined, { signal });
      }
    }
  }

  async #send({ table, schema, token, body }: Insert): Promise<void> {
    const { stream } = await this.#client.exec({
      query: `INSERT INTO \`${table}\` ${schema.format.into}`,
      values: Readable.from(body, { objectMode: false }),
      clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
    });
    // The answer is empty, but reading it frees the connection.
    for await (const _ of stream);
  }

  async #isolate(insert: Insert, error: Error): Promise<readonly Parked[]> {
    const [only, more] = insert.rows;
    if (only === undefined) return [];
    if (more === undefined) return [refused(insert, only, error)];
    const [front, back] = await halve(insert);
    return [...(await this.#insert(front)), ...(await this.#insert(back))];
  }
}

function refused({ block }: Insert, row: number, error: Error): Parked {
  return {
    record: block.record(row),
    reason: 'refused-by-clickhouse',
    detail: error.message.slice(0, DETAIL_CHARS_MAX),
  };
}

function isAboutSchema(error: unknown): error is ClickHouseError {
  return error instanceof ClickHouseError && error.code === SCHEMA_ERROR;
}

function isAboutRows(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (error instanceof ClickHouseError && ROW_ERRORS.has(error.code)) || AVRO_EXCEPTION.test(error.message);
}
