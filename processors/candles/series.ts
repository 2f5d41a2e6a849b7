// Rows of whole numbers by bucket, in order; a bucket without events has no row. A chunk of 32 buckets is the piece in
// which state is saved; chunks without recent use are packed.

import { packRows, rowCount, unpackRows } from './packing.ts';

const CHUNK_BITS = 5;
const CHUNK_BUCKETS = 1 << CHUNK_BITS;
/** Newest chunks that stay unpacked: a little more than a day of minutes. */
const OPEN_CHUNKS = 50;
const FIRST_ROWS = 4;
const NO_ROWS = new Float64Array(0);

/** Column of every row: the number of its bucket. */
export const BUCKET = 0;

export const CHANGED = 1;
/** The bucket is new or its close changed, and later opens depend on it. */
export const CLOSE_CHANGED = 2;

interface Chunk {
  readonly number: number;
  count: number;
  /** Null while packed. */
  rows: Float64Array | null;
  packed: Uint8Array | null;
  /** Not saved yet. */
  changed: boolean;
}

export interface ChunkPiece {
  readonly chunk: number;
  /** null deletes the chunk. */
  readonly bytes: Uint8Array | null;
}

export class Series {
  /** Buffer of the row found last, and its start there. Valid until the next call. */
  rows: Float64Array = NO_ROWS;
  at = 0;
  /** Changes since the last `clearMarks`: CHANGED or CLOSE_CHANGED by bucket. */
  readonly marks = new Map<number, number>();

  readonly #chunks = new Map<number, Chunk>();
  /** Chunk numbers, ascending. */
  readonly #order: number[] = [];
  readonly #gone: number[] = [];
  readonly #unsaved = new Set<Chunk>();
  /** Numbers of the chunks that may be unpacked. */
  readonly #opened = new Set<number>();
  #current: Chunk | null = null;

  /** Columns of a row, with the bucket number. */
  readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  /** Chunks to be saved. */
  get unsavedChunks(): number {
    return this.#unsaved.size + this.#gone.length;
  }

  find(bucket: number): boolean {
    const chunk = this.#chunkOf(bucket >> CHUNK_BITS);
    if (!chunk) return false;
    const row = this.#place(chunk, bucket);
    return this.#select(chunk, row) && this.rows[this.at + BUCKET] === bucket;
  }

  /** Finds the newest row before a bucket. */
  findBefore(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.#chunkOf(number);
    const row = chunk ? this.#place(chunk, bucket) - 1 : -1;
    if (chunk && row >= 0) return this.#select(chunk, row);
    const before = this.#chunkOf(this.#order[this.#orderPlace(number) - 1]);
    return before !== undefined && this.#select(before, before.count - 1);
  }

  /** Finds the oldest row after a bucket. */
  findAfter(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.#chunkOf(number);
    const row = chunk ? this.#place(chunk, bucket + 1) : 0;
    if (chunk && row < chunk.count) return this.#select(chunk, row);
    const after = this.#chunkOf(this.#order[this.#orderPlace(number + 1)]);
    return after !== undefined && this.#select(after, 0);
  }

  findNewest(): boolean {
    const newest = this.#chunkOf(this.#order.at(-1));
    return newest !== undefined && this.#select(newest, newest.count - 1);
  }

  /** Finds the row of a bucket or adds one of zeros (then true), and marks it as unsaved. */
  open(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.#chunkOf(number) ?? this.#addChunk(number);
    this.#change(chunk);
    const row = this.#place(chunk, bucket);
    if (this.#select(chunk, row) && this.rows[this.at + BUCKET] === bucket) return false;
    this.#insert(chunk, row);
    this.rows[this.at + BUCKET] = bucket;
    return true;
  }

  /** Calls `visit` for the rows of buckets `from` to `to` inclusive, oldest first. */
  forRange(from: number, to: number, visit: (rows: Float64Array, at: number) => void): void {
    for (let place = this.#orderPlace(from >> CHUNK_BITS); place < this.#order.length; place++) {
      const chunk = this.#chunkOf(this.#order[place]);
      if (!chunk || chunk.number > to >> CHUNK_BITS) return;
      const rows = this.#rowsOf(chunk);
      for (let row = this.#place(chunk, from); row < chunk.count; row++) {
        const at = row * this.width;
        if ((rows[at + BUCKET] ?? 0) > to) return;
        visit(rows, at);
      }
    }
  }

  /** Whether the row of a bucket has these values; null: whether there is none. Column 0 does not count. */
  isRow(bucket: number, row: Float64Array | null): boolean {
    if (!this.find(bucket)) return row === null;
    if (row === null) return false;
    return row.every((value, column) => column === BUCKET || value === this.rows[this.at + column]);
  }

  /** Replaces the row of a bucket; null removes it. */
  replace(bucket: number, row: Float64Array | null): void {
    if (row === null) this.#remove(bucket);
    else {
      this.open(bucket);
      this.rows.set(row.subarray(BUCKET + 1), this.at + BUCKET + 1);
    }
    this.mark(bucket, CHANGED | CLOSE_CHANGED);
  }

  /** Removes the rows of buckets `from` to `to` inclusive. */
  removeRange(from: number, to: number): void {
    const buckets: number[] = [];
    this.forRange(from, to, (rows, at) => buckets.push(rows[at + BUCKET] ?? 0));
    for (const bucket of buckets) this.replace(bucket, null);
  }

  mark(bucket: number, mark: number): void {
    this.marks.set(bucket, (this.marks.get(bucket) ?? 0) | mark);
  }

  /** Deletes whole chunks before a bucket; calls `visit` for each deleted row, oldest first. */
  prune(bucket: number, visit: (rows: Float64Array, at: number) => void): void {
    for (;;) {
      const chunk = this.#chunkOf(this.#order[0]);
      if (!chunk || (chunk.number + 1) << CHUNK_BITS > bucket) return;
      const rows = this.#rowsOf(chunk);
      for (let row = 0; row < chunk.count; row++) visit(rows, row * this.width);
      this.#drop(chunk);
    }
  }

  #remove(bucket: number): void {
    if (!this.find(bucket)) return;
    const chunk = this.#chunkOf(bucket >> CHUNK_BITS);
    if (!chunk) return;
    this.#change(chunk);
    this.#rowsOf(chunk).copyWithin(this.at, this.at + this.width, chunk.count * this.width);
    chunk.count--;
    if (chunk.count === 0) this.#drop(chunk);
  }

