// The reader's replica of one published book: applies view diffs and snapshots, and serves every read of the APIs.
// Levels and orders are the objects of the messages, so a read after each change allocates next to nothing.

import type {
  BookViewDiff,
  BookViewHead,
  BookViewSnapshot,
  ViewLevel,
  ViewOrder,
  ViewOrderRef,
} from '../../schemas/index.ts';
import type { PublishedLists } from './difference.ts';
import { Ladder, type Side } from './ladder.ts';
import { type GroupedBook, groupBook } from './levels.ts';
import { BEST_MAKERS, bestMakers } from './makers.ts';
import { ARRIVAL, CLOB, LEVEL, LIST, OrderTable, PREVIOUS, PRICE, QUEUE, SIDE, USER } from './orders.ts';
import { type Quotes, quotesOf } from './quotes.ts';

/** Levels per side of an L2 answer, and its cap (docs/reference/order-book-rest.md). */
export const L2_DEPTH = 100;

/**
 * `applied`: the view advanced. `duplicate`: already applied, ignored. `gap`: a change is missing; the view keeps its state,
 * is `isStale`, and needs a snapshot.
 */
export type Applied = 'applied' | 'duplicate' | 'gap';

/** Where an order stands among those of its price. */
export interface QueuePlace {
  readonly side: Side;
  readonly order: ViewOrder;
  /** Sizes of the orders before it at its price. */
  readonly sizeAhead: bigint;
  readonly ordersAhead: number;
}

export class BookView {
  /** At least 1, see `tickSize`. */
  #tickSize = 1;
  /** Head of the newest message applied, null before the first. */
  head: BookViewHead | null = null;
  /** True between a gap and the next snapshot. */
  isStale = false;

  #table = new OrderTable();
  #orders: ViewOrder[] = [];
  #l3Bids = new Ladder(this.#table, 'bid');
  #l3Asks = new Ladder(this.#table, 'ask');
  #bidLevels = new LevelLadder('bid');
  #askLevels = new LevelLadder('ask');

  /** Order tick size in raw price units, for `grouped`; from the market's description. */
  get tickSize(): number {
    return this.#tickSize;
  }

  /** A market without a tick size has 0, and groups by 1. */
  set tickSize(size: number) {
    this.#tickSize = Math.max(1, size);
  }

  /** Applies the next message. A new epoch begins with its first change or with a snapshot. */
  apply(message: BookViewDiff | BookViewSnapshot): Applied {
    return 'gone' in message ? this.applyDiff(message) : this.applySnapshot(message);
  }

  applyDiff(diff: BookViewDiff): Applied {
    const { head } = this;
    const isFirst = diff.seq === 1 && (head === null || diff.epoch > head.epoch);
    if (!isFirst) {
      if (head !== null && (diff.epoch < head.epoch || (diff.epoch === head.epoch && diff.seq <= head.seq))) {
        return 'duplicate';
      }
      if (head === null || diff.epoch !== head.epoch || diff.seq !== head.seq + 1) {
        this.isStale = true;
        return 'gap';
      }
    } else if (head !== null) this.#clear();
    const { gone, bids, asks, bidOrders, askOrders } = diff;
    for (let i = 0; i < gone.length; i++) this.#removeOrder(gone[i] as ViewOrderRef);
    for (let i = 0; i < bids.length; i++) this.#bidLevels.set(bids[i] as ViewLevel);
    for (let i = 0; i < asks.length; i++) this.#askLevels.set(asks[i] as ViewLevel);
    for (let i = 0; i < bidOrders.length; i++) this.#setOrder(bidOrders[i] as ViewOrder, 0);
    for (let i = 0; i < askOrders.length; i++) this.#setOrder(askOrders[i] as ViewOrder, 1);
    this.head = diff;
    this.isStale = false;
    return 'applied';
  }

  applySnapshot(snapshot: BookViewSnapshot): Applied {
    const { head } = this;
    // An older snapshot cannot heal a later gap, and must not set a sound view back.
    if (head !== null && !isLater(snapshot, head)) return 'duplicate';
    this.#fill(snapshot);
    return 'applied';
  }

