// Sums of a market by bucket, for buckets in which something happened: rows of whole numbers in buffers, in order. Kept in
// chunks of 32 buckets, because a chunk is the piece in which state is saved; chunks that were not used lately are packed.

import { packRows, rowCount, unpackRows } from './packing.ts';

const CHUNK_BITS = 5;
const CHUNK_BUCKETS = 1 << CHUNK_BITS;
/** Chunks behind the newest that stay unpacked: a day of minutes and some more. */
const OPEN_CHUNKS = 50;
const FIRST_ROWS = 4;
const NO_ROWS = new Float64Array(0);

/** Column of every row: the number of its bucket. */
export const BUCKET = 0;

export const CHANGED = 1;
/** The price at which the bucket closes is another one, or the bucket is new: later opens depend on it. */
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
  /** null: the chunk is gone. */
  readonly bytes: Uint8Array | null;
}

export class Series {
  /** Row that was found last: its buffer and where it begins there. Holds until the next call. */
  rows: Float64Array = NO_ROWS;
  at = 0;
  /** What changed since the last `clearMarks`: CHANGED or CLOSE_CHANGED by bucket. */
  readonly marks = new Map<number, number>();

  private readonly chunks = new Map<number, Chunk>();
  /** Chunk numbers, ascending. */
  private readonly order: number[] = [];
  private readonly gone: number[] = [];
  private readonly unsaved = new Set<Chunk>();
  /** Numbers of the chunks that may be unpacked. */
  private readonly opened = new Set<number>();
  private current: Chunk | null = null;

  /** Columns of a row, the bucket's number among them. */
  readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  /** Chunks to be saved. */
  get unsavedChunks(): number {
    return this.unsaved.size + this.gone.length;
  }

  find(bucket: number): boolean {
    const chunk = this.chunkOf(bucket >> CHUNK_BITS);
    if (!chunk) return false;
    const row = this.place(chunk, bucket);
    return this.select(chunk, row) && this.rows[this.at + BUCKET] === bucket;
  }

  /** Finds the newest row before a bucket. */
  findBefore(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.chunkOf(number);
    const row = chunk ? this.place(chunk, bucket) - 1 : -1;
    if (chunk && row >= 0) return this.select(chunk, row);
    const before = this.chunkOf(this.order[this.orderPlace(number) - 1]);
    return before !== undefined && this.select(before, before.count - 1);
  }

  /** Finds the oldest row after a bucket. */
  findAfter(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.chunkOf(number);
    const row = chunk ? this.place(chunk, bucket + 1) : 0;
    if (chunk && row < chunk.count) return this.select(chunk, row);
    const after = this.chunkOf(this.order[this.orderPlace(number + 1)]);
    return after !== undefined && this.select(after, 0);
  }

  findNewest(): boolean {
    const newest = this.chunkOf(this.order.at(-1));
    return newest !== undefined && this.select(newest, newest.count - 1);
  }

  /** Finds the row of a bucket, or makes one of zeros; true when it was made. The row is to be saved. */
  open(bucket: number): boolean {
    const number = bucket >> CHUNK_BITS;
    const chunk = this.chunkOf(number) ?? this.addChunk(number);
    this.change(chunk);
    const row = this.place(chunk, bucket);
    if (this.select(chunk, row) && this.rows[this.at + BUCKET] === bucket) return false;
    this.insert(chunk, row);
    this.rows[this.at + BUCKET] = bucket;
    return true;
  }

  /** Calls `visit` for the rows of the buckets `from` to `to`, both among them, oldest first. */
  forRange(from: number, to: number, visit: (rows: Float64Array, at: number) => void): void {
    for (let place = this.orderPlace(from >> CHUNK_BITS); place < this.order.length; place++) {
      const chunk = this.chunkOf(this.order[place]);
      if (!chunk || chunk.number > to >> CHUNK_BITS) return;
      const rows = this.rowsOf(chunk);
      for (let row = this.place(chunk, from); row < chunk.count; row++) {
        const at = row * this.width;
        if ((rows[at + BUCKET] ?? 0) > to) return;
        visit(rows, at);
      }
    }
  }

