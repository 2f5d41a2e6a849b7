// Reading ClickHouse: parameterised, read-only, bounded in time; its failures become those of the error table.

import type { Readable } from 'node:stream';
import { ClickHouseError, type QueryParams } from '@clickhouse/client';
import { type ClickHouseClient, type ClickHouseSettings, READ_SETTINGS } from '../../platform/index.ts';
import { HistoryError } from '../errors.ts';
import { Densities } from './densities.ts';

const UNKNOWN_TABLE = '60';
const UNKNOWN_DATABASE = '81';
const TIMEOUT_EXCEEDED = '159';

const SETTINGS: ClickHouseSettings = {
  ...READ_SETTINGS,
  output_format_json_quote_64bit_integers: 1,
  // An alias that equals a column's name must not replace the column in filters.
  prefer_column_name_to_alias: 1,
  // CSV as the published archives have it: an absent value is an empty cell.
  format_csv_null_representation: '',
  // The older planner takes a third less time over these small queries, which is most of what a page costs.
  enable_analyzer: 0,
};

/** For queries that read a few granules: threads that wait for one another cost them more than they give. */
export const PAGE_SETTINGS: ClickHouseSettings = { max_threads: 1 };

export type Parameters = Readonly<Record<string, string | number | Readonly<Record<string, string>>>>;

export class HistoryStore {
  readonly densities: Densities;
  #client: ClickHouseClient;
  #database: string;

  constructor(client: ClickHouseClient, database: string, densities = new Densities()) {
    this.densities = densities;
    this.#client = client;
    this.#database = database;
  }

  /** The database of this moment, for questions that must all go to the same one. */
  pinned(): HistoryStore {
    return new HistoryStore(this.#client, this.#database, this.densities);
  }

  /** From the next query on another database answers; queries under way end where they began. */
  use(client: ClickHouseClient, database: string): void {
    this.#client = client;
    this.#database = database;
  }

  /** Rows of a query; tables are written `{db:Identifier}.name`. 64-bit integers come as text. */
  async rows<T>(query: string, parameters: Parameters, settings: ClickHouseSettings = {}): Promise<readonly T[]> {
    return this.#ask<T>(this.#request(query, parameters, settings));
  }

  /** The same without names: a list of cells for each row. */
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

  /** The same column by column, under their names: many rows are read as one text instead of a text each. */
  async columns<T = unknown>(
    query: string,
    parameters: Parameters,
    settings: ClickHouseSettings = {},
  ): Promise<Readonly<Record<string, readonly T[]>>> {
    const request = { ...this.#request(query, parameters, settings), format: 'JSONColumnsWithMetadata' as const };
    try {
      const result = await twice(() => this.#client.query(request));
      const { data } = await result.json();
      // The client's types have rows there for every format of one document.
      return data as unknown as Readonly<Record<string, readonly T[]>>;
    } catch (error) {
      throw storeFailure(error);
    }
  }

  /** The rows as CSV with a header line, as the server writes it. The failure of the query itself comes before the first byte. */
  async csv(query: string, parameters: Parameters): Promise<Readable> {
    const { format: _, ...request } = this.#request(`${query} FORMAT CSVWithNames`, parameters);
    try {
      return (await twice(() => this.#client.exec(request))).stream;
    } catch (error) {
      throw storeFailure(error);
    }
  }

  async #ask<T>(
    request: QueryParams & { readonly format: 'JSONEachRow' | 'JSONCompactEachRow' },
  ): Promise<readonly T[]> {
    try {
      const result = await twice(() => this.#client.query(request));
      return await result.json<T>();
    } catch (error) {
      throw storeFailure(error);
    }
  }

  #request(query: string, parameters: Parameters, settings: ClickHouseSettings = {}) {
    return {
      query,
      query_params: { ...parameters, db: this.#database },
      format: 'JSONEachRow' as const,
      clickhouse_settings: { ...SETTINGS, ...settings },
    };
  }
}

/** A socket that the server closed in the same moment says nothing of the store: a reader's question is asked once more. */
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
    return ask();
  }
}

/** Network failures and timeouts mean that the store is away, missing tables that the history is not built. */
function storeFailure(error: unknown): Error {
  if (!(error instanceof ClickHouseError)) return new HistoryError('storeAway', undefined, { cause: error });
  if (error.code === UNKNOWN_TABLE || error.code === UNKNOWN_DATABASE) {
    return new HistoryError('notBuilt', undefined, { cause: error });
  }
  return error.code === TIMEOUT_EXCEEDED ? new HistoryError('storeAway', undefined, { cause: error }) : error;
}
