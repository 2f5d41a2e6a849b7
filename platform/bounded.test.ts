import { expect, it } from 'vitest';
import { dropOldest } from './bounded.ts';

it('drops the entry that was added first, and only beyond the bound', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  map.set('a', 3);
  expect([dropOldest(map, 2), [...map.keys()]]).toEqual([undefined, ['a', 'b']]);
  expect([dropOldest(map, 1), [...map.keys()]]).toEqual(['a', ['b']]);
  const set = new Set([7, 8]);
  expect([dropOldest(set, 1), [...set]]).toEqual([7, [8]]);
});
