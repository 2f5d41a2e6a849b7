// All orders of one book as columns: found by (maker, order id, source), and linked into the walk by the ladder.
// Columns instead of objects, because fifty thousand long-lived objects per market would be the collector's work.

import { MakerTable } from './makers-table.ts';

const START = 256;

export const USER = 0;
export const CLOB = 1;

/** Which list an order stands in; lower comes first at equal price (reference 2.3). 0 is not visible. */
export const HIDDEN = 0;
export const FLOATING = 1;
export const BOOK = 2;
export const RESTING = 3;

export class OrderTable {
  readonly makers = new MakerTable();
  count = 0;
  capacity = START;

  maker = new Int32Array(START);
  orderId = new Float64Array(START);
  source = new Uint8Array(START);

  /** 0 bid, 1 ask. */
  side = new Uint8Array(START);
  price = new Float64Array(START);
  list = new Uint8Array(START);
  best = new Float64Array(START);
  queue = new Float64Array(START);
  arrival = new Float64Array(START);

  /** Level of the ladder, -1 when the order is not in the walk. */
  level = new Int32Array(START).fill(-1);
  previous = new Int32Array(START);
  next = new Int32Array(START);

  private chain = new Int32Array(START);
  private heads = new Int32Array(START * 2).fill(-1);
  private free: number[] = [];
  private used = 0;

  /** Row of an order, -1 when there is none. `source` is USER or CLOB. */
  find(maker: number, orderId: number, source: number): number {
    if (maker < 0) return -1;
    let at = this.heads[hash(maker, orderId) & (this.heads.length - 1)] as number;
    while (at >= 0) {
      if (this.orderId[at] === orderId && this.maker[at] === maker && this.source[at] === source) return at;
      at = this.chain[at] as number;
    }
    return -1;
  }

  /** A new row, not linked; the caller knows that the order is not there yet. */
  insert(key: Uint8Array, orderId: number, source: number): number {
    const at = this.free.pop() ?? this.used++;
    if (at >= this.capacity) this.grow();
    const maker = this.makers.take(key);
    this.maker[at] = maker;
    this.orderId[at] = orderId;
    this.source[at] = source;
    this.level[at] = -1;
    this.enter(at);
    this.count += 1;
    return at;
  }

  /** Takes an order out of the index. Its row (and maker) stay readable until `release`. */
  remove(at: number): void {
    const bucket = hash(this.maker[at] as number, this.orderId[at] as number) & (this.heads.length - 1);
    let before = -1;
    let here = this.heads[bucket] as number;
    while (here !== at) {
      before = here;
      here = this.chain[here] as number;
    }
    if (before < 0) this.heads[bucket] = this.chain[at] as number;
    else this.chain[before] = this.chain[at] as number;
    this.count -= 1;
  }

  release(at: number): void {
    this.makers.drop(this.maker[at] as number);
    this.free.push(at);
  }

  key(at: number): Uint8Array {
    return this.makers.key(this.maker[at] as number);
  }

  /** Rows of every order, in no order that means anything. */
  rows(): number[] {
    const rows: number[] = [];
    for (let bucket = 0; bucket < this.heads.length; bucket++) {
      for (let at = this.heads[bucket] as number; at >= 0; at = this.chain[at] as number) rows.push(at);
    }
    return rows;
  }

  private enter(at: number): void {
    const bucket = hash(this.maker[at] as number, this.orderId[at] as number) & (this.heads.length - 1);
    this.chain[at] = this.heads[bucket] as number;
    this.heads[bucket] = at;
  }

  private grow(): void {
    const rows = this.rows();
    const size = this.capacity * 2;
    this.capacity = size;
    this.maker = copyInto(new Int32Array(size), this.maker);
    this.orderId = copyInto(new Float64Array(size), this.orderId);
    this.source = copyInto(new Uint8Array(size), this.source);
    this.side = copyInto(new Uint8Array(size), this.side);
    this.price = copyInto(new Float64Array(size), this.price);
    this.list = copyInto(new Uint8Array(size), this.list);
    this.best = copyInto(new Float64Array(size), this.best);
    this.queue = copyInto(new Float64Array(size), this.queue);
    this.arrival = copyInto(new Float64Array(size), this.arrival);
    this.level = copyInto(new Int32Array(size), this.level);
    this.previous = copyInto(new Int32Array(size), this.previous);
    this.next = copyInto(new Int32Array(size), this.next);
    this.chain = copyInto(new Int32Array(size), this.chain);
    this.heads = new Int32Array(size * 2).fill(-1);
    for (const at of rows) this.enter(at);
  }
}

/** Copies a column into its larger successor. */
export function copyInto<C extends Int32Array | Float64Array | Uint8Array>(to: C, from: C): C {
  to.set(from);
  return to;
}

function hash(maker: number, orderId: number): number {
  const mixed = Math.imul(orderId ^ Math.imul(maker, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
