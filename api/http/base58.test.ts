import bs58 from 'bs58';
import { expect, it } from 'vitest';
import { base58 } from './base58.ts';

it('encodes each key as itself, also from a view into a larger buffer and beyond the size of its cache', () => {
  const key = (index: number) => {
    const bytes = new Uint8Array(40);
    new DataView(bytes.buffer).setUint32(8, index);
    return bytes.subarray(8, 40);
  };
  for (let index = 0; index < 70_000; index += 1) base58(key(index));
  for (const index of [0, 1, 69_999, 0]) expect(base58(key(index))).toBe(bs58.encode(key(index)));
});
