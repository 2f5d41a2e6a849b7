import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { ConfigError } from './config.ts';
import { publicKeys, readKey } from './public-keys.ts';

const bytes = new Uint8Array(32).fill(200);
const name = bs58.encode(bytes);

describe('a public key', () => {
  it('is 32 bytes in base58', () => {
    expect(readKey(name)).toEqual(bytes);
    for (const text of ['', 'abc', `${name}1`, '0OIl', name.replace(/.$/, '0'), 'z'.repeat(44)]) {
      expect(readKey(text)).toBeNull();
    }
  });

  it('is read from a list with commas, and an invalid one is named', () => {
    const other = new Uint8Array(32).fill(7);
    expect(publicKeys('ignoreList', ` ${name}, ${bs58.encode(other)},`)).toEqual([bytes, other]);
    expect(publicKeys('ignoreList', '')).toEqual([]);
    expect(() => publicKeys('ignoreList', `${name},oops`)).toThrow(
      new ConfigError('ignoreList must be public keys separated by commas; "oops" is not one'),
    );
  });
});