  #drop(chunk: Chunk): void {
    this.#order.splice(this.#orderPlace(chunk.number), 1);
    this.#chunks.delete(chunk.number);
    this.#unsaved.delete(chunk);
    this.#gone.push(chunk.number);
    if (this.#current === chunk) this.#current = null;
  }

  /** Chunks changed since the last call. Packs old ones. */
  takeChanges(): ChunkPiece[] {
    const pieces: ChunkPiece[] = this.#gone.splice(0).map((chunk) => ({ chunk, bytes: null }));
    for (const chunk of this.#unsaved) {
      chunk.changed = false;
      pieces.push({ chunk: chunk.number, bytes: packRows(this.#rowsOf(chunk), chunk.count, this.width) });
    }
    this.#unsaved.clear();
    this.packOld();
    return pieces;
  }

  /** Restores a chunk of `takeChanges`. */
  restore(number: number, bytes: Uint8Array): void {
    const chunk = this.#addChunk(number);
    chunk.packed = new Uint8Array(bytes);
    chunk.count = rowCount(chunk.packed, this.width);
    chunk.rows = null;
  }

  /** Packs saved chunks far behind the newest one. */
  packOld(): void {
    const newest = this.#order.at(-1) ?? 0;
    for (const number of this.#openOld(newest - OPEN_CHUNKS)) {
      const chunk = this.#chunks.get(number);
      if (!chunk || chunk.changed || chunk.rows === null) continue;
      chunk.packed ??= packRows(chunk.rows, chunk.count, this.width);
      chunk.rows = null;
      if (this.#current === chunk) this.#current = null;
    }
  }

  #openOld(before: number): number[] {
    const old = [...this.#opened].filter((number) => number < before);
    for (const number of old) this.#opened.delete(number);
    return old;
  }

  #chunkOf(number: number | undefined): Chunk | undefined {
    if (this.#current?.number === number) return this.#current ?? undefined;
    if (number === undefined) return undefined;
    const chunk = this.#chunks.get(number);
    if (chunk) this.#current = chunk;
    return chunk;
  }

  #addChunk(number: number): Chunk {
    const chunk: Chunk = {
      number,
      count: 0,
      rows: new Float64Array(FIRST_ROWS * this.width),
      packed: null,
      changed: false,
    };
    this.#chunks.set(number, chunk);
    this.#order.splice(this.#orderPlace(number), 0, number);
    this.#opened.add(number);
    return chunk;
  }

  #change(chunk: Chunk): void {
    if (chunk.changed) return;
    this.#rowsOf(chunk);
    chunk.packed = null;
    chunk.changed = true;
    this.#unsaved.add(chunk);
  }

  #rowsOf(chunk: Chunk): Float64Array {
    if (chunk.rows !== null) return chunk.rows;
    const rows = new Float64Array(CHUNK_BUCKETS * this.width);
    if (chunk.packed) unpackRows(chunk.packed, this.width, rows);
    chunk.rows = rows;
    this.#opened.add(chunk.number);
    return rows;
  }

  #select(chunk: Chunk, row: number): boolean {
    this.rows = this.#rowsOf(chunk);
    this.at = row * this.width;
    return row < chunk.count;
  }

  /** Row index of a bucket in its chunk, or the index at which to insert it. */
  #place(chunk: Chunk, bucket: number): number {
    const rows = this.#rowsOf(chunk);
    const { width } = this;
    let low = 0;
    let high = chunk.count;
    const last = high - 1;
    // Nearly always the last one.
    if (last >= 0 && (rows[last * width + BUCKET] ?? 0) < bucket) return high;
    if (last >= 0 && rows[last * width + BUCKET] === bucket) return last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle * width + BUCKET] ?? 0) < bucket) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(chunk: Chunk, row: number): void {
    const { width } = this;
    let rows = this.#rowsOf(chunk);
    if ((chunk.count + 1) * width > rows.length) {
      const larger = new Float64Array(Math.min(rows.length * 2, CHUNK_BUCKETS * width));
      larger.set(rows);
      rows = chunk.rows = larger;
    }
    rows.copyWithin((row + 1) * width, row * width, chunk.count * width);
    rows.fill(0, row * width, (row + 1) * width);
    chunk.count++;
    this.rows = rows;
    this.at = row * width;
  }

  /** Index of a chunk number in `#order`, or the index at which to insert it. */
  #orderPlace(number: number): number {
    const order = this.#order;
    let low = 0;
    let high = order.length;
    if (high > 0 && (order[high - 1] ?? 0) < number) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[middle] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
