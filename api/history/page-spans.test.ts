import { describe, expect, it } from 'vitest';
import { PageSpans } from './page-spans.ts';

describe('page spans', () => {
  it('return the expected start of a page, with a margin', () => {
    const pageSpans = new PageSpans();
    expect(pageSpans.start('/a', 1_000, 10)).toBeNull();
    pageSpans.learn('/a', 1_000, 900, 50);
    expect(pageSpans.start('/a', 2_000, 50)).toBe(2_000 - 2 * 100 - 1);
    expect(pageSpans.start('/a', 2_000, 5)).toBe(2_000 - 2 * 10 - 1);
    pageSpans.forget('/a');
    expect(pageSpans.start('/a', 2_000, 5)).toBeNull();
  });

  it('treat rows ahead of the clock as dense', () => {
    const pageSpans = new PageSpans();
    pageSpans.learn('/a', 1_000, 1_005, 50);
    expect(pageSpans.start('/a', 2_000, 50)).toBe(1_999);
  });

  it('forget the least recently updated lists', () => {
    const pageSpans = new PageSpans();
    for (let list = 0; list <= 10_000; list++) pageSpans.learn(String(list), 10, 0, 1);
    expect(pageSpans.start('0', 10, 1)).toBeNull();
    expect(pageSpans.start('1', 10, 1)).toBe(-11);
  });
});
