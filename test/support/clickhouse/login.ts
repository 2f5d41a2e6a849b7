// The pipeline's login, for clients of tests that name no database.

import type { ClickHouse, ServerLogin } from '../../../platform/clickhouse/provider.ts';

export function loginOf({ url, user, password }: ClickHouse): ServerLogin {
  return { url, user, password };
}
