import { describe, expect, it } from 'vitest';
import { Densities } from './densities.ts';

describe('densities', () => {
  it('say how far back a page is likely to reach, with a margin', () => {
    const densities = new Densities();
    expect(densities.stretch('/a', 1_000, 10)).toBeNull();
    densities.learn('/a', 1_000, 900, 50);
    expect(densities.stretch('/a', 2_000, 50)).toBe(2_000 - 2 * 100 - 1);
    expect(densities.stretch('/a', 2_000, 5)).toBe(2_000 - 2 * 10 - 1);
    densities.forget('/a');
    expect(densities.stretch('/a', 2_000, 5)).toBeNull();
  });

  it('take rows ahead of the clock as standing close together', () => {
    const densities = new Densities();
    densities.learn('/a', 1_000, 1_005, 50);
    expect(densities.stretch('/a', 2_000, 50)).toBe(1_999);
  });

  it('forget the lists that nobody asked for', () => {
    const densities = new Densities();
    for (let list = 0; list <= 10_000; list++) densities.learn(String(list), 10, 0, 1);
    expect(densities.stretch('0', 10, 1)).toBeNull();
    expect(densities.stretch('1', 10, 1)).toBe(-11);
  });
});
