import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HistoryError } from '../http/errors.ts';
import { boardPage, byRank, type RankedRow } from './board-pages.ts';

const BOARD = '/board';
const rowsOf = (values: readonly number[]): RankedRow[] =>
  values
    .map((value, index) => ({
      authority: `K${'1'.repeat(31)}${'ABCDEFGHJKLMNPQRSTUVWXYZ'[index]}`,
      value: BigInt(value),
    }))
    .sort(byRank);

/** All pages, following `nextPage`. */
function walk(boardAt: (page: number) => readonly RankedRow[], limit: number): RankedRow[] {
  const seen: RankedRow[] = [];
  let page: string | null | undefined;
  for (let at = 0; page !== null; at += 1) {
    const answer = boardPage(boardAt(at), { board: BOARD, page, limit });
    seen.push(...answer.rows);
    page = answer.nextPage;
  }
  return seen;
}

const values = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 20 });

describe('pages of a board', () => {
  it('hold every row once, in order', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 6 }), (numbers, limit) => {
        const rows = rowsOf(numbers);
        expect(walk(() => rows, limit)).toEqual(rows);
      }),
    );
  });

  it('show a row whose value stays at most once, and all such rows, while others move', () => {
    fc.assert(
      fc.property(values, fc.array(values, { minLength: 1 }), fc.integer({ min: 1, max: 6 }), (stay, others, limit) => {
        const staying = rowsOf(stay);
        const moving = (at: number) =>
          rowsOf(others[at % others.length] ?? []).map((row) => ({
            ...row,
            authority: row.authority.replace('K', 'M'),
          }));
        const seen = walk((at) => [...staying, ...moving(at)].sort(byRank), limit);
        expect(seen.filter(({ authority }) => authority.startsWith('K'))).toEqual(staying);
      }),
    );
  });

  it('may be asked by number, and refuse anything else', () => {
    const rows = rowsOf([5, 4, 3]);
    const page = (text: string, board = BOARD) => boardPage(rows, { board, page: text, limit: 2 });
    expect(page('1')).toMatchObject({ rows: rows.slice(0, 2), skipped: 0, nextPage: expect.any(String) });
    expect(page('2')).toMatchObject({ rows: rows.slice(2), skipped: 2, nextPage: null });
    expect(page('9')).toMatchObject({ rows: [], nextPage: null });
    const token = page('1').nextPage ?? '';
    expect(page(token)).toMatchObject({ rows: rows.slice(2), skipped: 2 });
    for (const bad of [
      '0',
      '1000001',
      '-1',
      '1.5',
      'x',
      `${token.slice(0, -3)}`,
      Buffer.from('[1]').toString('base64url'),
    ]) {
      expect(() => page(bad)).toThrow(HistoryError);
    }
    expect(() => page(token, '/other')).toThrow('page belongs to another path');
  });
});
