// How records of one schema version are sent to ClickHouse.

import { compileColumns } from './columns.ts';
import { containerFormat } from './container.ts';
import { compileNumber, type ReadNumber } from './datum.ts';

export interface RowFormat {
  /** What stands behind the table's name in the INSERT statement. */
  readonly into: string;
  /** An empty body with room for `rowsMax` rows. */
  open(rowsMax: number): Body;
}

export interface RecordFormat extends RowFormat {
  /** The record's time, unix seconds; null for a schema without one. */
  readonly time: ReadNumber | null;
}

/** Rows becoming what one statement carries. */
export interface Body {
  /** Adds a row. False, with nothing added, when `bytes` from `start` to `end` are not exactly one valid datum. */
  add(bytes: Uint8Array, start: number, end: number): boolean;
  /** What is sent, in parts. */
  parts(): readonly Uint8Array[];
}

/** Columns where each type of the schema has one, else Avro as it is. `mark` tells the schema from others. */
export function formatOf(schemaText: string, mark: bigint): RecordFormat {
  const rows = compileColumns(schemaText) ?? containerFormat(schemaText, mark);
  return { ...rows, time: compileNumber(schemaText, 'ts') };
}