  /** Replaces the view by a snapshot that differs from it at that change, then applies the changes since. */
  correct(snapshot: BookViewSnapshot, since: readonly BookViewDiff[]): void {
    this.#fill(snapshot);
    for (const diff of since) this.applyDiff(diff);
    // Caches know a state by its head.
    if (this.head) this.head = { ...this.head };
  }

  #fill(snapshot: BookViewSnapshot): void {
    this.#clear();
    for (const level of snapshot.bids) this.#bidLevels.set(level);
    for (const level of snapshot.asks) this.#askLevels.set(level);
    for (const order of snapshot.bidOrders) this.#setOrder(order, 0);
    for (const order of snapshot.askOrders) this.#setOrder(order, 1);
    this.head = snapshot;
    this.isStale = false;
  }

  /** Visible resting orders. */
  get orderCount(): number {
    return this.#table.count;
  }

  /** Up to `depth` levels per side, best first. */
  l2(depth = L2_DEPTH): { readonly bids: readonly ViewLevel[]; readonly asks: readonly ViewLevel[] } {
    return { bids: this.#bidLevels.top(depth), asks: this.#askLevels.top(depth) };
  }

  /** Levels of a side, best first and lazily. */
  levels(side: Side): Generator<ViewLevel> {
    return (side === 'bid' ? this.#bidLevels : this.#askLevels).all();
  }

  /** Every resting order in walk order. */
  l3(): { readonly bids: readonly ViewOrder[]; readonly asks: readonly ViewOrder[] } {
    return { bids: this.#listed(this.#l3Bids), asks: this.#listed(this.#l3Asks) };
  }

  /** The whole current book. Copies references only: some 2 ms for 50,000 orders. */
  lists(): PublishedLists {
    const { bids, asks } = this.l2(Number.MAX_SAFE_INTEGER);
    const { bids: bidOrders, asks: askOrders } = this.l3();
    return { bids, asks, bidOrders, askOrders };
  }

  /** Orders of a side in walk order, lazily. */
  *walk(side: Side): Generator<ViewOrder> {
    const ladder = side === 'bid' ? this.#l3Bids : this.#l3Asks;
    for (const row of ladder.walk()) yield this.#orders[OrderTable.index(row)] as ViewOrder;
  }

  /** The place of an order in the queue of its price; null when it does not rest in the book. */
  placeOf({ maker, orderId, source }: ViewOrderRef): QueuePlace | null {
    const table = this.#table;
    const row = table.find(table.makers.find(maker), orderId, source === 'clob' ? CLOB : USER);
    if (row < 0) return null;
    const { ints } = table;
    let sizeAhead = 0n;
    let ordersAhead = 0;
    for (let ahead = ints[row + PREVIOUS] as number; ahead >= 0; ahead = ints[ahead + PREVIOUS] as number) {
      sizeAhead += (this.#orders[OrderTable.index(ahead)] as ViewOrder).size;
      ordersAhead += 1;
    }
    const order = this.#orders[OrderTable.index(row)] as ViewOrder;
    return { side: ints[row + SIDE] === 0 ? 'bid' : 'ask', order, sizeAhead, ordersAhead };
  }

  /** Levels in buckets of `group` ticks, cut like the grouped channels. */
  grouped(group: number): GroupedBook {
    return groupBook(this.#bidLevels.all(), this.#askLevels.all(), group * this.tickSize);
  }

  /** Distinct owners (user accounts) from the best order on, by the oracle in force. */
  bestMakers(side: Side, limit = BEST_MAKERS): readonly Uint8Array[] {
    const exchange = this.head?.oracle;
    const inForce = this.head?.mmOracle;
    const shift = exchange && inForce ? Number(inForce.price - exchange.price) : 0;
    return bestMakers(side, () => this.walk(side), limit, shift);
  }

  /** Best prices, mark and spreads; null when a side is empty (the served mark is the oracle then). */
  quotes(): Quotes | null {
    const bid = this.#bidLevels.best();
    const ask = this.#askLevels.best();
    const oracle = this.head?.mmOracle?.price ?? null;
    return quotesOf(bid === null ? null : BigInt(bid.price), ask === null ? null : BigInt(ask.price), oracle);
  }

  #listed(ladder: Ladder): ViewOrder[] {
    const orders: ViewOrder[] = [];
    ladder.visitOrders((row) => orders.push(this.#orders[OrderTable.index(row)] as ViewOrder));
    return orders;
  }

  #setOrder(order: ViewOrder, side: number): void {
    const table = this.#table;
    const source = order.source === 'clob' ? CLOB : USER;
    let row = table.find(table.makers.find(order.maker), order.orderId, source);
    if (row < 0) row = table.insert(order.maker, order.orderId, source);
    else if (this.#standsAt(row, order, side)) {
      this.#orders[OrderTable.index(row)] = order;
      return;
    } else this.#unlink(row);
    this.#orders[OrderTable.index(row)] = order;
    const { ints, floats } = table;
    const { rank } = order;
    const half = row >> 1;
    ints[row + SIDE] = side;
    ints[row + LIST] = rank[0] ?? 0;
    floats[half + PRICE] = order.price;
    floats[half + QUEUE] = rank[1] ?? 0;
    floats[half + ARRIVAL] = rank[2] ?? 0;
    const ladder = side === 0 ? this.#l3Bids : this.#l3Asks;
    ladder.link(row, ladder.open(order.price));
  }

  #standsAt(row: number, order: ViewOrder, side: number): boolean {
    const { ints, floats } = this.#table;
    const { rank } = order;
    const half = row >> 1;
    return (
      ints[row + SIDE] === side &&
      floats[half + PRICE] === order.price &&
      ints[row + LIST] === rank[0] &&
      floats[half + QUEUE] === rank[1] &&
      floats[half + ARRIVAL] === rank[2]
    );
  }

  #removeOrder(reference: ViewOrderRef): void {
    const table = this.#table;
    const source = reference.source === 'clob' ? CLOB : USER;
    const row = table.find(table.makers.find(reference.maker), reference.orderId, source);
    if (row < 0) return;
    this.#unlink(row);
    table.remove(row);
    table.release(row);
  }

  #unlink(row: number): void {
    const { ints } = this.#table;
    const ladder = ints[row + SIDE] === 0 ? this.#l3Bids : this.#l3Asks;
    const level = ints[row + LEVEL] as number;
    ladder.unlink(row);
    if (ladder.isBare(level)) ladder.close(level);
  }

  #clear(): void {
    this.#table = new OrderTable();
    this.#orders = [];
    this.#l3Bids = new Ladder(this.#table, 'bid');
    this.#l3Asks = new Ladder(this.#table, 'ask');
    this.#bidLevels = new LevelLadder('bid');
    this.#askLevels = new LevelLadder('ask');
  }
}

