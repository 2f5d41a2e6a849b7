// Batches: lists that are read position by position, the n-th value of each for the n-th market.

import type { Given, Parameter } from '../contract/inputs.ts';
import { OrderbookError } from '../errors.ts';
import type { Query } from '../lenient.ts';
import { MAX_MARKETS } from './limits.ts';

export type Lists = Readonly<Record<string, Parameter<readonly string[] | undefined>>>;

/**
 * The query of each market. An absent list is absent everywhere; there is no broadcasting. Throws OrderbookError when
 * lengths differ, or for too many markets.
 */
export function batchQueries<L extends Lists>(lists: L, given: Given<L>): readonly Query[] {
  const present = Object.keys(lists).flatMap((name): [string, readonly string[]][] => {
    const list = given(name);
    return list === undefined ? [] : [[name, list]];
  });
  const lengths = present.map(([, list]) => list.length);
  const count = Math.max(0, ...lengths);
  if (lengths.some((length) => length !== count)) throw new OrderbookError('batchLengths');
  if (count > MAX_MARKETS) throw new OrderbookError('batchTooLong');
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(present.map(([name, list]) => [name, list[at] ?? ''])),
  );
}
