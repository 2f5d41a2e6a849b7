// CSV text of a table.

import { expect, it } from 'vitest';
import { csvOf } from './table.tsx';

it('quotes what needs quotes, and no cell begins a formula', () => {
  const columns = [
    { head: 'Name', cell: (row: { name: string }) => row.name, csv: (row: { name: string }) => row.name },
    { head: 'Shown only', cell: () => 'x' },
  ];
  const rows = ['plain', 'a,b', 'say "hi"', '=SUM(A1)', '-5', '-x'].map((name) => ({ name }));
  expect(csvOf(columns, rows)).toBe(
    ['Name', 'plain', '"a,b"', '"say ""hi"""', "'=SUM(A1)", '-5', "'-x"].map((line) => `${line}\r\n`).join(''),
  );
});
