// One side of a book: price levels, best first, and the orders of each level in queue order.
// Levels are in sorted blocks: opening or closing one moves at most a block, for any number of levels.

import { ARRIVAL, LEVEL, LIST, NEXT, type OrderTable, PREVIOUS, QUEUE } from './orders.ts';

const BLOCK_LEVELS = 64;
const MERGE_BELOW_LEVELS = 16;
const START_LEVELS = 128;
/** A level fills one line of the processor's cache. */
const ROW_INTS = 16;
const INT_BYTES = 4;

/** 64-bit members of a level, as offsets from half of it. The owner may use all but the price. */
const LEVEL_PRICE = 0;
export const LEVEL_OWN = 1;
const LEVEL_OWN_COUNT = 4;
/** 32-bit members, as offsets from the level: first and last order, -1 without one, and one for the owner. */
export const HEAD = 10;
const TAIL = 11;
export const LEVEL_MARK = 12;
/** Sort key of the last order: a new order nearly always follows it, and then its row need not be read. */
const TAIL_LIST = 13;
const TAIL_QUEUE = 7;

interface Block {
  count: number;
  readonly keys: Float64Array;
  readonly levels: Int32Array;
}

export type Side = 'bid' | 'ask';

export class Ladder {
  readonly orders: OrderTable;
  /** Sort key = price x sign, ascending: best first. */
  readonly sign: number;
  /** Levels as rows of one buffer, like orders; a level is its offset in `ints`. */
  ints: Int32Array;
  floats: Float64Array;

  #blocks: Block[] = [];
  #firsts: number[] = [];
  #free: number[] = [];
  #used = 0;
  // Results of `seek`, without an allocation.
  #block = 0;
  #at = 0;

  constructor(orders: OrderTable, side: Side) {
    this.orders = orders;
    this.sign = side === 'bid' ? -1 : 1;
    const buffer = new ArrayBuffer(START_LEVELS * ROW_INTS * INT_BYTES);
    this.ints = new Int32Array(buffer);
    this.floats = new Float64Array(buffer);
  }

  /** Small whole number of a level, for lists beside the ladder. */
  static index(level: number): number {
    return level / ROW_INTS;
  }

  price(level: number): number {
    return this.floats[(level >> 1) + LEVEL_PRICE] as number;
  }

  /** Level at a price, -1 without one. */
  find(price: number): number {
    return this.#seek(price * this.sign) ? ((this.#blocks[this.#block] as Block).levels[this.#at] as number) : -1;
  }

  /** Level at a price; opens one with zero members when there is none. */
  open(price: number): number {
    const key = price * this.sign;
    if (this.#seek(key)) return (this.#blocks[this.#block] as Block).levels[this.#at] as number;
    let level = this.#free.pop();
    if (level === undefined) {
      level = this.#used;
      if (level >= this.ints.length) this.#grow();
      this.#used += ROW_INTS;
    }
    const half = level >> 1;
    this.floats[half + LEVEL_PRICE] = price;
    for (let own = 0; own < LEVEL_OWN_COUNT; own++) this.floats[half + LEVEL_OWN + own] = 0;
    this.ints[level + LEVEL_MARK] = 0;
    this.ints[level + HEAD] = -1;
    this.ints[level + TAIL] = -1;
    this.#insert(key, level);
    return level;
  }

  /** True when the level has no order. */
  isBare(level: number): boolean {
    return (this.ints[level + HEAD] as number) < 0;
  }

  /** Removes a level without orders. */
  close(level: number): void {
    if (!this.#seek(this.price(level) * this.sign)) return;
    const block = this.#blocks[this.#block] as Block;
    removeAt(block, this.#at);
    this.#free.push(level);
    if (block.count === 0) {
      this.#blocks.splice(this.#block, 1);
      this.#firsts.splice(this.#block, 1);
      return;
    }
    if (this.#at === 0) this.#firsts[this.#block] = block.keys[0] as number;
    if (block.count < MERGE_BELOW_LEVELS) this.#merge(this.#block);
  }

  /** Inserts an order into a level: by list, then queue (slot or book id), then arrival. */
  link(order: number, level: number): void {
    const { ints } = this.orders;
    ints[order + LEVEL] = level;
    const head = this.ints[level + HEAD] as number;
    let after = this.ints[level + TAIL] as number;
    if (after >= 0 && !this.#isBehindTail(order, level) && this.#before(order, after)) {
      if (this.#before(order, head)) after = -1;
      else
        do after = ints[after + PREVIOUS] as number;
        while (this.#before(order, after));
    }
    const following = after < 0 ? head : (ints[after + NEXT] as number);
    ints[order + PREVIOUS] = after;
    ints[order + NEXT] = following;
    if (after < 0) this.ints[level + HEAD] = order;
    else ints[after + NEXT] = order;
    if (following < 0) this.#setTail(level, order);
    else ints[following + PREVIOUS] = order;
  }

  unlink(order: number): void {
    const { ints } = this.orders;
    const level = ints[order + LEVEL] as number;
    const before = ints[order + PREVIOUS] as number;
    const after = ints[order + NEXT] as number;
    if (before < 0) this.ints[level + HEAD] = after;
    else ints[before + NEXT] = after;
    if (after < 0) this.#setTail(level, before);
    else ints[after + PREVIOUS] = before;
    ints[order + LEVEL] = -1;
  }

  /** Levels, best first. */
  *levels(): Generator<number> {
    for (const block of this.#blocks) {
      for (let at = 0; at < block.count; at++) yield block.levels[at] as number;
    }
  }

  /** Levels, best first, until the visitor returns false. Cheaper than a generator, for reads after each change. */
  visit(visitor: (level: number) => boolean): void {
    for (const block of this.#blocks) {
      for (let at = 0; at < block.count; at++) if (!visitor(block.levels[at] as number)) return;
    }
  }

  /** All orders in walk order. */
  visitOrders(visitor: (order: number) => void): void {
    this.visit((level) => {
      for (let order = this.ints[level + HEAD] as number; order >= 0; ) {
        visitor(order);
        order = this.orders.ints[order + NEXT] as number;
      }
      return true;
    });
  }

  /** Orders in walk order. */
  *walk(): Generator<number> {
    for (const level of this.levels()) {
      for (let order = this.ints[level + HEAD] as number; order >= 0; ) {
        yield order;
        order = this.orders.ints[order + NEXT] as number;
      }
    }
  }

  /** A read-only copy of the side, over a frozen order table. */
  freeze(orders: OrderTable): Ladder {
    const frozen = new Ladder(orders, this.sign < 0 ? 'bid' : 'ask');
    frozen.ints = this.ints.slice();
    frozen.floats = new Float64Array(frozen.ints.buffer);
    frozen.#blocks = this.#blocks.map(({ count, keys, levels }) => ({
      count,
      keys: keys.slice(),
      levels: levels.slice(),
    }));
    return frozen;
  }

  /** True when list and queue alone order it behind the last one. */
  #isBehindTail(order: number, level: number): boolean {
    const { ints, floats } = this.orders;
    return (
      ints[order + LIST] === this.ints[level + TAIL_LIST] &&
      (floats[(order >> 1) + QUEUE] as number) > (this.floats[(level >> 1) + TAIL_QUEUE] as number)
    );
  }

  #setTail(level: number, order: number): void {
    this.ints[level + TAIL] = order;
    if (order < 0) return;
    this.ints[level + TAIL_LIST] = this.orders.ints[order + LIST] as number;
    this.floats[(level >> 1) + TAIL_QUEUE] = this.orders.floats[(order >> 1) + QUEUE] as number;
  }

  #before(left: number, right: number): boolean {
    const { ints, floats } = this.orders;
    const lists = (ints[left + LIST] as number) - (ints[right + LIST] as number);
    if (lists !== 0) return lists < 0;
    const [l, r] = [left >> 1, right >> 1];
    const queues = (floats[l + QUEUE] as number) - (floats[r + QUEUE] as number);
    if (queues !== 0) return queues < 0;
    return (floats[l + ARRIVAL] as number) < (floats[r + ARRIVAL] as number);
  }

