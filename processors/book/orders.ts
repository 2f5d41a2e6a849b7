// All orders of one book, found by (maker, order id, source); the ladder links them into the walk. An order is a row of numbers
// in one shared buffer. A change touches two cache lines instead of thirty, and the garbage collector does not see long-lived
// orders. A row is its offset in `ints`.

import { CauseColumn } from './causes.ts';
import { MakerTable } from './makers-table.ts';

export const USER = 0;
export const CLOB = 1;

/** List of an order; the lower list comes first at equal price (docs/internals/book-rules.md, "Walk order"). 0 is hidden. */
export const HIDDEN = 0;
export const FLOATING = 1;
export const BOOK = 2;
export const RESTING = 3;

/** 32-bit members of a row, as offsets from the row. Members that a change reads are together, rare ones last. */
export const MAKER = 0;
const ORDER_ID = 1;
const CHAIN = 2;
export const SOURCE = 3;
/** Level of the ladder, -1 when the order is not in the walk. */
export const LEVEL = 4;
export const PREVIOUS = 5;
export const NEXT = 6;
export const FLAGS = 7;
export const LIST = 12;
/** 0 bid, 1 ask: the side of its ladder. */
export const SIDE = 13;
export const SIZE_HIGH = 14;
export const SIZE_LOW = 15;
export const COUNTED_HIGH = 20;
export const COUNTED_LOW = 21;
export const MARKS = 22;
export const STAMP = 23;
export const DURATION = 24;
export const GENERATION = 25;
export const WATCH = 26;
export const FLOAT = 27;

/** 64-bit members, as offsets from half the row in `floats`. */
/** Slot of placement; the book's own order id for an order of the market-level book. */
export const QUEUE = 4;
export const ARRIVAL = 5;
/** Linked price, 1e6. */
export const PRICE = 8;
/** Limit price, or the oracle offset of a floating order, 1e6. */
export const TERM = 9;
export const AUCTION_START = 14;
export const AUCTION_END = 15;

const ROW_INTS = 32;
const START_ROWS = 256;
const INT_BYTES = 4;

export class OrderTable {
  readonly makers: MakerTable;
  /** By `OrderTable.index`. */
  causes = new CauseColumn();
  count = 0;
  ints: Int32Array;
  floats: Float64Array;
  #heads = new Int32Array(START_ROWS * 2).fill(-1);
  #free: number[] = [];
  #used = 0;

  constructor(makers = new MakerTable()) {
    this.makers = makers;
    const buffer = new ArrayBuffer(START_ROWS * ROW_INTS * INT_BYTES);
    this.ints = new Int32Array(buffer);
    this.floats = new Float64Array(buffer);
  }

  /** Row of an order, -1 without one. `source` is USER or CLOB. */
  find(maker: number, orderId: number, source: number): number {
    if (maker < 0) return -1;
    const { ints } = this;
    const heads = this.#heads;
    const id = orderId | 0;
    let row = heads[hash(maker, id) & (heads.length - 1)] as number;
    while (row >= 0) {
      if (ints[row + ORDER_ID] === id && ints[row + MAKER] === maker && ints[row + SOURCE] === source) return row;
      row = ints[row + CHAIN] as number;
    }
    return -1;
  }

  /** A new row, not linked; the order must not exist yet. */
  insert(key: Uint8Array, orderId: number, source: number): number {
    let row = this.#free.pop();
    if (row === undefined) {
      row = this.#used;
      if (row >= this.ints.length) this.#grow();
      this.#used += ROW_INTS;
    }
    const { ints } = this;
    ints[row + MAKER] = this.makers.take(key);
    ints[row + ORDER_ID] = orderId;
    ints[row + SOURCE] = source;
    ints[row + LEVEL] = -1;
    if (!this.causes.isEmpty) this.causes.set(OrderTable.index(row), null);
    this.#enter(row);
    this.count += 1;
    return row;
  }

