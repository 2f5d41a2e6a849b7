import { describe, expect, it } from 'vitest';
import { TestKey } from '../../test/support/api/quote-maker.ts';
import { preferredMakers, readAllowedMakers } from './quote-makers.ts';

describe('the makers of the setting', () => {
  it('are a set; an empty setting or a star admits every key', () => {
    const { name, bytes } = new TestKey();
    expect(readAllowedMakers('')).toEqual({ listed: new Set(), others: true });
    expect(readAllowedMakers(` ${name}, `)).toEqual({ listed: new Set([name]), others: false });
    expect(readAllowedMakers(`${name},*`)).toEqual({ listed: new Set([name]), others: true });
    expect(() => readAllowedMakers(`${name},oops`)).toThrow('not a public key: oops');
    const isPreferred = preferredMakers(`${name},*`);
    expect([isPreferred(bytes), isPreferred(new TestKey().bytes), preferredMakers('')(bytes)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
