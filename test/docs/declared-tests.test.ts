import { describe, expect, it } from 'vitest';
import { type DeclaredTest, declaredTests } from './declared-tests.ts';

const SUITE = 'api/a.test.ts';

/** Tests of a suite that imports a helper of this text. */
const inSuite = (suite: string, helper = ''): readonly DeclaredTest[] =>
  declaredTests([SUITE], (file) => (file === SUITE ? suite : helper));
const titles = (suite: string, helper?: string) => inSuite(suite, helper).map(({ title }) => title);

describe('the tests of a suite', () => {
  it('have the titles that vitest would show, tables and templates too', () => {
    expect(titles("describe('a', () => { it('b', async () => {}); test.each([1])('c %s', () => {}); });")).toEqual([
      'a',
      'b',
      'c %s',
    ]);
    expect(titles(`it(\`says \\\`NOK\\\` \${TIMES} times\`, () => {});`)).toEqual([`says \`NOK\` \${TIMES} times`]);
    expect(titles("for (const a of [1]) describe.concurrent('a', () => it.for([a])('b', () => {}));")).toEqual([
      'a',
      'b',
    ]);
  });

  it('are none in comments and in texts', () => {
    expect(titles("// it('a', () => {});\n/* it('b', () => {}); */\nconst text = `it('c', () => {});`;")).toEqual([]);
  });

  it('are none where they are skipped, also within a skipped suite', () => {
    expect(titles("it.skip('a', () => {}); it.todo('b'); it('c', { skip: true }, () => {});")).toEqual([]);
    expect(titles("describe.skip('a', () => { const b = 1; it('c', () => {}); });")).toEqual([]);
  });

  it('have the conditions under which they run', () => {
    const conditionsOf = (suite: string) => inSuite(suite).map(({ conditions }) => conditions.join(' && '));
    expect(conditionsOf("it.skipIf(true)('a', () => {});")).toEqual(['!(true)']);
    expect(conditionsOf("describe.runIf(b).each([1])('a', () => { it('c', () => {}); });")).toEqual(['b', 'b']);
    expect(conditionsOf("if (a) it('b', () => {}); c && it('d', () => {});")).toEqual(['a', 'c']);
  });

  it('come from a function of another file only where a suite calls it', () => {
    const helper = "export function cases() { inner(); }\nconst inner = () => { it('a', () => {}); };";
    const imported = "import { cases as all } from '../test/support/cases.ts';\n";
    expect(inSuite(`${imported}all();`, helper)).toEqual([
      { file: 'test/support/cases.ts', title: 'a', conditions: [] },
    ]);
    expect(titles(imported, helper)).toEqual([]);
    expect(titles(`${imported}describe.skip('b', () => { all(); });`, helper)).toEqual([]);
    expect(titles(`${imported}describe('b', () => { function never() { all(); } });`, helper)).toEqual(['b']);
  });
});
