import { expect, it } from 'vitest';
import { csvHeader, csvLine } from './csv.ts';
import { integer, optionalAmount, text } from './fields.ts';

it('quotes names and texts, doubles quotes, leaves numbers bare and null empty', () => {
  const fields = [integer('ts', ''), text('symbol', ''), optionalAmount('takerFee', 'quote 1e6')];
  expect(csvHeader(fields)).toBe('"ts","symbol","takerFee"\n');
  expect(csvLine(fields, { ts: 5, symbol: 'A "B"', takerFee: null })).toBe('5,"A ""B""",\n');
  expect(csvLine(fields, { ts: 5, symbol: 'S', takerFee: '-7' })).toBe('5,"S","-7"\n');
});
