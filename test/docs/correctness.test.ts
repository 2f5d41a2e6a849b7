// Every rule that the simulation of ingest checks has its row in docs/internals/correctness.md, under the name that a failed seed prints.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/repository.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const CHECKS = ['checks.ts', 'processed-checks.ts', 'fill-checks.ts', 'source-checks.ts', 'dropped-checks.ts'];
/** The rule is the first text in a call that reports a violation or compares books. */
const RULE = /(?:violated|#compare)\([^'`;{]*'([^']+)'/g;

it('the claims are the rules of the simulation', () => {
  const rules = CHECKS.flatMap((file) => [...read(`test/simulation/${file}`).matchAll(RULE)].map(([, rule]) => rule));
  const [, claims = ''] = /^## Claims\n([\s\S]*?)^## /m.exec(read('docs/internals/correctness.md')) ?? [];
  const rows = [...claims.matchAll(/^\| ([^|]+?) \|/gm)].map(([, rule]) => rule).filter((rule) => rule !== 'Rule');
  expect(rules).toContain('no event twice');
  expect([...new Set(rows)].sort()).toEqual([...new Set(rules)].sort());
});
