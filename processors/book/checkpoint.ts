// Saves and restores the whole state of an engine. The bytes are canonical: engines in the same state have the same bytes,
// so their hash proves a replay.

import { type Cause, type MarketRef, PUBKEY_BYTES } from '../../schemas/index.ts';
import { CAUSE_BYTES, readCause, writeCause } from './causes.ts';
import { BookEngine } from './engine.ts';
import type { EngineHead } from './engine-head.ts';
import { FrozenBook } from './frozen.ts';
import { NOBODY } from './ignored.ts';
import {
  ARRIVAL,
  AUCTION_END,
  AUCTION_START,
  COUNTED_HIGH,
  COUNTED_LOW,
  DURATION,
  FLAGS,
  GENERATION,
  MAKER,
  OrderTable,
  QUEUE,
  SIZE_HIGH,
  SIZE_LOW,
  SOURCE,
  TERM,
} from './orders.ts';
import { fitsNumber } from './size.ts';
import { finish, listed, STEP_ITEMS, type Steps, sortedInSteps } from './steps.ts';

/** Changes with the layout; a checkpoint of another version is not read. */
const VERSION = 1;
const HEADER_BYTES = 8;
const ORDER_BYTES = 72;
const FLAGS_SHIFT = 8;
const SOURCE_MASK = 0xff;
const SIZES = [SIZE_HIGH, SIZE_LOW, COUNTED_HIGH, COUNTED_LOW] as const;

class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

interface Envelope {
  readonly ref: MarketRef;
  readonly state: EngineHead;
  readonly slot: number;
  readonly nextArrival: number;
  readonly generation: number;
  readonly makers: number;
  readonly orders: number;
  /** Bytes of the orders' causes, which follow the orders; absent in checkpoints without any. */
  readonly causes?: number;
  /** Ignored makers as text; absent in checkpoints without any. */
  readonly ignored?: string;
}

/** State of an engine between two messages. */
export function saveEngine(engine: BookEngine): Uint8Array {
  return finish(saveInSteps(new FrozenBook(engine)));
}

/** As `saveEngine`, for a frozen engine. */
export function* saveInSteps(book: FrozenBook): Steps<Uint8Array> {
  const { table, generation } = book;
  const { ints, floats } = table;
  const int = (row: number, member: number) => ints[row + member] ?? 0;
  const float = (row: number, member: number) => floats[(row >> 1) + member] ?? 0;
  const rows = yield* sortedInSteps(yield* listed(table.eachRow()), (row) => float(row, ARRIVAL));
  const makers: Uint8Array[] = [];
  const numbers = new Map<number, number>();
  for (const row of rows) {
    if (numbers.has(int(row, MAKER))) continue;
    numbers.set(int(row, MAKER), makers.length);
    makers.push(table.key(row));
    if (makers.length % STEP_ITEMS === 0) yield;
  }
  const causes = Array.from(rows, (row) => table.causes.get(OrderTable.index(row)));
  const causeBytes = causes.every((cause) => cause === null) ? 0 : causes.length * CAUSE_BYTES;
  yield;
  const envelope: Envelope = {
    ref: book.ref,
    state: book.state,
    slot: book.slot,
    nextArrival: book.nextArrival,
    generation,
    makers: makers.length,
    orders: rows.length,
    ...(causeBytes > 0 ? { causes: causeBytes } : {}),
    ignored: book.ignored.text,
  };
  const text = Buffer.from(JSON.stringify(pack(envelope)), 'utf8');
  const ordersEnd = HEADER_BYTES + text.length + makers.length * PUBKEY_BYTES + rows.length * ORDER_BYTES;
  const bytes = new Uint8Array(ordersEnd + causeBytes);
  const writer = new Cursor(bytes);
  writer.u32(VERSION);
  writer.u32(text.length);
  writer.bytes(text);
  for (const key of makers) writer.bytes(key);
  for (const [at, row] of rows.entries()) {
    if (at % STEP_ITEMS === STEP_ITEMS - 1) yield;
    const hasAuction = int(row, DURATION) !== 0;
    writer.u32(numbers.get(int(row, MAKER)) ?? 0);
    writer.u32(table.orderId(row));
    writer.u32(int(row, SOURCE) | (int(row, FLAGS) << FLAGS_SHIFT));
    writer.u32(int(row, DURATION));
    writer.f64(float(row, TERM));
    writer.f64(hasAuction ? float(row, AUCTION_START) : 0);
    writer.f64(hasAuction ? float(row, AUCTION_END) : 0);
    writer.f64(float(row, QUEUE));
    // The sign says whether the order is in the newest bracket.
    writer.f64(float(row, ARRIVAL) * (int(row, GENERATION) === generation ? 1 : -1));
    for (const member of SIZES) writer.u32(int(row, member) >>> 0);
  }
  if (causeBytes > 0) yield* saveCauses(causes, bytes.subarray(ordersEnd));
  return bytes;
}

