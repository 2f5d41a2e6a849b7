// Levels of a book that a service sends whole.

import type { L2Book } from '../../../client/index.ts';
import type { Level } from './rows.ts';

export function levelsOf(levels: L2Book['bids']): readonly Level[] {
  return levels.map(({ price, size, sources }) => ({
    price: BigInt(price),
    size: BigInt(size),
    sources: Object.fromEntries(Object.entries(sources).map(([name, part]) => [name, BigInt(part)])),
  }));
}
