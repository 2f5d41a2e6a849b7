// The sums of accounts by day as the sink has stored them.

import { createClient } from '@clickhouse/client';
import { ACCOUNT_DAY_TABLES, cleanDaysSql } from '../../../../schemas/index.ts';
import { eventually } from '../../../support/processes/processes.ts';

const REDUCED_WITHIN_MS = 120_000;

async function ask<T>(url: string, query: string, database = 'slotbook'): Promise<readonly T[]> {
  const client = createClient({ url, database });
  try {
    return await (await client.query({ query, format: 'JSONEachRow' })).json<T>();
  } finally {
    await client.close();
  }
}

/** Waits until every day but the newest is reduced; returns their number. `url` is that of ClickHouse. */
export async function daysReduced(url: string, database = 'slotbook'): Promise<number> {
  const query = `SELECT toUInt32(count()) AS open, toUInt32((SELECT count() FROM (${cleanDaysSql('')}))) AS clean
    FROM (SELECT DISTINCT day FROM ${ACCOUNT_DAY_TABLES.marks}
      WHERE day NOT IN (${cleanDaysSql('')}) AND day < (SELECT max(day) FROM ${ACCOUNT_DAY_TABLES.marks}))`;
  let clean = 0;
  await eventually(
    'every finished day reduced',
    async () => {
      const [row] = await ask<{ open: number; clean: number }>(url, query, database);
      clean = row?.clean ?? 0;
      return clean > 0 && row?.open === 0;
    },
    REDUCED_WITHIN_MS,
  );
  return clean;
}

/** Rows and hash of each table of sums; how often a day was reduced makes no difference. */
export async function daySums(url: string): Promise<readonly unknown[]> {
  const digest = (table: string) =>
    ask(
      url,
      `SELECT count() AS rows, groupBitXor(cityHash64(toString(tuple(* EXCEPT version)))) AS hash FROM ${table} FINAL`,
    );
  return Promise.all([digest(ACCOUNT_DAY_TABLES.fills), digest(ACCOUNT_DAY_TABLES.money)]);
}
