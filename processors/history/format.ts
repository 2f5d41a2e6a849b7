// How the sink sends records of one schema version to ClickHouse.

import { compileColumns } from './columns.ts';
import { containerFormat } from './container.ts';
import { compileNumber, type ReadNumber } from './datum.ts';
import type { RowFormat } from './row-format.ts';

export interface RecordFormat extends RowFormat {
  /** The record's time, unix seconds; null for a schema without one. */
  readonly time: ReadNumber | null;
}

/** Columns where each type of the schema has one, else plain Avro. `mark` names the schema. */
export function formatOf(schemaText: string, mark: bigint): RecordFormat {
  const rows = compileColumns(schemaText) ?? containerFormat(schemaText, mark);
  return { ...rows, time: compileNumber(schemaText, 'ts') };
}
