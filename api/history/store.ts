// Read access to ClickHouse: parameterised queries with a time limit; failures map to the error table.

import type { Readable } from 'node:stream';
import { ClickHouseError, type QueryParams } from '@clickhouse/client';
import { type ClickHouseClient, type ClickHouseSettings, READ_SETTINGS } from '../../platform/index.ts';
import { HistoryError } from '../http/errors.ts';
import { PageSpans } from './page-spans.ts';

const UNKNOWN_TABLE = '60';
const UNKNOWN_DATABASE = '81';
const TIMEOUT_EXCEEDED = '159';

const SETTINGS: ClickHouseSettings = {
  ...READ_SETTINGS,
  output_format_json_quote_64bit_integers: 1,
  // Filters use the column where an alias has its name.
  prefer_column_name_to_alias: 1,
  // Published archives write an absent value as an empty cell.
  format_csv_null_representation: '',
};

/** Takes up to a third less time for a page, most of whose cost is planning. For nested sums the newer one takes half the time. */
const OLDER_PLANNER: ClickHouseSettings = { enable_analyzer: 0 };

/** For queries over few granules: one thread, because waiting for other threads costs more than they save. */
export const PAGE_SETTINGS: ClickHouseSettings = { ...OLDER_PLANNER, max_threads: 1 };

type Parameter = string | number | null | readonly string[] | Readonly<Record<string, string>>;
export type Parameters = Readonly<Record<string, Parameter>>;

/** Why a query failed: no connection, time limit, missing table, or a server error. */
export const QUERY_FAILURES = ['away', 'timeout', 'notBuilt', 'server'] as const;
export type QueryFailure = (typeof QUERY_FAILURES)[number];

export interface HistoryStoreOptions {
  readonly pageSpans?: PageSpans;
  /** Absent: the limit of all readers (`READ_SETTINGS`). Settings of a single query come first. */
  readonly queryTimeoutMs?: number;
  /** Called for every query that fails before its first row. */
  readonly failed?: (reason: QueryFailure) => void;
}

export class HistoryStore {
  readonly pageSpans: PageSpans;
  readonly #options: HistoryStoreOptions;
  #client: ClickHouseClient;
  #database: string;

  constructor(client: ClickHouseClient, database: string, options: HistoryStoreOptions = {}) {
    const { pageSpans = new PageSpans() } = options;
    this.pageSpans = pageSpans;
    this.#options = { ...options, pageSpans };
    this.#client = client;
    this.#database = database;
  }

  /** A store fixed to the current database, for queries that must read the same one. */
  pinned(): HistoryStore {
    return new HistoryStore(this.#client, this.#database, this.#options);
  }

  /** Sends further queries to another database; running queries finish on the old one. */
  use(client: ClickHouseClient, database: string): void {
    this.#client = client;
    this.#database = database;
  }

  /** Rows of a query. Tables are written `{db:Identifier}.name`; 64-bit integers are text. */
  async rows<T>(query: string, parameters: Parameters, settings: ClickHouseSettings = {}): Promise<readonly T[]> {
    return this.#ask<T>(this.#request(query, parameters, settings));
  }

  /** Rows without names: a list of cells each. */
  async cells<T = unknown>(
    query: string,
    parameters: Parameters,
    settings: ClickHouseSettings = {},
  ): Promise<readonly (readonly T[])[]> {
    return this.#ask<readonly T[]>({
      ...this.#request(query, parameters, settings),
      format: 'JSONCompactEachRow' as const,
    });
  }

  /** Rows as columns by name: one JSON text for all rows instead of one per row. */
  async columns<T = unknown>(
    query: string,
    parameters: Parameters,
    settings: ClickHouseSettings = {},
  ): Promise<Readonly<Record<string, readonly T[]>>> {
    const request = { ...this.#request(query, parameters, settings), format: 'JSONColumnsWithMetadata' as const };
    try {
      const result = await twice(() => this.#client.query(request));
      const { data } = await result.json();
      // The client types every format of one document as rows.
      return data as unknown as Readonly<Record<string, readonly T[]>>;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * Rows in the server's format. Rejects when the query fails at once; a later failure ends the stream with an error. `gone` ends the
   * query before its first row.
   */
  async stream(
    query: string,
    serverFormat: 'CSV' | 'CSVWithNames' | 'JSONEachRow' | 'Parquet',
    parameters: Parameters,
    settings: ClickHouseSettings = {},
    gone?: AbortSignal,
  ): Promise<Readable> {
    const { format: _, ...request } = this.#request(`${query} FORMAT ${serverFormat}`, parameters, {
      ...OLDER_PLANNER,
      ...settings,
    });
    try {
      return (await twice(() => this.#client.exec({ ...request, ...(gone && { abort_signal: gone }) }))).stream;
    } catch (error) {
      if (gone?.aborted) throw new HistoryError('storeAway', undefined, { cause: error });
      throw this.#failure(error);
    }
  }

  async #ask<T>(
    request: QueryParams & { readonly format: 'JSONEachRow' | 'JSONCompactEachRow' },
  ): Promise<readonly T[]> {
    try {
      const result = await twice(() => this.#client.query(request));
      return await result.json<T>();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): Error {
    const reason = failureOf(error);
    this.#options.failed?.(reason);
    if (reason === 'server') return error as ClickHouseError;
    return new HistoryError(reason === 'notBuilt' ? 'notBuilt' : 'storeAway', undefined, { cause: error });
  }

  #limit(): ClickHouseSettings {
    const { queryTimeoutMs } = this.#options;
    return queryTimeoutMs === undefined ? {} : { max_execution_time: queryTimeoutMs / 1_000 };
  }

  #request(query: string, parameters: Parameters, settings: ClickHouseSettings = {}) {
    return {
      query,
      query_params: { ...parameters, db: this.#database },
      format: 'JSONEachRow' as const,
      clickhouse_settings: { ...SETTINGS, ...this.#limit(), ...settings },
    };
  }
}

/** Retries once when the server closed the pooled socket at the same moment. Read queries are safe to repeat. */
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
    return ask();
  }
}

function failureOf(error: unknown): QueryFailure {
  if (!(error instanceof ClickHouseError)) return 'away';
  if (error.code === UNKNOWN_TABLE || error.code === UNKNOWN_DATABASE) return 'notBuilt';
  return error.code === TIMEOUT_EXCEEDED ? 'timeout' : 'server';
}
