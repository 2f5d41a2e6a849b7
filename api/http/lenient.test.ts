import { describe, expect, it } from 'vitest';
import { lenientFlag, lenientInteger, parameter } from './lenient.ts';

describe('lenientInteger', () => {
  it.each([
    ['7x', 7],
    ['2abc', 2],
    [' 12', 12],
    ['-3', -3],
    ['+4', 4],
    ['5.9', 5],
    ['-0', 0],
    [100, 100],
    [99.9, 99],
    ['abc', null],
    ['', null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [null, null],
    [{}, null],
  ])('reads %j as %j', (value, expected) => {
    expect(lenientInteger(value)).toBe(expected);
  });
});

describe('lenientFlag', () => {
  it('is true only for the text true in any letter case', () => {
    expect(['true', 'TRUE', 'True'].every(lenientFlag)).toBe(true);
    expect(['1', 'yes', 'false', '', ' true', undefined].some(lenientFlag)).toBe(false);
  });
});

describe('parameter', () => {
  it('takes the first of repeated values, and only text', () => {
    expect(parameter({ a: ['x', 'y'] }, 'a')).toBe('x');
    expect(parameter({ a: '' }, 'a')).toBe('');
    expect(parameter({ a: 5 }, 'a')).toBeUndefined();
    expect(parameter({}, 'a')).toBeUndefined();
  });
});
