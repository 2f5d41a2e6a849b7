// Compares two published books, level by level and order by order: a reader's book with a snapshot, or published changes
// with the engine.

import bs58 from 'bs58';
import { EVIDENCE_MAX, keyText, type OrderEvidence, type ViewLevel, type ViewOrder } from '../../schemas/index.ts';
import type { Side } from './ladder.ts';
import { STEP_ITEMS, type Steps } from './steps.ts';

/** A published book: levels best first, orders in walk order. */
export interface PublishedSides {
  levels(side: Side): Iterable<ViewLevel>;
  walk(side: Side): Iterable<ViewOrder>;
}

export interface PublishedLists {
  readonly bids: readonly ViewLevel[];
  readonly asks: readonly ViewLevel[];
  readonly bidOrders: readonly ViewOrder[];
  readonly askOrders: readonly ViewOrder[];
}

/** A book from lists of levels and orders. */
export function sidesOf({ bids, asks, bidOrders, askOrders }: PublishedLists): PublishedSides {
  return {
    levels: (side) => (side === 'bid' ? bids : asks),
    walk: (side) => (side === 'bid' ? bidOrders : askOrders),
  };
}

/** Sizes in base 1e9, price 1e6; `nothing` where one of the books lacks the level. */
export interface LevelDifference {
  readonly side: Side;
  readonly price: number;
  readonly here: string;
  readonly there: string;
}

/** Up to EVIDENCE_MAX of each. Without an order in either list, the same orders are in another sequence. */
export interface PublishedDifference {
  readonly levels: readonly LevelDifference[];
  readonly onlyHere: readonly OrderEvidence[];
  readonly onlyThere: readonly OrderEvidence[];
}

const SIDES: readonly Side[] = ['bid', 'ask'];

/** The difference between two books, null when they are equal. Neither may change before the end. */
export function* publishedDifference(here: PublishedSides, there: PublishedSides): Steps<PublishedDifference | null> {
  let isSame = true;
  for (const side of SIDES) {
    isSame &&= yield* alike(here.levels(side), there.levels(side), sameLevel);
    isSame &&= yield* alike(here.walk(side), there.walk(side), sameOrder);
  }
  if (isSame) return null;
  const levels: LevelDifference[] = [];
  for (const side of SIDES) levels.push(...(yield* levelDifferences(side, here.levels(side), there.levels(side))));
  const ours = yield* ordersOf(here);
  const theirs = yield* ordersOf(there);
  return {
    levels: levels.slice(0, EVIDENCE_MAX),
    onlyHere: (yield* missingIn(theirs, ours)).map(evidenceOf),
    onlyThere: (yield* missingIn(ours, theirs)).map(evidenceOf),
  };
}

/** Levels that differ between two lists, up to EVIDENCE_MAX. */
function* levelDifferences(
  side: Side,
  here: Iterable<ViewLevel>,
  there: Iterable<ViewLevel>,
): Steps<LevelDifference[]> {
  const ours = yield* byPrice(here);
  const theirs = yield* byPrice(there);
  const found: LevelDifference[] = [];
  let count = 0;
  for (const price of new Set([...ours.keys(), ...theirs.keys()])) {
    if (++count % STEP_ITEMS === 0) yield;
    const [one, other] = [ours.get(price) ?? null, theirs.get(price) ?? null];
    if (one === null || other === null || !sameLevel(one, other)) found.push(levelDifference(side, one, other));
    if (found.length === EVIDENCE_MAX) break;
  }
  return found;
}

function* byPrice(levels: Iterable<ViewLevel>): Steps<Map<number, ViewLevel>> {
  const prices = new Map<number, ViewLevel>();
  for (const level of levels) {
    prices.set(level.price, level);
    if (prices.size % STEP_ITEMS === 0) yield;
  }
  return prices;
}

/** The difference between two states of a level, at most one of them absent. */
export function levelDifference(side: Side, here: ViewLevel | null, there: ViewLevel | null): LevelDifference {
  const text = (level: ViewLevel | null) => (level ? `orders ${level.dlob}, vamm ${level.vamm}` : 'nothing');
  return { side, price: (here ?? there)?.price ?? 0, here: text(here), there: text(there) };
}

/** Whether two lists are equal, member by member. */
function* alike<T>(left: Iterable<T>, right: Iterable<T>, same: (left: T, right: T) => boolean): Steps<boolean> {
  const others = right[Symbol.iterator]();
  let count = 0;
  for (const one of left) {
    if (++count % STEP_ITEMS === 0) yield;
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

type SidedOrder = ViewOrder & { readonly side: Side };

function* ordersOf(book: PublishedSides): Steps<Map<string, SidedOrder>> {
  const orders = new Map<string, SidedOrder>();
  for (const side of SIDES) {
    for (const order of book.walk(side)) {
      const { maker, orderId, source, price, size } = order;
      orders.set(`${keyText(maker)} ${orderId} ${source} ${side} ${price} ${size}`, { ...order, side });
      if (orders.size % STEP_ITEMS === 0) yield;
    }
  }
  return orders;
}

function evidenceOf({ maker, orderId, side, price, size }: SidedOrder): OrderEvidence {
  return { maker: bs58.encode(maker), orderId, side, price: String(price), size: size.toString() };
}

/** Up to EVIDENCE_MAX orders of one book that the other lacks or has with other members. */
export function* missingIn<T>(other: ReadonlyMap<string, unknown>, orders: ReadonlyMap<string, T>): Steps<T[]> {
  const missing: T[] = [];
  let count = 0;
  for (const [key, order] of orders) {
    if (++count % STEP_ITEMS === 0) yield;
    if (!other.has(key)) missing.push(order);
    if (missing.length === EVIDENCE_MAX) break;
  }
  return missing;
}
