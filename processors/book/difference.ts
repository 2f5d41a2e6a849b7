// Whether two published books are the same, level by level and order by order: what a reader holds against a snapshot, what
// changes have come to against the engine.

import bs58 from 'bs58';
import { EVIDENCE_MAX, type OrderEvidence, type ViewLevel, type ViewOrder } from '../../schemas/index.ts';
import type { Side } from './ladder.ts';

/** A book as readers have it: levels best first, orders in walk order. */
export interface PublishedSides {
  levels(side: Side): Iterable<ViewLevel>;
  walk(side: Side): Iterable<ViewOrder>;
}

/** Sizes in base 1e9, price 1e6; a level that one of the two lacks is `nothing` there. */
export interface LevelDifference {
  readonly side: Side;
  readonly price: number;
  readonly here: string;
  readonly there: string;
}

/** Up to EVIDENCE_MAX of each. With no order in either list, the same orders stand in another sequence. */
export interface PublishedDifference {
  readonly levels: readonly LevelDifference[];
  readonly onlyHere: readonly OrderEvidence[];
  readonly onlyThere: readonly OrderEvidence[];
}

const SIDES: readonly Side[] = ['bid', 'ask'];

/** How two books differ, null when they do not. */
export function publishedDifference(here: PublishedSides, there: PublishedSides): PublishedDifference | null {
  const sameLevels = SIDES.every((side) => alike(here.levels(side), there.levels(side), sameLevel));
  const sameOrders = SIDES.every((side) => alike(here.walk(side), there.walk(side), sameOrder));
  if (sameLevels && sameOrders) return null;
  const levels = SIDES.flatMap((side) => levelDifferences(side, here.levels(side), there.levels(side)));
  const [ours, theirs] = [ordersOf(here), ordersOf(there)];
  return {
    levels: levels.slice(0, EVIDENCE_MAX),
    onlyHere: missingIn(theirs, ours),
    onlyThere: missingIn(ours, theirs),
  };
}

/** Levels that differ between two lists of a side. */
export function levelDifferences(side: Side, here: Iterable<ViewLevel>, there: Iterable<ViewLevel>): LevelDifference[] {
  const texts = (levels: Iterable<ViewLevel>) =>
    new Map([...levels].map(({ price, dlob, vamm }) => [price, `orders ${dlob}, vamm ${vamm}`]));
  const [ours, theirs] = [texts(here), texts(there)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((price) => {
    const [one, other] = [ours.get(price) ?? 'nothing', theirs.get(price) ?? 'nothing'];
    return one === other ? [] : [{ side, price, here: one, there: other }];
  });
}

/** Whether two lists are the same, member by member. */
export function alike<T>(left: Iterable<T>, right: Iterable<T>, same: (left: T, right: T) => boolean): boolean {
  const others = right[Symbol.iterator]();
  for (const one of left) {
    const other = others.next();
    if (other.done || !same(one, other.value)) return false;
  }
  return others.next().done === true;
}

export function sameLevel(left: ViewLevel, right: ViewLevel): boolean {
  return left.price === right.price && left.dlob === right.dlob && left.vamm === right.vamm;
}

function sameOrder(left: ViewOrder, right: ViewOrder): boolean {
  return (
    left.orderId === right.orderId &&
    left.price === right.price &&
    left.size === right.size &&
    left.source === right.source &&
    (left.maker === right.maker || Buffer.compare(left.maker, right.maker) === 0)
  );
}

function ordersOf(book: PublishedSides): Map<string, OrderEvidence> {
  const orders = new Map<string, OrderEvidence>();
  for (const side of SIDES) {
    for (const { maker, orderId, source, price, size } of book.walk(side)) {
      const named = { maker: bs58.encode(maker), orderId, side, price: String(price), size: size.toString() };
      orders.set([source, ...Object.values(named)].join(' '), named);
    }
  }
  return orders;
}

/** Up to EVIDENCE_MAX orders that the one has and the other lacks, or has otherwise. */
export function missingIn(
  other: ReadonlyMap<string, OrderEvidence>,
  orders: ReadonlyMap<string, OrderEvidence>,
): OrderEvidence[] {
  return [...orders].flatMap(([key, order]) => (other.has(key) ? [] : [order])).slice(0, EVIDENCE_MAX);
}