  mark(bucket: number, mark: number): void {
    this.marks.set(bucket, (this.marks.get(bucket) ?? 0) | mark);
  }

  /** Forgets whole chunks before a bucket; calls `visit` for each row that goes, oldest first. */
  prune(bucket: number, visit: (rows: Float64Array, at: number) => void): void {
    for (;;) {
      const chunk = this.chunkOf(this.order[0]);
      if (!chunk || (chunk.number + 1) << CHUNK_BITS > bucket) return;
      const rows = this.rowsOf(chunk);
      for (let row = 0; row < chunk.count; row++) visit(rows, row * this.width);
      this.order.shift();
      this.chunks.delete(chunk.number);
      this.unsaved.delete(chunk);
      this.gone.push(chunk.number);
      if (this.current === chunk) this.current = null;
    }
  }

  /** Chunks changed since the last call. Old ones are packed away. */
  takeChanges(): ChunkPiece[] {
    const pieces: ChunkPiece[] = this.gone.splice(0).map((chunk) => ({ chunk, bytes: null }));
    for (const chunk of this.unsaved) {
      chunk.changed = false;
      pieces.push({ chunk: chunk.number, bytes: packRows(this.rowsOf(chunk), chunk.count, this.width) });
    }
    this.unsaved.clear();
    this.packOld();
    return pieces;
  }

  /** Takes back a chunk given by `takeChanges`. */
  restore(number: number, bytes: Uint8Array): void {
    const chunk = this.addChunk(number);
    chunk.packed = new Uint8Array(bytes);
    chunk.count = rowCount(chunk.packed, this.width);
    chunk.rows = null;
  }

  /** Packs what lies far behind the newest chunk and is saved. */
  packOld(): void {
    const newest = this.order.at(-1) ?? 0;
    for (const number of this.openOld(newest - OPEN_CHUNKS)) {
      const chunk = this.chunks.get(number);
      if (!chunk || chunk.changed || chunk.rows === null) continue;
      chunk.packed ??= packRows(chunk.rows, chunk.count, this.width);
      chunk.rows = null;
      if (this.current === chunk) this.current = null;
    }
  }

  private openOld(before: number): number[] {
    const old = [...this.opened].filter((number) => number < before);
    for (const number of old) this.opened.delete(number);
    return old;
  }

  private chunkOf(number: number | undefined): Chunk | undefined {
    if (this.current?.number === number) return this.current ?? undefined;
    if (number === undefined) return undefined;
    const chunk = this.chunks.get(number);
    if (chunk) this.current = chunk;
    return chunk;
  }

  private addChunk(number: number): Chunk {
    const chunk: Chunk = {
      number,
      count: 0,
      rows: new Float64Array(FIRST_ROWS * this.width),
      packed: null,
      changed: false,
    };
    this.chunks.set(number, chunk);
    this.order.splice(this.orderPlace(number), 0, number);
    this.opened.add(number);
    return chunk;
  }

  private change(chunk: Chunk): void {
    if (chunk.changed) return;
    this.rowsOf(chunk);
    chunk.packed = null;
    chunk.changed = true;
    this.unsaved.add(chunk);
  }

  private rowsOf(chunk: Chunk): Float64Array {
    if (chunk.rows !== null) return chunk.rows;
    const rows = new Float64Array(CHUNK_BUCKETS * this.width);
    if (chunk.packed) unpackRows(chunk.packed, this.width, rows);
    chunk.rows = rows;
    this.opened.add(chunk.number);
    return rows;
  }

  private select(chunk: Chunk, row: number): boolean {
    this.rows = this.rowsOf(chunk);
    this.at = row * this.width;
    return row < chunk.count;
  }

  /** Row of a bucket in its chunk, or where it would stand. */
  private place(chunk: Chunk, bucket: number): number {
    const rows = this.rowsOf(chunk);
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

  private insert(chunk: Chunk, row: number): void {
    const { width } = this;
    let rows = this.rowsOf(chunk);
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

  /** Where a chunk number stands, or would stand, among them. */
  private orderPlace(number: number): number {
    const { order } = this;
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
