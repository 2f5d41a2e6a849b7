// Messages of a busy book, for measuring keepers.

import { BookKeeper } from '../../../client/index.ts';
import type { BookL2Diff, BookL2Snapshot, BookLevelEntry } from '../../../schemas/index.ts';
import { seededRandom } from '../platform/chance.ts';

/** Levels a side. */
export const LEVELS = 500;
const MESSAGES = 5000;
export const CHANGES_PER_MESSAGE = 10;
/** A checksum each 100 level changes. */
const CHECKSUM_EVERY = 10;

const head = { epoch: 1, slot: 9, ts: 1_790_000_000_000 };
const market = { channel: 'book', market: 'SOL-PERP', marketType: 'perp', marketIndex: 0 } as const;
const stream = { stream: 'perp_0_l2_k10', streamId: 1 };

export function snapshot(): BookL2Snapshot {
  const side = (sign: number): BookLevelEntry[] =>
    Array.from(
      { length: LEVELS },
      (_, index) => [String(81_000_000 + sign * (index + 1) * 100), '1000000000'] as const,
    );
  return { ...market, ...stream, ...head, type: 'snapshot', level: 'l2', seq: 0, bids: side(-1), asks: side(1) };
}

/** Changes as a busy market makes them: most near the top, some levels leave and return. */
export function diffs(): BookL2Diff[] {
  const next = seededRandom(7);
  const keeper = new BookKeeper({ level: 'l2', checksum: true });
  keeper.apply(snapshot());
  return Array.from({ length: MESSAGES }, (_, index): BookL2Diff => {
    const entry = (sign: number): BookLevelEntry => {
      const price = String(81_000_000 + sign * (1 + Math.floor(next() ** 3 * LEVELS)) * 100);
      const vamm = String(Math.floor(next() * 1e9) + 1);
      const sort = next();
      if (sort < 0.15) return [price, '0'];
      return sort < 0.7 ? [price, vamm] : [price, String(BigInt(vamm) + 500n), { dlob: '500', vamm }];
    };
    const half = CHANGES_PER_MESSAGE / 2;
    const lists = {
      bids: Array.from({ length: half }, () => entry(-1)),
      asks: Array.from({ length: half }, () => entry(1)),
    };
    const message: BookL2Diff = { diff: 1, ...head, prevSeq: index, seq: index + 1, ...lists };
    keeper.apply(message);
    return (index + 1) % CHECKSUM_EVERY === 0 ? { ...message, checksum: keeper.checksum() } : message;
  });
}
