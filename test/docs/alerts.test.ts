// Every alert has a runbook, under a heading with its name.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../support/repository.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
}

const rules = parse(readFileSync(path.join(ROOT, 'deploy/alerts.yaml'), 'utf8')) as Rules;
const alerts = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
const page = readFileSync(path.join(ROOT, 'docs/operations/alerts.md'), 'utf8');
const runbooks = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split('\n', 1)[0] ?? '', section.split('\n').slice(1).join('\n').trim()]),
);

it('finds the alerts of the rule file', () => expect(alerts.length).toBeGreaterThan(10));

it.each(alerts)('%s has a runbook', (alert) => {
  expect(runbooks.get(alert) ?? '').toMatch(/\w.{40}/);
});
