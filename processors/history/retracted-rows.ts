// Finds and deletes the rows of dropped transactions, in every table of events. A transaction that landed again has its rows
// in another slot, so the slot belongs to the condition.

import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '../../platform/index.ts';
import {
  ACCOUNT_DAY_SOURCES,
  columnsOf,
  DAY_S,
  EVENT_NAMES,
  LOOKUP_TABLES,
  type SlotRetraction,
  tableOf,
  UNKNOWN_RECORD,
} from '../../schemas/index.ts';

/** Signatures of one statement: 140 bytes each, and the server parses 256 KiB at most. */
const SIGNATURES_MAX = 1_000;
/** Name in ClickHouse's ErrorCodes.cpp: UNFINISHED. A replica that is down deletes its rows when it returns. */
const UNFINISHED = '341';

const DELETE_SETTINGS: ClickHouseSettings = {
  // Every replica has deleted the rows when the statement answers.
  lightweight_deletes_sync: '2',
  replication_wait_for_inactive_replica_timeout: '10',
  wait_end_of_query: 1,
};

/** Tables of events, and their copies in another order; unknown events have no time. */
export const EVENT_TABLES: readonly { readonly table: string; readonly hasTime: boolean }[] = eventTables();

function eventTables() {
  const events = [...EVENT_NAMES, UNKNOWN_RECORD].map((name) => {
    return { table: tableOf(name), hasTime: columnsOf(name).some((column) => column.name === 'ts') };
  });
  const hasTime = new Map(events.map((one) => [one.table, one.hasTime]));
  const lookups = Object.entries(LOOKUP_TABLES).map(([table, base]) => ({
    table,
    hasTime: hasTime.get(base) ?? false,
  }));
  return [...lookups, ...events];
}

/** Rows of a retraction in one table. */
export interface RetractedRows {
  readonly table: string;
  readonly rows: number;
  /** Narrows the deletion to the parts and granules with the rows. */
  readonly where: string;
  /** Days whose account sums have the rows. */
  readonly days: readonly number[];
}

/** The tables that have rows of the dropped transactions. */
export async function findRetracted(
  client: ClickHouseClient,
  { slot, signatures }: SlotRetraction,
): Promise<readonly RetractedRows[]> {
  const found: RetractedRows[] = [];
  for (let from = 0; from < signatures.length; from += SIGNATURES_MAX) {
    const some = signatures
      .slice(from, from + SIGNATURES_MAX)
      .map((one) => `unhex('${Buffer.from(one).toString('hex')}')`);
    const where = `slot = ${slot} AND signature IN (${some.join(', ')})`;
    const rows = [...(await findIn(client, where, true)), ...(await findIn(client, where, false))];
    found.push(...rows.sort((a, b) => ORDER.indexOf(a.table) - ORDER.indexOf(b.table)));
  }
  return found;
}

const ORDER = EVENT_TABLES.map(({ table }) => table);

interface Summary {
  readonly name: string;
  readonly n: string;
  readonly from?: string;
  readonly to?: string;
  readonly days: readonly string[];
}

/** Rows in all tables with a time, or without: one statement for all takes a third of the time of one for each. */
async function findIn(client: ClickHouseClient, where: string, hasTime: boolean): Promise<readonly RetractedRows[]> {
  const tables = EVENT_TABLES.filter((one) => one.hasTime === hasTime).map(({ table }) => table);
  const times = hasTime
    ? `min(ts) AS from, max(ts) AS to, groupUniqArray(toInt64(ceil(ts / ${DAY_S})) - 1) AS days`
    : '[] AS days';
  const query = `SELECT _table AS name, count() AS n, ${times}
    FROM merge(currentDatabase(), '^(${tables.join('|')})$') WHERE ${where} GROUP BY name`;
  const answer = await client.query({ query, format: 'JSONEachRow' });
  const summaries = await answer.json<Summary>();
  return summaries.map(({ name, n, from, to, days }) => {
    const bounds = from === undefined ? '' : ` AND ts BETWEEN ${from} AND ${to}`;
    return {
      table: name,
      rows: Number(n),
      where: where + bounds,
      days: ACCOUNT_DAY_SOURCES.has(name) ? days.map(Number) : [],
    };
  });
}

export async function deleteRetracted(client: ClickHouseClient, { table, where }: RetractedRows): Promise<void> {
  await deleteWhere(client, table, where);
}

/** Deletes rows on every replica. */
export async function deleteWhere(client: ClickHouseClient, table: string, where: string): Promise<void> {
  try {
    await client.command({ query: `DELETE FROM \`${table}\` WHERE ${where}`, clickhouse_settings: DELETE_SETTINGS });
  } catch (error) {
    if (!(error instanceof ClickHouseError) || error.code !== UNFINISHED) throw error;
  }
}