  /** Takes an order out of the index. Its row (and maker) stay readable until `release`. */
  remove(row: number): void {
    const { ints } = this;
    const heads = this.#heads;
    const bucket = this.#bucket(row);
    let before = -1;
    let here = heads[bucket] as number;
    while (here !== row) {
      before = here;
      here = ints[here + CHAIN] as number;
    }
    if (before < 0) heads[bucket] = ints[row + CHAIN] as number;
    else ints[before + CHAIN] = ints[row + CHAIN] as number;
    this.count -= 1;
  }

  release(row: number): void {
    this.makers.drop(this.ints[row + MAKER] as number);
    this.#free.push(row);
  }

  /** Index bucket of an order; `maker` is a number of `makers`. */
  bucketOf(maker: number, orderId: number): number {
    return hash(maker, orderId | 0) & (this.#heads.length - 1);
  }

  /**
   * Loads the first row of each bucket and its neighbours, so that many changes wait for memory once. Overwrites `buckets`.
   * The returned checksum only keeps V8 from removing the loads.
   */
  prefetch(buckets: Int32Array, count: number): number {
    const { ints } = this;
    const heads = this.#heads;
    for (let i = 0; i < count; i++) buckets[i] = heads[buckets[i] as number] as number;
    let mixed = 0;
    for (let i = 0; i < count; i++) {
      const row = buckets[i] as number;
      if (row >= 0) mixed ^= (ints[row + LEVEL] as number) ^ (ints[row + MARKS] as number);
    }
    for (let i = 0; i < count; i++) {
      const row = buckets[i] as number;
      if (row < 0) continue;
      const chained = ints[row + CHAIN] as number;
      if (chained >= 0) mixed ^= ints[chained] as number;
      if ((ints[row + LEVEL] as number) < 0) continue;
      const before = ints[row + PREVIOUS] as number;
      const after = ints[row + NEXT] as number;
      if (before >= 0) mixed ^= ints[before] as number;
      if (after >= 0) mixed ^= ints[after] as number;
    }
    return mixed;
  }

  key(row: number): Uint8Array {
    return this.makers.key(this.ints[row + MAKER] as number);
  }

  orderId(row: number): number {
    return (this.ints[row + ORDER_ID] as number) >>> 0;
  }

  /** Rows of all orders, in arbitrary order. */
  rows(): number[] {
    const rows: number[] = [];
    for (const head of this.#heads) {
      for (let row = head; row >= 0; row = this.ints[row + CHAIN] as number) rows.push(row);
    }
    return rows;
  }

  /** As `rows`, without a list; the table must not change meanwhile. */
  *eachRow(): Generator<number> {
    const { ints } = this;
    const heads = this.#heads;
    for (let bucket = 0; bucket < heads.length; bucket++) {
      for (let row = heads[bucket] as number; row >= 0; row = ints[row + CHAIN] as number) yield row;
    }
  }

  /** A read-only copy of the table with the same rows. Copies memory, without work per order. */
  freeze(): OrderTable {
    const frozen = new OrderTable(this.makers.freeze());
    frozen.count = this.count;
    frozen.causes = this.causes.freeze();
    frozen.ints = this.ints.slice(0, this.#used);
    frozen.floats = new Float64Array(frozen.ints.buffer);
    frozen.#heads = this.#heads.slice();
    return frozen;
  }

  /** Small whole number of a row, for lists beside the table. */
  static index(row: number): number {
    return row / ROW_INTS;
  }

  #bucket(row: number): number {
    return hash(this.ints[row + MAKER] as number, this.ints[row + ORDER_ID] as number) & (this.#heads.length - 1);
  }

  #enter(row: number): void {
    const bucket = this.#bucket(row);
    this.ints[row + CHAIN] = this.#heads[bucket] as number;
    this.#heads[bucket] = row;
  }

  #grow(): void {
    const rows = this.rows();
    const ints = new Int32Array(this.ints.length * 2);
    ints.set(this.ints);
    this.ints = ints;
    this.floats = new Float64Array(ints.buffer);
    this.#heads = new Int32Array(this.#heads.length * 2).fill(-1);
    for (const row of rows) this.#enter(row);
  }
}

function hash(maker: number, orderId: number): number {
  const mixed = Math.imul(orderId ^ Math.imul(maker, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
