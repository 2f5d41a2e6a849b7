// Converts the CSV of a path with raw integers line by line, so an archive of any size needs the memory of one chunk.

import { Readable } from 'node:stream';
import type { Members } from '../amount-decimals.ts';
import type { MemberSchemas } from '../amount-view.ts';

export type ConvertRow = (row: Members) => Members;

/** Converts the rows of `source`, without columns that have no schema. When either stream ends or fails, so does the other. */
export function convertedCsv(source: Readable, schemas: MemberSchemas, convert: ConvertRow): Readable {
  const converted = Readable.from(convertedLines(source, schemas, convert));
  // `Readable.from` destroys its source only after the first read.
  converted.once('close', () => source.destroy());
  return converted;
}

async function* convertedLines(source: Readable, schemas: MemberSchemas, convert: ConvertRow): AsyncGenerator<string> {
  let columns: readonly string[] | null = null;
  let rest = '';
  const convertLine = (line: string): string => {
    if (columns !== null) return textOf(convert(rowOf(columns, cellsOf(line))), columns, schemas);
    columns = cellsOf(line).map((cell) => cell ?? '');
    return describedColumns(columns, schemas)
      .map((column) => `"${column}"`)
      .join(',');
  };
  source.setEncoding('utf8');
  for await (const chunk of source as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines.map((line) => `${convertLine(line)}\n`).join('');
  }
  if (rest !== '') yield convertLine(rest);
}

/** Cells of a line: null for an empty cell, else the text without quotes. No cell contains a line break. */
function cellsOf(line: string): readonly (string | null)[] {
  return [...line.matchAll(CELL)].map(([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll('""', '"');
    return bare === '' ? null : (bare ?? null);
  });
}
/** A quoted or bare cell, at the start of the line or after a comma. */
const CELL = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g;

const describedColumns = (columns: readonly string[], schemas: MemberSchemas): readonly string[] =>
  columns.filter((column) => column in schemas);

const rowOf = (columns: readonly string[], cells: readonly (string | null)[]): Members =>
  Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? null]));

function textOf(row: Members, columns: readonly string[], schemas: MemberSchemas): string {
  return describedColumns(columns, schemas)
    .map((column) => cellText(row[column], schemas[column]))
    .join(',');
}

const BARE_TYPES: readonly unknown[] = ['integer', 'number', 'boolean'];

function cellText(value: unknown, schema: Members | undefined): string {
  if (value === null || value === undefined) return '';
  const isBare = [schema?.type].flat().some((type) => BARE_TYPES.includes(type));
  return isBare ? String(value) : `"${String(value).replaceAll('"', '""')}"`;
}