function* saveCauses(causes: readonly (Cause | null)[], target: Uint8Array): Steps<void> {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  for (const [at, cause] of causes.entries()) {
    if (at % STEP_ITEMS === STEP_ITEMS - 1) yield;
    writeCause(view, at * CAUSE_BYTES, cause);
  }
}

/**
 * Inverse of `saveEngine`. With other ignored makers the visible book differs: the next message begins an epoch above the
 * saved one and `epochAfter`, with the whole book. Throws CheckpointError for another version or length.
 */
export function restoreEngine(bytes: Uint8Array, ignored = NOBODY, epochAfter = 0): BookEngine {
  return finish(restoreInSteps(bytes, ignored, epochAfter));
}

/** As `restoreEngine`. */
export function* restoreInSteps(bytes: Uint8Array, ignored = NOBODY, epochAfter = 0): Steps<BookEngine> {
  if (bytes.length < HEADER_BYTES) throw new CheckpointError('checkpoint is truncated');
  const reader = new Cursor(bytes);
  const version = reader.readU32();
  if (version !== VERSION) throw new CheckpointError(`checkpoint version ${version}, expected ${VERSION}`);
  const textLength = reader.readU32();
  if (bytes.length < HEADER_BYTES + textLength) throw new CheckpointError('checkpoint is truncated');
  const envelope = unpack(JSON.parse(Buffer.from(reader.readBytes(textLength)).toString('utf8'))) as Envelope;
  const ordersEnd = HEADER_BYTES + textLength + envelope.makers * PUBKEY_BYTES + envelope.orders * ORDER_BYTES;
  const expected = ordersEnd + (envelope.causes ?? 0);
  if (bytes.length !== expected) throw new CheckpointError(`checkpoint of ${bytes.length} bytes, expected ${expected}`);
  const engine = new BookEngine(envelope.ref, 0, ignored);
  const { orders } = engine;
  const { market, oracle } = envelope.state;
  orders.slot = envelope.slot;
  orders.generation = envelope.generation;
  orders.oracle = oracle && fitsNumber(oracle.price) ? Number(oracle.price) : Number.NaN;
  orders.hasBookAccount = market !== null && market.clobMarket !== null;
  const makers = Array.from({ length: envelope.makers }, () => reader.readBytes(PUBKEY_BYTES));
  const causes = envelope.causes ? new DataView(bytes.buffer, bytes.byteOffset + ordersEnd, envelope.causes) : null;
  for (let i = 0; i < envelope.orders; i++) {
    const row = restoreOrder(engine, makers, reader);
    if (causes) orders.table.causes.set(OrderTable.index(row), readCause(causes, i * CAUSE_BYTES));
    if (i % STEP_ITEMS === STEP_ITEMS - 1) yield;
  }
  orders.nextArrival = envelope.nextArrival;
  const { state } = envelope;
  const isSame = (envelope.ignored ?? '') === ignored.text;
  const epoch = -Math.max(Math.abs(state.epoch), epochAfter);
  engine.resume(isSame ? state : { ...state, epoch, seq: 0, snapshotDue: true });
  return engine;
}

function restoreOrder({ orders }: BookEngine, makers: readonly Uint8Array[], reader: Cursor): number {
  const { table } = orders;
  const maker = makers[reader.readU32()];
  if (maker === undefined) throw new CheckpointError('checkpoint names a maker that it does not contain');
  const orderId = reader.readU32();
  const kind = reader.readU32();
  const durationSlots = reader.readU32();
  const [term, start, end] = [reader.readF64(), reader.readF64(), reader.readF64()];
  const [queue, arrival] = [reader.readF64(), reader.readF64()];
  const row = orders.insert(maker, orderId, kind & SOURCE_MASK);
  const { ints, floats } = table;
  const half = row >> 1;
  floats[half + ARRIVAL] = Math.abs(arrival);
  ints[row + GENERATION] = arrival > 0 ? orders.generation : orders.generation - 1;
  floats[half + AUCTION_START] = start;
  floats[half + AUCTION_END] = end;
  orders.restoreTerms(row, { flags: kind >>> FLAGS_SHIFT, term, durationSlots, queue });
  orders.place(row, reader.readU32(), reader.readU32(), reader.readU32(), reader.readU32());
  return row;
}

class Cursor {
  readonly #view: DataView;
  readonly #target: Uint8Array;
  #at = 0;

  constructor(target: Uint8Array) {
    this.#target = target;
    this.#view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  }

  u32(value: number): void {
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  f64(value: number): void {
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  bytes(value: Uint8Array): void {
    this.#target.set(value, this.#at);
    this.#at += value.length;
  }

  readU32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  readF64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  readBytes(length: number): Uint8Array {
    this.#at += length;
    return this.#target.subarray(this.#at - length, this.#at);
  }
}

// JSON has no bigint and no bytes: both become objects with one reserved member.
function pack(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(pack);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, pack(member)]));
}

function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== 'object') return value;
  if ('$int' in value) return BigInt(String(value.$int));
  if ('$bytes' in value) return new Uint8Array(Buffer.from(String(value.$bytes), 'base64'));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unpack(member)]));
}
