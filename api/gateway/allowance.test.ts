import { expect, it } from 'vitest';
import { Allowance } from './allowance.ts';

it('gives the burst, then what time regains, and never more than the burst', () => {
  const allowance = new Allowance({ burst: 10, perSecond: 2 });
  expect(allowance.spend(10, 1000)).toBe(true);
  expect(allowance.has(1, 1000)).toBe(false);
  expect(allowance.has(1, 1499)).toBe(false);
  expect(allowance.spend(1, 1500)).toBe(true);
  expect(allowance.spend(10, 3_600_000)).toBe(true);
  expect(allowance.spend(1, 3_600_000)).toBe(false);
});

it('owes nothing for what was asked for in vain', () => {
  const allowance = new Allowance({ burst: 1, perSecond: 1 });
  expect([allowance.take(0), allowance.take(0), allowance.take(0)]).toEqual([true, false, false]);
  expect([allowance.take(1000), allowance.take(1000)]).toEqual([true, false]);
});
