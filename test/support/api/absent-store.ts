// A ClickHouse that refuses every query, for history tests without a database or with a failed one.

import type { ClickHouse } from '../../../platform/index.ts';

/** Every query fails with `error`. */
export function absentStore(
  error: Error = new Error('connect ECONNREFUSED'),
): Pick<ClickHouse, 'client' | 'database' | 'connect'> {
  const refuse = () => Promise.reject(error);
  const client = { query: refuse, exec: refuse, close: async () => {} } as unknown as ClickHouse['client'];
  return { client, database: 'absent', connect: () => client };
}