/** Whether a message is beyond a view's head. */
export function isLater(message: BookViewHead, head: BookViewHead): boolean {
  return message.epoch === head.epoch ? message.seq > head.seq : message.epoch > head.epoch;
}

/** Published levels of one side by price; a level without size is absent. */
class LevelLadder {
  readonly #ladder: Ladder;
  readonly #views: ViewLevel[] = [];

  constructor(side: Side) {
    this.#ladder = new Ladder(NO_ORDERS, side);
  }

  set(level: ViewLevel): void {
    if (level.dlob === 0n && level.vamm === 0n) {
      const at = this.#ladder.find(level.price);
      if (at >= 0) this.#ladder.close(at);
    } else this.#views[Ladder.index(this.#ladder.open(level.price))] = level;
  }

  top(depth: number): ViewLevel[] {
    const levels: ViewLevel[] = [];
    if (depth <= 0) return levels;
    this.#ladder.visit((at) => levels.push(this.#views[Ladder.index(at)] as ViewLevel) < depth);
    return levels;
  }

  best(): ViewLevel | null {
    return this.top(1)[0] ?? null;
  }

  *all(): Generator<ViewLevel> {
    for (const at of this.#ladder.levels()) yield this.#views[Ladder.index(at)] as ViewLevel;
  }
}

// A ladder used for its levels alone never reads an order.
const NO_ORDERS = new OrderTable();
