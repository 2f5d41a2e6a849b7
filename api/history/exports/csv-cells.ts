// Cells of CSV that this process writes: the same as those that the store writes (`selectList`).

import type { Cell } from '../fields.ts';

/** A line: texts quoted, numbers and booleans bare, null empty. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  return `"${text.replaceAll('"', '""')}"`;
}
