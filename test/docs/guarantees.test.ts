// Every clause of docs/guarantees.md names a test, and each of these exists in its file.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './documents.ts';

const page = readFileSync(path.join(ROOT, 'docs/guarantees.md'), 'utf8');

interface Clause {
  readonly clause: string;
  readonly file: string;
  readonly name: string;
}

const PROOF = /^`([^`]+)`: "(.+)"$/;

/** Rows of the tables of clauses. */
function clausesOf(text: string): readonly Clause[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && line !== '| Clause | Proof |');
  return rows.map((row) => {
    const [clause = '', proof = ''] = row.slice('| '.length, -' |'.length).split(' | ');
    const [, file = '', name = ''] = PROOF.exec(proof) ?? [];
    return { clause, file, name };
  });
}

/** Longer than the begin of a test and its table. */
const BEGIN_CHARACTERS = 2_000;
const COMMENTED = /\/\/[^\n]*$/;
const SKIPPED = /\b(?:it|test|describe)\.(?:skip|todo)\b[^;]*$/;

/**
 * Whether a source begins a test, or a table of tests, with this title, and neither skips it nor has it in a comment. A test in Python
 * is a function of this name.
 */
function hasTest(source: string, name: string): boolean {
  if (/^test_\w+$/.test(name)) return source.includes(`def ${name}(`);
  return ["'", '"', '`'].some((quote) => {
    const title = quote + (quote === '`' ? name.replaceAll('`', '\\`') : name) + quote;
    const at = source.indexOf(title);
    const before = source.slice(Math.max(0, at - BEGIN_CHARACTERS), Math.max(0, at));
    return /\(\s*$/.test(before) && !COMMENTED.test(before) && !SKIPPED.test(before);
  });
}

const clauses = clausesOf(page);

describe('the guarantees', () => {
  it('are many, and each says what and by which test', () => {
    expect(clauses.length).toBeGreaterThan(60);
    expect(clauses.filter(({ clause, file, name }) => !/\.$/.test(clause) || file === '' || name === '')).toEqual([]);
  });

  it('name tests that exist', () => {
    const lost = clauses.filter(({ file, name }) => {
      const place = path.join(ROOT, file);
      return !existsSync(place) || !hasTest(readFileSync(place, 'utf8'), name);
    });
    expect(lost).toEqual([]);
  });

  it('would be found out if a test were renamed', () => {
    expect(hasTest("it('keeps all', async () => {", 'keeps all')).toBe(true);
    expect(hasTest('])(\n  `says \\`NOK\\``, () => {', 'says `NOK`')).toBe(true);
    expect(hasTest("// it says 'keeps all'", 'keeps all')).toBe(false);
    expect(hasTest("  // it('keeps all', async () => {", 'keeps all')).toBe(false);
    expect(hasTest("it.skip('keeps all', async () => {", 'keeps all')).toBe(false);
    expect(hasTest("it('keeps all of it', () => {", 'keeps all')).toBe(false);
    expect(hasTest('async def test_it_keeps_all() -> None:', 'test_it_keeps_all')).toBe(true);
    expect(hasTest('def test_it_keeps_all_of_it() -> None:', 'test_it_keeps_all')).toBe(false);
  });
});
