// Rows of a query.

import type { ClickHouse } from '../../../platform/clickhouse/provider.ts';

export async function rowsOf<T = Record<string, unknown>>(
  { client }: Pick<ClickHouse, 'client'>,
  query: string,
): Promise<readonly T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}