  // Finds a key: true when it exists. Sets block and at (its index, or the index at which to insert it).
  #seek(key: number): boolean {
    const firsts = this.#firsts;
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((firsts[middle] as number) <= key) low = middle + 1;
      else high = middle;
    }
    if (low === 0) {
      this.#block = 0;
      this.#at = 0;
      return false;
    }
    this.#block = low - 1;
    const { keys, count } = this.#blocks[low - 1] as Block;
    low = 0;
    high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((keys[middle] as number) < key) low = middle + 1;
      else high = middle;
    }
    this.#at = low;
    return low < count && keys[low] === key;
  }

  #insert(key: number, level: number): void {
    let block = this.#blocks[this.#block];
    if (block === undefined) {
      block = newBlock();
      this.#blocks.push(block);
      this.#firsts.push(key);
    } else if (block.count === BLOCK_LEVELS) {
      this.#split(this.#block);
      this.#seek(key);
      block = this.#blocks[this.#block] as Block;
    }
    const at = this.#at;
    insertAt(block, at, key, level);
    if (at === 0) this.#firsts[this.#block] = key;
  }

  #split(index: number): void {
    const block = this.#blocks[index] as Block;
    const half = BLOCK_LEVELS / 2;
    const right = newBlock();
    right.keys.set(block.keys.subarray(half));
    right.levels.set(block.levels.subarray(half));
    right.count = BLOCK_LEVELS - half;
    block.count = half;
    this.#blocks.splice(index + 1, 0, right);
    this.#firsts.splice(index + 1, 0, right.keys[0] as number);
  }

  // Merges a sparse block with its right neighbour when both leave room to grow.
  #merge(index: number): void {
    const block = this.#blocks[index] as Block;
    const right = this.#blocks[index + 1];
    if (right === undefined || block.count + right.count > BLOCK_LEVELS / 2) return;
    block.keys.set(right.keys.subarray(0, right.count), block.count);
    block.levels.set(right.levels.subarray(0, right.count), block.count);
    block.count += right.count;
    this.#blocks.splice(index + 1, 1);
    this.#firsts.splice(index + 1, 1);
  }

  #grow(): void {
    const ints = new Int32Array(this.ints.length * 2);
    ints.set(this.ints);
    this.ints = ints;
    this.floats = new Float64Array(ints.buffer);
  }
}

function newBlock(): Block {
  return { count: 0, keys: new Float64Array(BLOCK_LEVELS), levels: new Int32Array(BLOCK_LEVELS) };
}

// Blocks are short: a plain loop is faster than a call of copyWithin.
function insertAt(block: Block, at: number, key: number, level: number): void {
  const { keys, levels } = block;
  for (let i = block.count; i > at; i--) {
    keys[i] = keys[i - 1] as number;
    levels[i] = levels[i - 1] as number;
  }
  keys[at] = key;
  levels[at] = level;
  block.count += 1;
}

function removeAt(block: Block, at: number): void {
  const { keys, levels } = block;
  const last = block.count - 1;
  for (let i = at; i < last; i++) {
    keys[i] = keys[i + 1] as number;
    levels[i] = levels[i + 1] as number;
  }
  block.count = last;
}
