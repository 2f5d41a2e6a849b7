// From a block's records to inserts: one list of rows per table and schema version, and the parked records.

import { setImmediate } from 'node:timers/promises';
import { ACCOUNT_DAY_SOURCES, dayOf, tableOf } from '../../schemas/index.ts';
import type { Block, BlockRecord } from './blocks.ts';
import { type EventSchema, invalidDatum, type SchemaCatalogue, type Unreadable } from './catalogue.ts';
import { blockName, type Intent } from './intent.ts';

/** Records between yields to the event loop: about 15 ms. */
const TURN_RECORDS = 10_000;

/** Rows of one statement. */
export interface Insert {
  readonly table: string;
  readonly schema: EventSchema;
  /** Deduplication token: the same rows always have the same token. */
  readonly token: string;
  readonly block: Block;
  /** Numbers of the records in the block. */
  readonly rows: readonly number[];
  readonly body: readonly Uint8Array[];
}

export interface Parked extends Unreadable {
  readonly record: BlockRecord;
}

export interface Plan {
  readonly inserts: readonly Insert[];
  readonly parked: readonly Parked[];
  /** Days whose account sums these rows change. */
  readonly days: ReadonlySet<number>;
}

/** Depends on its arguments only, so that a repeated block is divided in the same way. */
export async function planInserts(catalogue: SchemaCatalogue, block: Block, intent: Intent): Promise<Plan> {
  const { insertRows } = intent;
  const groups = new Map<EventSchema, number[]>();
  const parked: Parked[] = [];
  for (let number = 0; number < block.length; number++) {
    const found = catalogue.recognise(block.bytes(number), block.start(number), block.end(number));
    if ('reason' in found) {
      parked.push({ ...found, record: block.record(number) });
      continue;
    }
    const group = groups.get(found);
    if (group) group.push(number);
    else groups.set(found, [number]);
  }
  const name = blockName(intent);
  const inserts: Insert[] = [];
  const days = new Set<number>();
  for (const [schema, group] of groups) {
    const table = tableOf(schema.event);
    for (let start = 0; start < group.length; start += insertRows) {
      const token = `${table}:${name}:${schema.version}:${start}`;
      const encoded = await encodeRows(schema, block, group.slice(start, start + insertRows), parked);
      if (encoded.rows.length === 0) continue;
      inserts.push({ table, schema, token, block, ...encoded });
      if (ACCOUNT_DAY_SOURCES.has(table)) addDays(schema, block, encoded.rows, days);
    }
  }
  return { inserts, parked, days };
}

/** Day of a row. A record without a time is stored with 0; a time beyond all clocks has a day that is never summed. */
function addDays({ headerBytes, format }: EventSchema, block: Block, rows: readonly number[], days: Set<number>): void {
  const { time } = format;
  for (const number of rows) {
    const day = dayOf(time === null ? 0 : time(block.bytes(number), block.start(number) + headerBytes));
    if (!Number.isNaN(day)) days.add(day);
  }
}

/** The body of the records of one schema; invalid records go to `parked` instead. */
async function encodeRows(
  schema: EventSchema,
  block: Block,
  records: readonly number[],
  parked: Parked[],
): Promise<Pick<Insert, 'rows' | 'body'>> {
  const body = schema.format.open(records.length);
  const rows: number[] = [];
  for (let from = 0; from < records.length; from += TURN_RECORDS) {
    if (from > 0) await setImmediate();
    for (const number of records.slice(from, from + TURN_RECORDS)) {
      const [start, end] = [block.start(number), block.end(number)];
      if (body.add(block.bytes(number), start + schema.headerBytes, end)) rows.push(number);
      else parked.push({ ...invalidDatum(schema, end - start), record: block.record(number) });
    }
  }
  return { rows, body: body.parts() };
}

/** Two halves with their own tokens, to find the row that ClickHouse refuses. */
export async function halve(insert: Insert): Promise<readonly [Insert, Insert]> {
  const middle = Math.ceil(insert.rows.length / 2);
  const half = async (rows: readonly number[], name: string): Promise<Insert> => {
    const token = `${insert.token}/${name}`;
    return { ...insert, token, ...(await encodeRows(insert.schema, insert.block, rows, [])) };
  };
  return [await half(insert.rows.slice(0, middle), '0'), await half(insert.rows.slice(middle), '1')];
}
