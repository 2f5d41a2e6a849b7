// Every clause of docs/guarantees.md names a test, and a run of all tests runs each of these, except where the page says what it needs.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, repositoryFiles } from '../support/repository.ts';
import { declaredTests } from './declared-tests.ts';

const page = readFileSync(path.join(ROOT, 'docs/guarantees.md'), 'utf8');

interface Clause {
  readonly clause: string;
  readonly file: string;
  readonly name: string;
  /** Need of the machine that runs the test, else empty. */
  readonly need: string;
}

const PROOF = /^`([^`]+)`: "([^"]+)"(?: \(needs (.+)\))?$/;
/** Needs by the code of the condition. */
const NEEDS: Readonly<Record<string, string>> = { '!(executablePath === undefined)': 'a browser' };

/** Rows of the tables of clauses. */
function clausesOf(text: string): readonly Clause[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && line !== '| Clause | Proof |');
  return rows.map((row) => {
    const [clause = '', proof = ''] = row.slice('| '.length, -' |'.length).split(' | ');
    const [, file = '', name = '', need = ''] = PROOF.exec(proof) ?? [];
    return { clause, file, name, need };
  });
}

/** Whether a test file in Python has this function, without a decorator that skips it. */
function hasPythonTest(source: string, name: string): boolean {
  const found = new RegExp(`((?:^[ ]*@.*\\n)*)^[ ]*(?:async )?def ${name}\\(`, 'm').exec(source);
  return found !== null && !/\.skip/.test(found[1] ?? '');
}

const keyOf = (file: string, name: string, need: string) => `${file}: "${name}" ${need}`;

const clauses = clausesOf(page);

describe('the guarantees', () => {
  it('are many, and each says what and by which test', () => {
    expect(clauses.length).toBeGreaterThan(60);
    expect(clauses.filter(({ clause, file, name }) => !/\.$/.test(clause) || file === '' || name === '')).toEqual([]);
  });

  it('name tests that run', () => {
    const suites = repositoryFiles().filter((file) => file.endsWith('.test.ts'));
    const declared = new Set(
      declaredTests(suites).map(({ file, title, conditions }) =>
        keyOf(file, title, conditions.map((condition) => NEEDS[condition] ?? condition).join(' and ')),
      ),
    );
    const lost = clauses.filter(({ file, name, need }) =>
      file.endsWith('.py')
        ? !hasPythonTest(readFileSync(path.join(ROOT, file), 'utf8'), name)
        : !declared.has(keyOf(file, name, need)),
    );
    expect(lost).toEqual([]);
  });

  it('find a test in Python only where it runs', () => {
    expect(hasPythonTest('async def test_it_keeps_all() -> None:', 'test_it_keeps_all')).toBe(true);
    expect(hasPythonTest('@given(x)\ndef test_it_keeps_all(x):', 'test_it_keeps_all')).toBe(true);
    expect(hasPythonTest('def test_it_keeps_all_of_it() -> None:', 'test_it_keeps_all')).toBe(false);
    expect(hasPythonTest('# def test_it_keeps_all() -> None:', 'test_it_keeps_all')).toBe(false);
    expect(hasPythonTest('@pytest.mark.skip\n@given(x)\ndef test_it_keeps_all(x):', 'test_it_keeps_all')).toBe(false);
  });
});
