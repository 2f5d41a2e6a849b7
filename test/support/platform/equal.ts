// Equality of large values, for tests that compare very often.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** Like `toEqual`, which takes several times as long to find values equal as Node does. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}
