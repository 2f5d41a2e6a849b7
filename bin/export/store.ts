// The ClickHouse server of an export: the configured one, or the managed child of a running pipeline.

import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { type Config, ConfigError, serverLogin } from '../../platform/index.ts';
import type { ExportTable } from './select.ts';

const MIB = 1024 * 1024;
/** Sorting a long range may take long before the first byte. */
const REQUEST_TIMEOUT_MS = 3_600_000;

/** Read-only, without a time limit. Large sorts spill to disk. */
const EXPORT_SETTINGS = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_execution_time: 0,
  do_not_merge_across_partitions_select_final: 1,
  prefer_column_name_to_alias: 1,
  max_bytes_before_external_sort: String(128 * MIB),
  max_bytes_ratio_before_external_sort: 0,
  format_csv_null_representation: '',
  output_format_parquet_string_as_string: 1,
  output_format_arrow_string_as_string: 1,
  output_format_parquet_row_group_size: '100000',
  output_format_parquet_row_group_size_bytes: String(32 * MIB),
} as const;

/** Throws ConfigError when there is no server. */
export function connect(config: Config): ClickHouseClient {
  const login = serverLogin(config);
  if (login === null) {
    throw new ConfigError(
      `no ClickHouse: set SLOTBOOK_CLICKHOUSE_URL, or name the data directory of a running pipeline (not ${config.dataDir})`,
    );
  }
  return createClient({
    url: login.url,
    username: login.user,
    password: login.password,
    application: 'slotbook-export',
    request_timeout: REQUEST_TIMEOUT_MS,
    // The client throws its failures, and the command prints them once.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: EXPORT_SETTINGS,
  });
}

export async function rows<T>(
  client: ClickHouseClient,
  query: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<readonly T[]> {
  const result = await client.query({
    query,
    query_params: parameters,
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  });
  return result.json<T>();
}

/** Throws ConfigError with a list of tables when the table does not exist or has no time. */
export async function describeTable(client: ClickHouseClient, db: string, name: string): Promise<ExportTable> {
  const tables = await rows<{ name: string; sorting_key: string }>(
    client,
    `SELECT name, sorting_key FROM system.tables WHERE database = {db:String} AND engine LIKE '%MergeTree'
       AND name IN (SELECT table FROM system.columns WHERE database = {db:String} AND name = 'ts')
     ORDER BY name`,
    { db },
  );
  const found = tables.find((table) => table.name === name);
  if (!found) {
    if (tables.length === 0) throw new ConfigError(`the database ${db} has no history yet`);
    throw new ConfigError(
      `there is no table ${name} that an export could read; there are: ${tables.map((table) => table.name).join(', ')}`,
    );
  }
  const columns = await rows<{ name: string; type: string }>(
    client,
    `SELECT name, type FROM system.columns WHERE database = {db:String} AND table = {table:String}
       AND default_kind NOT IN ('ALIAS', 'EPHEMERAL') ORDER BY position`,
    { db, table: name },
  );
  return { name, columns, sortingKey: found.sorting_key.split(', ').map((key) => key.replaceAll('`', '')) };
}
