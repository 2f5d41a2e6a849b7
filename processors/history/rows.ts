// From a block's records to inserts: one list of rows per table and schema version, and what cannot become a row.

import type { LogRecord } from '../../platform/index.ts';
import { tableOf } from '../../schemas/index.ts';
import type { Bounds } from './blocks.ts';
import type { EventSchema, SchemaCatalogue, Unreadable } from './catalogue.ts';
import { container, type Datum } from './container.ts';
import { blockName } from './intent.ts';

export interface Row extends Datum {
  readonly record: LogRecord;
}

/** Rows that go to ClickHouse in one statement. */
export interface Insert {
  readonly table: string;
  readonly schema: EventSchema;
  /** Deduplication token: the same rows have the same token however often they are sent. */
  readonly token: string;
  readonly rows: readonly Row[];
  /** What is sent: made when it is first asked for, and kept. */
  readonly body: () => Buffer;
}

export interface Parked extends Unreadable {
  readonly record: LogRecord;
}

export interface Plan {
  readonly inserts: readonly Insert[];
  readonly parked: readonly Parked[];
}

/** Depends on the arguments only, so that a repeated block is divided in the same way. */
export function planInserts(
  catalogue: SchemaCatalogue,
  records: readonly LogRecord[],
  bounds: readonly Bounds[],
  insertRows: number,
): Plan {
  const groups = new Map<EventSchema, Row[]>();
  const parked: Parked[] = [];
  for (const record of records) {
    const found = catalogue.recognise(record.value);
    if ('reason' in found) {
      parked.push({ ...found, record });
      continue;
    }
    const row: Row = { record, bytes: record.value, start: found.start };
    const rows = groups.get(found.schema);
    if (rows) rows.push(row);
    else groups.set(found.schema, [row]);
  }
  const block = blockName(bounds);
  const inserts = [...groups].flatMap(([schema, rows]) => divide(schema, rows, block, insertRows));
  return { inserts, parked };
}

function divide(schema: EventSchema, rows: readonly Row[], block: string, insertRows: number): Insert[] {
  const table = tableOf(schema.event);
  const inserts: Insert[] = [];
  for (let start = 0; start < rows.length; start += insertRows) {
    const part = rows.slice(start, start + insertRows);
    inserts.push(insertOf({ table, schema, rows: part, token: `${table}:${block}:${schema.version}:${start}` }));
  }
  return inserts;
}

function insertOf(insert: Omit<Insert, 'body'>): Insert {
  let made: Buffer | undefined;
  const { columns, head } = insert.schema;
  return {
    ...insert,
    body: () => {
      made ??= columns ? columns.encode(insert.rows) : container(head, insert.rows);
      return made;
    },
  };
}

/** Two halves, each with a token of its own, to find the row that ClickHouse refuses. */
export function halve(insert: Insert): readonly [Insert, Insert] {
  const middle = Math.ceil(insert.rows.length / 2);
  return [
    insertOf({ ...insert, rows: insert.rows.slice(0, middle), token: `${insert.token}/0` }),
    insertOf({ ...insert, rows: insert.rows.slice(middle), token: `${insert.token}/1` }),
  ];
}
