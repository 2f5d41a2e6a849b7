// Price levels and their grouping, best first, with absolute sizes: docs/internals/book-rules.md, "Grouped books".

import type { ViewLevel } from '../../schemas/index.ts';
import type { Side } from './ladder.ts';

/** Group widths that clients may subscribe to, in ticks. */
export const GROUPS = [1, 10, 100, 500, 1000] as const;
/** Levels per side of a grouped book, without added crossed levels. */
export const GROUPED_LEVELS = 20;

export interface Level extends ViewLevel {
  /** Size of indicative quotes, absent without any. */
  readonly indicative?: bigint;
}

/** Total size of a level, base 1e9. */
export function levelSize(level: Level): bigint {
  return level.dlob + level.vamm + (level.indicative ?? 0n);
}

function joined(left: Level, right: Level, price: number): Level {
  const indicative = (left.indicative ?? 0n) + (right.indicative ?? 0n);
  const sum = { price, dlob: left.dlob + right.dlob, vamm: left.vamm + right.vamm };
  return indicative > 0n ? { ...sum, indicative } : sum;
}

/** True when `left` is strictly better than `right` on a side. */
export function isBetter(side: Side, left: number, right: number): boolean {
  return side === 'bid' ? left > right : left < right;
}

export interface GroupedBook {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly crossedBids: number;
  readonly crossedAsks: number;
  /** Largest number of levels kept per side. */
  readonly levelLimit: number;
}

/**
 * Levels in buckets of `width` raw price units (group x tick size): bids round down, asks up. Keeps the first 20 levels,
 * and more while they cross the other side (docs/internals/book-rules.md, "Grouped books").
 */
export function groupBook(bids: Iterable<Level>, asks: Iterable<Level>, width: number): GroupedBook {
  const bidBuckets = buckets('bid', bids, width);
  const askBuckets = buckets('ask', asks, width);
  const [bestBid] = bidBuckets.take(1);
  const [bestAsk] = askBuckets.take(1);
  const crossedBids = bestAsk ? bidBuckets.countWhile((level) => level.price >= bestAsk.price) : 0;
  const crossedAsks = bestBid ? askBuckets.countWhile((level) => level.price <= bestBid.price) : 0;
  const levelLimit = GROUPED_LEVELS + Math.max(crossedBids, crossedAsks);
  return { bids: bidBuckets.take(levelLimit), asks: askBuckets.take(levelLimit), crossedBids, crossedAsks, levelLimit };
}

// Lazy buckets: a grouped read costs its own depth, not the depth of the book.
function buckets(side: Side, levels: Iterable<Level>, width: number) {
  const source = levels[Symbol.iterator]();
  const done: Level[] = [];
  let open: Level | null = null;
  let ended = false;
  const fill = (count: number): void => {
    while (!ended && done.length < count) {
      const step = source.next();
      if (step.done) {
        ended = true;
        if (open) done.push(open);
        return;
      }
      const price = bucketPrice(side, step.value.price, width);
      if (open === null) open = { ...step.value, price };
      else if (open.price === price) open = joined(open, step.value, price);
      else {
        done.push(open);
        open = { ...step.value, price };
      }
    }
  };
  return {
    take(count: number): Level[] {
      fill(count);
      return done.slice(0, count);
    },
    countWhile(holds: (level: Level) => boolean): number {
      for (let count = 0; ; count++) {
        fill(count + 1);
        const level = done[count];
        if (level === undefined || !holds(level)) return count;
      }
    },
  };
}

/** Price of the bucket of a price; a multiple of the width keeps its price. */
function bucketPrice(side: Side, price: number, width: number): number {
  const over = price % width;
  if (over === 0) return price;
  return side === 'bid' ? price - over : price - over + width;
}
