// A table of records: columns say how a cell reads. Its rows can be saved as CSV.

import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly head: string;
  cell(row: T): ComponentChildren;
  /** Text for the CSV file. Without it the column is left out there. */
  csv?(row: T): string | number | null | undefined;
  readonly isNumber?: boolean;
}

export interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  keyOf(row: T): string;
  /** Shown instead of rows. */
  readonly empty: string;
  className?(row: T): string;
}

export function Table<T>({ caption, columns, rows, keyOf, empty, className }: TableProps<T>) {
  return (
    <table class="records">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, isNumber }) => (
            <th key={head} scope="col" class={isNumber ? 'number' : ''}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.length === 0 ? (
          <tr>
            <td class="empty" colSpan={columns.length}>
              {empty}
            </td>
          </tr>
        ) : (
          rows.map((row) => (
            <tr key={keyOf(row)} class={className?.(row) ?? ''}>
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} class={isNumber ? 'number' : ''}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))
        )}
      </tbody>
    </table>
  );
}

/** RFC 4180 text of the rows, one column for each with a `csv`. */
export function csvOf<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const written = columns.filter((column) => column.csv !== undefined);
  const lines = [
    written.map(({ head }) => quoted(head)),
    ...rows.map((row) => written.map(({ csv }) => quoted(csv?.(row)))),
  ];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** A spreadsheet would run a cell that begins like a formula. */
const FORMULA = /^[=+@\t\r]|^-(?![\d.])/;

function quoted(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
