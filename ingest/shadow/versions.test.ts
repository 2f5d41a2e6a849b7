import { describe, expect, it } from 'vitest';
import { AccountVersions } from './versions.ts';

const bytes = (value: number, length = 1) => new Uint8Array(length).fill(value);

describe('account versions', () => {
  it('are all states that an account had during a slot', () => {
    const versions = new AccountVersions();
    versions.replaced('a', bytes(1), 5, 10);
    versions.replaced('a', bytes(2), 10, 10);
    versions.replaced('a', bytes(3), 10, 12);
    versions.replaced('b', bytes(9), 1, 20);
    const at = (slot: number) => versions.during('a', slot).map(([value]) => value);
    expect([4, 5, 9, 10, 11, 12, 13].map(at)).toEqual([[], [1], [1], [1, 2, 3], [3], [3], []]);
    versions.forget('a');
    expect([versions.during('a', 10), versions.during('b', 10)]).toEqual([[], [bytes(9)]]);
  });

  it('stay few however many come, also when some were forgotten in between', () => {
    const versions = new AccountVersions();
    for (let slot = 1; slot <= 10_000; slot++) {
      versions.replaced('a', bytes(slot % 200), slot, slot + 1);
      versions.replaced('b', bytes(7), slot, slot + 1);
      if (slot % 100 === 0) versions.forget('b');
    }
    const held = (key: string) => Array.from({ length: 10_002 }, (_, slot) => versions.during(key, slot).length);
    expect(held('a').reduce((sum, one) => sum + one)).toBe(2 * 65);
    expect(versions.during('a', 10_000).map(([value]) => value)).toEqual([9_999 % 200, 10_000 % 200]);
    expect(held('b').reduce((sum, one) => sum + one)).toBe(0);
  });

  it('are dropped when they are old or exceed the memory limit', () => {
    const versions = new AccountVersions();
    versions.replaced('a', bytes(1), 1, 2);
    versions.replaced('b', bytes(2), 1, 66);
    expect(versions.during('a', 1)).toHaveLength(1);
    versions.replaced('b', bytes(3), 66, 67);
    expect([versions.during('a', 1), versions.during('b', 60)]).toEqual([[], [bytes(2)]]);
    const large = 40 * 1024 * 1024;
    versions.replaced('c', bytes(4, large), 60, 68);
    versions.replaced('d', bytes(5, large), 60, 68);
    expect([versions.during('b', 66).length, versions.during('c', 65).length]).toEqual([0, 0]);
    expect(versions.during('d', 65)).toHaveLength(1);
  });
});
