// Some members of some kinds of events, for reducers that follow every event and need little of each: other kinds are
// passed over by their envelope, and members that are not asked for are stepped over instead of decoded.

import type { AvroRecord, AvroSchema } from './event-schemas.ts';
import { parseSchema } from './parse-schema.ts';
import { decodeBody, openRecord, SchemaError, writerOf } from './wire.ts';
import type { Tap, WireType } from './wire-types.ts';

export interface Projected {
  readonly name: string;
  /**
   * The members asked for, head members (`slot`, `event_index`, ...) among them, as `decodeEvent` gives them; but 64-bit
   * integers that a number holds exactly may come as a number.
   */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads the members asked for; null for a kind that was not. Throws SchemaError for bytes that are no record. */
export type EventProjection = (bytes: Uint8Array) => Projected | null;

/** Members wanted of each kind. Throws a RangeError for a kind or a member without a schema. */
export function eventProjection(wanted: Readonly<Record<string, readonly string[]>>): EventProjection {
  const kinds = new Map(Object.entries(wanted).map(([name, members]) => [name, stepsOf(name, members)]));
  return (bytes) => {
    const opened = openRecord(bytes);
    const { writer, resolver } = opened.reader;
    const { name } = writer;
    const steps = kinds.get(name);
    if (steps === undefined) return null;
    // A past version is rare: it is read whole.
    if (resolver !== null) return { name, data: decodeBody(writer.type, opened).value as Projected['data'] };
    return { name, data: walk(name, steps, { buf: opened.buffer, pos: opened.position }) };
  };
}

interface Step {
  readonly name: string;
  readonly nullable: boolean;
  readonly shape: Shape;
  /** Null: stepped over. */
  readonly read: ((tap: Tap) => unknown) | null;
}

/** Bytes of a fixed type, or how the bytes say themselves where they end. */
type Shape = number | 'integer' | 'counted';

function walk(name: string, steps: readonly Step[], tap: Tap): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  const { buf } = tap;
  for (const { nullable, shape, read, name: member } of steps) {
    if (nullable && buf[tap.pos++] === 0) {
      if (read !== null) data[member] = null;
    } else if (read !== null) data[member] = read(tap);
    else if (shape === 'integer') while ((buf[tap.pos++] ?? 0) >= 0x80);
    else {
      const length = shape === 'counted' ? readLength(tap) : shape;
      tap.pos += length;
    }
  }
  if (tap.pos > buf.length) throw new SchemaError('truncated', `${name} of ${buf.length} bytes`);
  return data;
}

/** What is behind the last member wanted is not looked at. */
function stepsOf(name: string, members: readonly string[]): readonly Step[] {
  const writer = writerOf(name);
  if (writer?.kind !== 'event') throw new RangeError(`no event ${name}`);
  const { fields } = JSON.parse(writer.text) as AvroRecord;
  const unknown = members.find((member) => !fields.some((field) => field.name === member));
  if (unknown !== undefined) throw new RangeError(`${name} has no member ${unknown}`);
  const named = new Map<string, AvroSchema>();
  const last = fields.findLastIndex((field) => members.includes(field.name));
  return fields.slice(0, last + 1).map((field): Step => {
    const nullable = Array.isArray(field.type);
    const type = resolved(nullable ? (field.type as readonly AvroSchema[])[1] : field.type, named);
    const isWanted = members.includes(field.name);
    return { name: field.name, nullable, shape: isWanted ? 0 : shapeOf(type), read: isWanted ? readerOf(type) : null };
  });
}

type Plain = Readonly<Record<string, unknown>>;

function resolved(type: AvroSchema | undefined, named: Map<string, AvroSchema>): Plain {
  const found = typeof type === 'string' ? (named.get(type) ?? { type }) : type;
  const plain = found as Plain;
  if (typeof plain.name === 'string') named.set(plain.name, plain);
  return plain;
}

function shapeOf({ type, size }: Plain): Shape {
  if (type === 'fixed' && typeof size === 'number') return size;
  if (type === 'long' || type === 'int') return 'integer';
  if (type === 'string' || type === 'bytes') return 'counted';
  if (type === 'boolean') return 1;
  throw new RangeError(`members of type ${String(type)} cannot be stepped over`);
}

function readerOf(type: Plain): (tap: Tap) => unknown {
  const whole = parseSchema(type) as unknown as WireType;
  if (type.logicalType === 'i64') return (tap) => shortInteger(tap) ?? whole._read(tap);
  // A u64 above 2^63 is negative on the wire.
  if (type.logicalType === 'u64') return (tap) => shortInteger(tap, 0) ?? whole._read(tap);
  return (tap) => whole._read(tap);
}

const SHORT_BYTES = 7;

/** A varint of up to seven bytes (49 bits) as a number; null, with nothing read, for a longer or a smaller one. */
function shortInteger(tap: Tap, least = Number.NEGATIVE_INFINITY): number | null {
  const { buf, pos } = tap;
  let value = 0;
  let unit = 1;
  for (let index = 0; index < SHORT_BYTES; index++) {
    const byte = buf[pos + index] ?? 0;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) {
      const signed = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      if (signed < least) return null;
      tap.pos = pos + index + 1;
      return signed;
    }
    unit *= 128;
  }
  return null;
}

function readLength(tap: Tap): number {
  const length = shortInteger(tap, 0);
  if (length === null) throw new SchemaError('corrupt', 'a length below zero or beyond all bytes');
  return length;
}
