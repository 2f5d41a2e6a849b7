// CSV as the published archives have it (history reference 8.1): every name and text quoted, numbers bare, null empty.

import type { Row, RowField } from './fields.ts';

/** Header line, always present. */
export function csvHeader(fields: readonly RowField[]): string {
  return `${fields.map(({ name }) => quoted(name)).join(',')}\n`;
}

export function csvLine(fields: readonly RowField[], row: Row): string {
  return `${fields.map(({ name }) => cell(row[name] ?? null)).join(',')}\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  return typeof value === 'number' ? String(value) : quoted(value);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
