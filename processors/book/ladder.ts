// One side of a book: price levels in order, best first, and in each level its orders in queue order.
// Levels stand in sorted blocks, so that opening or closing one moves at most a block, however many levels there are.

import { copyInto, type OrderTable } from './orders.ts';

const BLOCK_LEVELS = 64;
const MERGE_BELOW_LEVELS = 16;
const START = 128;

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

  capacity = START;
  price = new Float64Array(START);
  /** First and last order of a level, -1 when it has none. */
  head = new Int32Array(START);
  tail = new Int32Array(START);

  private blocks: Block[] = [];
  private firsts: number[] = [];
  private free: number[] = [];
  private used = 0;
  // Where the last seek ended: results of `seek` without an allocation.
  private block = 0;
  private at = 0;

  constructor(orders: OrderTable, side: Side) {
    this.orders = orders;
    this.sign = side === 'bid' ? -1 : 1;
  }

  /** Level at a price, -1 when there is none. */
  find(price: number): number {
    return this.seek(price * this.sign) ? ((this.blocks[this.block] as Block).levels[this.at] as number) : -1;
  }

  /** Level at a price, opened when there is none. */
  open(price: number): number {
    const key = price * this.sign;
    if (this.seek(key)) return (this.blocks[this.block] as Block).levels[this.at] as number;
    const level = this.free.pop() ?? this.used++;
    if (level >= this.capacity) this.grow();
    this.price[level] = price;
    this.head[level] = -1;
    this.tail[level] = -1;
    this.insert(key, level);
    return level;
  }

  /** Removes a level that has no order. */
  close(level: number): void {
    if (!this.seek((this.price[level] as number) * this.sign)) return;
    const block = this.blocks[this.block] as Block;
    block.keys.copyWithin(this.at, this.at + 1, block.count);
    block.levels.copyWithin(this.at, this.at + 1, block.count);
    block.count -= 1;
    this.free.push(level);
    if (block.count === 0) {
      this.blocks.splice(this.block, 1);
      this.firsts.splice(this.block, 1);
      return;
    }
    if (this.at === 0) this.firsts[this.block] = block.keys[0] as number;
    if (block.count < MERGE_BELOW_LEVELS) this.merge(this.block);
  }

  /** Puts an order into its place of a level: by list, then best sort value, then queue, then arrival. */
  link(order: number, level: number): void {
    const { previous, next } = this.orders;
    this.orders.level[order] = level;
    let after = this.tail[level] as number;
    if (after >= 0 && this.before(order, after)) {
      const head = this.head[level] as number;
      if (this.before(order, head)) after = -1;
      else
        do after = previous[after] as number;
        while (this.before(order, after));
    }
    const following = after < 0 ? (this.head[level] as number) : (next[after] as number);
    previous[order] = after;
    next[order] = following;
    if (after < 0) this.head[level] = order;
    else next[after] = order;
    if (following < 0) this.tail[level] = order;
    else previous[following] = order;
  }

  unlink(order: number): void {
    const { previous, next, level } = this.orders;
    const at = level[order] as number;
    const before = previous[order] as number;
    const after = next[order] as number;
    if (before < 0) this.head[at] = after;
    else next[before] = after;
    if (after < 0) this.tail[at] = before;
    else previous[after] = before;
    level[order] = -1;
  }

  /** Levels, best first. */
  *levels(): Generator<number> {
    for (const block of this.blocks) {
      for (let at = 0; at < block.count; at++) yield block.levels[at] as number;
    }
  }

  /** Levels, best first, until the visitor returns false. Without a generator's cost, for reads after each change. */
  visit(visitor: (level: number) => boolean): void {
    for (const block of this.blocks) {
      for (let at = 0; at < block.count; at++) if (!visitor(block.levels[at] as number)) return;
    }
  }

  /** Orders in walk order. */
  *walk(): Generator<number> {
    for (const level of this.levels()) {
      for (let at = this.head[level] as number; at >= 0; at = this.orders.next[at] as number) yield at;
    }
  }

  private before(left: number, right: number): boolean {
    const { list, best, queue, arrival } = this.orders;
    if (list[left] !== list[right]) return (list[left] as number) < (list[right] as number);
    if (best[left] !== best[right]) return (best[left] as number) < (best[right] as number);
    if (queue[left] !== queue[right]) return (queue[left] as number) < (queue[right] as number);
    return (arrival[left] as number) < (arrival[right] as number);
  }

  // Finds the place of a key: true when it is there. Sets block and at (where it is, or would be inserted).
  private seek(key: number): boolean {
    const { firsts } = this;
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((firsts[middle] as number) <= key) low = middle + 1;
      else high = middle;
    }
    if (low === 0) {
      this.block = 0;
      this.at = 0;
      return false;
    }
    this.block = low - 1;
    const { keys, count } = this.blocks[low - 1] as Block;
    low = 0;
    high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((keys[middle] as number) < key) low = middle + 1;
      else high = middle;
    }
    this.at = low;
    return low < count && keys[low] === key;
  }

  private insert(key: number, level: number): void {
    let block = this.blocks[this.block];
    if (block === undefined) {
      block = newBlock();
      this.blocks.push(block);
      this.firsts.push(key);
    } else if (block.count === BLOCK_LEVELS) {
      this.split(this.block);
      this.seek(key);
      block = this.blocks[this.block] as Block;
    }
    const { at } = this;
    block.keys.copyWithin(at + 1, at, block.count);
    block.levels.copyWithin(at + 1, at, block.count);
    block.keys[at] = key;
    block.levels[at] = level;
    block.count += 1;
    if (at === 0) this.firsts[this.block] = key;
  }

  private split(index: number): void {
    const block = this.blocks[index] as Block;
    const half = BLOCK_LEVELS / 2;
    const right = newBlock();
    right.keys.set(block.keys.subarray(half));
    right.levels.set(block.levels.subarray(half));
    right.count = BLOCK_LEVELS - half;
    block.count = half;
    this.blocks.splice(index + 1, 0, right);
    this.firsts.splice(index + 1, 0, right.keys[0] as number);
  }

  // A thin block joins its right neighbour's levels when both leave room to grow.
  private merge(index: number): void {
    const block = this.blocks[index] as Block;
    const right = this.blocks[index + 1];
    if (right === undefined || block.count + right.count > BLOCK_LEVELS / 2) return;
    block.keys.set(right.keys.subarray(0, right.count), block.count);
    block.levels.set(right.levels.subarray(0, right.count), block.count);
    block.count += right.count;
    this.blocks.splice(index + 1, 1);
    this.firsts.splice(index + 1, 1);
  }

  private grow(): void {
    const size = this.capacity * 2;
    this.capacity = size;
    this.price = copyInto(new Float64Array(size), this.price);
    this.head = copyInto(new Int32Array(size), this.head);
    this.tail = copyInto(new Int32Array(size), this.tail);
  }
}

function newBlock(): Block {
  return { count: 0, keys: new Float64Array(BLOCK_LEVELS), levels: new Int32Array(BLOCK_LEVELS) };
}
