// Samples of the Prometheus text format.

import { expect, it } from 'vitest';
import { parseMetrics, total, totalsBy } from './prometheus.ts';

const TEXT = `# HELP rows rows
# TYPE rows counter
rows{table="a",roles="x,y"} 3
rows{table="b \\"quoted\\"",roles="x"} 4.5
up 1
`;

it('reads names, labels and values', () => {
  expect(parseMetrics(TEXT)).toEqual([
    { name: 'rows', labels: { table: 'a', roles: 'x,y' }, value: 3 },
    { name: 'rows', labels: { table: 'b "quoted"', roles: 'x' }, value: 4.5 },
    { name: 'up', labels: {}, value: 1 },
  ]);
});

it('sums over labels, and knows what is missing', () => {
  const samples = parseMetrics(TEXT);
  expect(total(samples, 'rows')).toBe(7.5);
  expect(total(samples, 'rows', { table: 'a' })).toBe(3);
  expect(total(samples, 'absent')).toBeNull();
  expect(totalsBy(samples, 'rows', 'table')).toEqual([
    ['b "quoted"', 4.5],
    ['a', 3],
  ]);
});
