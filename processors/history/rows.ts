// From a block's records to inserts: one list of rows per table and schema version, and what cannot become a row.

import { setImmediate } from 'node:timers/promises';
import type { LogRecord } from '../../platform/index.ts';
import { tableOf } from '../../schemas/index.ts';
import type { Bounds } from './blocks.ts';
import { type EventSchema, invalidDatum, type SchemaCatalogue, type Unreadable } from './catalogue.ts';
import { container } from './container.ts';
import { blockName } from './intent.ts';

/** Others in this process get their turn after so many records: some 15 ms. */
const TURN_RECORDS = 10_000;

/** Rows that go to ClickHouse in one statement. */
export interface Insert {
  readonly table: string;
  readonly schema: EventSchema;
  /** Deduplication token: the same rows have the same token however often they are sent. */
  readonly token: string;
  readonly records: readonly LogRecord[];
  readonly body: Buffer;
}

export interface Parked extends Unreadable {
  readonly record: LogRecord;
}

export interface Plan {
  readonly inserts: readonly Insert[];
  readonly parked: readonly Parked[];
}

/** Depends on the arguments only, so that a repeated block is divided in the same way. */
export async function planInserts(
  catalogue: SchemaCatalogue,
  records: readonly LogRecord[],
  bounds: readonly Bounds[],
  insertRows: number,
): Promise<Plan> {
  const groups = new Map<EventSchema, LogRecord[]>();
  const parked: Parked[] = [];
  for (const record of records) {
    const found = catalogue.recognise(record.value);
    if ('reason' in found) {
      parked.push({ ...found, record });
      continue;
    }
    const group = groups.get(found);
    if (group) group.push(record);
    else groups.set(found, [record]);
  }
  const block = blockName(bounds);
  const inserts: Insert[] = [];
  for (const [schema, group] of groups) {
    const table = tableOf(schema.event);
    for (let start = 0; start < group.length; start += insertRows) {
      const token = `${table}:${block}:${schema.version}:${start}`;
      const rows = await encodeRows(schema, group.slice(start, start + insertRows), parked);
      if (rows.records.length > 0) inserts.push({ table, schema, token, ...rows });
    }
  }
  return { inserts, parked };
}

/** What is sent for records of one schema; those that are not valid go to `parked` instead. */
async function encodeRows(
  schema: EventSchema,
  records: readonly LogRecord[],
  parked: Parked[],
): Promise<Pick<Insert, 'records' | 'body'>> {
  const { columns, start } = schema;
  const block = columns?.open(records.length);
  const isRow = (bytes: Uint8Array) => (block ? block.add(bytes, start) : schema.isValid(bytes, start));
  const valid: LogRecord[] = [];
  for (let from = 0; from < records.length; from += TURN_RECORDS) {
    if (from > 0) await setImmediate();
    for (const record of records.slice(from, from + TURN_RECORDS)) {
      if (isRow(record.value)) valid.push(record);
      else parked.push({ ...invalidDatum(schema, record.value), record });
    }
  }
  const body = block
    ? block.body()
    : container(
        schema.head,
        valid.map(({ value }) => ({ bytes: value, start })),
      );
  return { records: valid, body };
}

/** Two halves, each with a token of its own, to find the row that ClickHouse refuses. */
export async function halve({ table, schema, token, records }: Insert): Promise<readonly [Insert, Insert]> {
  const middle = Math.ceil(records.length / 2);
  const half = async (part: readonly LogRecord[], name: string): Promise<Insert> => {
    return { table, schema, token: `${token}/${name}`, ...(await encodeRows(schema, part, [])) };
  };
  return [await half(records.slice(0, middle), '0'), await half(records.slice(middle), '1')];
}
