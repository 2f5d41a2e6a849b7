// Encodes and compares messages with long lists in small steps, so that a whole book does not block the event loop.
// Generators yield between steps; the caller must not change the value meanwhile.

import avro from 'avsc';
import type { BookViewHead } from '../messages/index.ts';
import { decodeMessage, encodeMessage, type MessageName, type MessageTypes } from './codec.ts';
import { decodeBody, openRecord, SchemaError, writerOf } from './wire.ts';

/** Items of one step: some tens of microseconds. */
const STEP_ITEMS = 64;
/** Messages with at most this many items go in one step: encoding by pieces costs more than twice as much. */
const ITEMS_AT_ONCE = 256;
const START_BYTES = 4096;
const COUNT = avro.Type.forSchema('long');

/** Same bytes as `encodeMessage`. */
export function* encodeInSteps<N extends MessageName>(name: N, value: MessageTypes[N]): Generator<void, Buffer> {
  if (itemsOf(value) <= ITEMS_AT_ONCE) return encodeMessage(name, value);
  const piece = new Piece();
  let record = Buffer.from(writerOf(name)?.prefix ?? []);
  let end = record.length;
  try {
    for (const [type, member] of piecesOf(name, value)) {
      if (type === null) {
        yield;
        continue;
      }
      const bytes = piece.of(type, member);
      if (end + bytes.length > record.length) record = widened(record, (end + bytes.length) * 2);
      record.set(bytes, end);
      end += bytes.length;
    }
  } catch {
    // encodeMessage throws again, with the name of the field.
    return encodeMessage(name, value);
  }
  return record.subarray(0, end);
}

/** True when `encodeMessage` gives these bytes; false for a record of another schema version. */
export function* isEncodedInSteps<N extends MessageName>(
  bytes: Uint8Array,
  name: N,
  value: MessageTypes[N],
): Generator<void, boolean> {
  const prefix = writerOf(name)?.prefix ?? Buffer.alloc(0);
  if (Buffer.compare(bytes.subarray(0, prefix.length), prefix) !== 0) return false;
  const piece = new Piece();
  let at = prefix.length;
  for (const [type, member] of piecesOf(name, value)) {
    if (type === null) {
      yield;
      continue;
    }
    const wanted = piece.of(type, member);
    if (wanted.compare(bytes, at, Math.min(at + wanted.length, bytes.length)) !== 0) return false;
    at += wanted.length;
  }
  return at === bytes.length;
}

/** The fields of a book diff or snapshot before its first list. Throws SchemaError for other bytes. */
export function bookViewHead(bytes: Uint8Array): BookViewHead {
  const opened = openRecord(bytes);
  const { writer, resolver } = opened.reader;
  const { type, name } = writer;
  if (name !== 'BookViewSnapshot' && name !== 'BookViewDiff')
    throw new SchemaError('not-a-record', `${name} has no book`);
  if (resolver !== null || !(type instanceof avro.types.RecordType)) return decodeMessage(bytes).value as BookViewHead;
  const head: Record<string, unknown> = {};
  let { at } = opened;
  for (const field of type.fields) {
    if (field.type instanceof avro.types.ArrayType) break;
    const { value, offset } = decodeBody(field.type, { ...opened, at });
    head[field.name] = value;
    at = offset;
  }
  return head as unknown as BookViewHead;
}

/** The pieces of a record in wire order: members, and the items of lists. `null` marks the end of a step. */
function* piecesOf(name: MessageName, value: object): Generator<readonly [avro.Type, unknown] | readonly [null]> {
  const type = writerOf(name)?.type;
  if (!(type instanceof avro.types.RecordType)) throw new RangeError(`no message ${name}`);
  for (const field of type.fields) {
    const member = (value as Record<string, unknown>)[field.name];
    if (!(field.type instanceof avro.types.ArrayType) || !Array.isArray(member)) {
      yield [field.type, member];
      continue;
    }
    const { itemsType } = field.type;
    if (member.length > 0) yield [COUNT, member.length];
    for (let at = 0; at < member.length; at += 1) {
      yield [itemsType, member[at]];
      if (at % STEP_ITEMS === STEP_ITEMS - 1) yield [null];
    }
    yield [COUNT, 0];
  }
}

function itemsOf(value: object): number {
  return Object.values(value).reduce((sum, member) => sum + (Array.isArray(member) ? member.length : 0), 0);
}

/** Encodes one piece at a time into a shared buffer. */
class Piece {
  #buffer = Buffer.allocUnsafe(START_BYTES);

  of(type: avro.Type, value: unknown): Buffer {
    let end = type.encode(value, this.#buffer, 0);
    while (end < 0) {
      this.#buffer = Buffer.allocUnsafe(this.#buffer.length - end);
      end = type.encode(value, this.#buffer, 0);
    }
    return this.#buffer.subarray(0, end);
  }
}

function widened(bytes: Buffer, size: number): Buffer<ArrayBuffer> {
  const wider = Buffer.allocUnsafe(size);
  wider.set(bytes);
  return wider;
}
