// Our Avro logical types on top of avsc: exact 64- and 128-bit integers as bigint, checked small integers, raw bytes.
// They use avsc's tap directly; its generic conversions cost several times as much. The tap contract (`buf`, `pos`, writing
// past the end must not throw) is internal to avsc, so package.json pins its version and wire-types.test.ts checks it.

import avro from 'avsc';

export interface Tap {
  buf: Buffer;
  pos: number;
}

type Schema = ConstructorParameters<typeof avro.types.LogicalType>[0];

// They carry nothing from one call to the next. As members of each type they cost 6 % of a record's encoding and decoding.
const scratchBytes = new ArrayBuffer(16);
const scratchInt = new Int32Array(scratchBytes);
const scratchI64 = new BigInt64Array(scratchBytes);
const scratchU64 = new BigUint64Array(scratchBytes);

function invalid(kind: string, value: unknown): RangeError {
  return new RangeError(`not a ${kind}: ${typeof value === 'bigint' ? `${value}n` : String(value)}`);
}

/** Zig-zag varint of the 64 bits in scratch word 0. */
function writeScratch(tap: Tap): void {
  const low = scratchInt[0] as number;
  const high = scratchInt[1] as number;
  const sign = high >> 31;
  let lowBits = ((low << 1) ^ sign) >>> 0;
  let highBits = (((high << 1) | (low >>> 31)) ^ sign) >>> 0;
  const { buf } = tap;
  let { pos } = tap;
  while (highBits !== 0 || lowBits > 0x7f) {
    buf[pos++] = (lowBits & 0x7f) | 0x80;
    lowBits = ((lowBits >>> 7) | (highBits << 25)) >>> 0;
    highBits >>>= 7;
  }
  buf[pos++] = lowBits;
  tap.pos = pos;
}

const LONG_BYTES_MAX = 10;

/** Reads a zig-zag varint into scratch word 0. */
function readScratch(tap: Tap): void {
  const { buf } = tap;
  let { pos } = tap;
  let lowBits = 0;
  let highBits = 0;
  for (let index = 0; index < LONG_BYTES_MAX; index++) {
    const byte = buf[pos++] ?? 0;
    const shift = index * 7;
    const bits = byte & 0x7f;
    if (shift < 28) lowBits |= bits << shift;
    else if (shift === 28) {
      lowBits |= bits << 28;
      highBits |= bits >>> 4;
    } else highBits |= bits << (shift - 32);
    if (byte < 0x80) break;
  }
  tap.pos = pos;
  const sign = -(lowBits & 1);
  scratchInt[0] = ((lowBits >>> 1) | (highBits << 31)) ^ sign;
  scratchInt[1] = (highBits >>> 1) ^ sign;
}

/** Base of all logical types. avsc calls these methods only to copy, compare or parse JSON defaults. */
export abstract class WireType extends avro.types.LogicalType {
  abstract _read(tap: Tap): unknown;
  abstract _write(tap: Tap, value: unknown): void;

  protected override _fromValue(value: unknown): unknown {
    return value;
  }

  protected override _toValue(value: unknown): unknown {
    return value;
  }

  /** Reads values of another schema version: the same type, or a narrower integer. */
  protected override _resolve(writer: avro.Type): ((value: unknown) => unknown) | undefined {
    return writer instanceof WireType && this.accepts(writer) ? (value) => value : undefined;
  }

  protected accepts(writer: WireType): boolean {
    return writer.constructor === this.constructor;
  }

  _check(value: unknown): boolean {
    try {
      this._write({ buf: Buffer.alloc(0), pos: 0 }, value);
      return true;
    } catch {
      return false;
    }
  }
}

class I64 extends WireType {
  override _read(tap: Tap): bigint {
    readScratch(tap);
    return scratchI64[0] as bigint;
  }

  override _write(tap: Tap, value: unknown): void {
    const exact = asBigint('i64', value);
    scratchI64[0] = exact;
    if (scratchI64[0] !== exact) throw invalid('i64', value);
    writeScratch(tap);
  }
}

/** u64 in the two's complement of an Avro long. */
class U64 extends WireType {
  override _read(tap: Tap): bigint {
    readScratch(tap);
    return scratchU64[0] as bigint;
  }

  override _write(tap: Tap, value: unknown): void {
    const exact = asBigint('u64', value);
    scratchU64[0] = exact;
    if (scratchU64[0] !== exact) throw invalid('u64', value);
    writeScratch(tap);
  }
}

/** An older definition may have a narrower integer, which decodes to a number. */
function asBigint(kind: string, value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw invalid(kind, value);
}

/** Integers between two bounds that a JavaScript number represents exactly. */
abstract class BoundedInteger extends WireType {
  abstract readonly kind: string;
  abstract readonly min: number;
  abstract readonly max: number;

  override _read(tap: Tap): number {
    const first = tap.buf[tap.pos] ?? 0;
    if (first < 0x80) {
      tap.pos++;
      const small = (first >>> 1) ^ -(first & 1);
      if (small < this.min) throw invalid(this.kind, small);
      return small;
    }
    readScratch(tap);
    const value = (scratchInt[1] as number) * 0x1_0000_0000 + ((scratchInt[0] as number) >>> 0);
    if (value < this.min || value > this.max) throw invalid(this.kind, value);
    return value;
  }

  protected override accepts(writer: WireType): boolean {
    return writer instanceof BoundedInteger && writer.min >= this.min && writer.max <= this.max;
  }

  override _write(tap: Tap, value: unknown): void {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < this.min || value > this.max) {
      throw invalid(this.kind, value);
    }
    if (value >= 0 && value < 64) {
      tap.buf[tap.pos++] = value << 1;
      return;
    }
    scratchInt[0] = value;
    scratchInt[1] = Math.floor(value / 0x1_0000_0000);
    writeScratch(tap);
  }
}

function bounded(kind: string, min: number, max: number): LogicalClass {
  return class extends BoundedInteger {
    override readonly kind = kind;
    override readonly min = min;
    override readonly max = max;
  };
}

abstract class Wide extends WireType {
  protected writeHalves(tap: Tap, low: bigint, high: bigint): void {
    scratchU64[0] = low;
    scratchU64[1] = high;
    const { buf, pos } = tap;
    for (let word = 0; word < 4; word++) {
      const bits = scratchInt[word] as number;
      const at = pos + word * 4;
      buf[at] = bits;
      buf[at + 1] = bits >>> 8;
      buf[at + 2] = bits >>> 16;
      buf[at + 3] = bits >>> 24;
    }
    tap.pos = pos + 16;
  }

  protected readHalves(tap: Tap): void {
    const { buf, pos } = tap;
    for (let word = 0; word < 4; word++) {
      const at = pos + word * 4;
      scratchInt[word] =
        (buf[at] ?? 0) | ((buf[at + 1] ?? 0) << 8) | ((buf[at + 2] ?? 0) << 16) | ((buf[at + 3] ?? 0) << 24);
    }
    tap.pos = pos + 16;
  }
}

/** Little-endian, 16 bytes. */
class U128 extends Wide {
  override _read(tap: Tap): bigint {
    this.readHalves(tap);
    const low = scratchU64[0] as bigint;
    const high = scratchU64[1] as bigint;
    return high === 0n ? low : (high << 64n) | low;
  }

  override _write(tap: Tap, value: unknown): void {
    const exact = asBigint('u128', value);
    const high = exact >> 64n;
    if (high < 0n || high > 0xffff_ffff_ffff_ffffn) throw invalid('u128', value);
    this.writeHalves(tap, exact, high);
  }
}

/** Little-endian two's complement, 16 bytes. */
class I128 extends Wide {
  override _read(tap: Tap): bigint {
    this.readHalves(tap);
    const low = scratchU64[0] as bigint;
    const high = scratchI64[1] as bigint;
    return high === 0n ? low : (high << 64n) | low;
  }

  override _write(tap: Tap, value: unknown): void {
    const exact = asBigint('i128', value);
    const high = exact >> 64n;
    if (BigInt.asIntN(64, high) !== high) throw invalid('i128', value);
    this.writeHalves(tap, exact, high);
  }
}

/** Fixed or length-prefixed bytes. Decodes into a copy, so that the value does not keep the record in memory. */
class Raw extends WireType {
  /** null for Avro `bytes`. */
  readonly #length: number | null;

  constructor(schema: Schema, options?: unknown) {
    super(schema, options);
    const plain = this.underlyingType;
    this.#length = plain instanceof avro.types.FixedType ? plain.size : null;
  }

  protected override accepts(writer: WireType): boolean {
    return writer instanceof Raw && writer.#length === this.#length;
  }

  override _read(tap: Tap): Uint8Array {
    const length = this.#length ?? readLength(tap);
    const { buf, pos } = tap;
    tap.pos = pos + length;
    if (length < 0 || tap.pos > buf.length) {
      tap.pos = buf.length + 1;
      return new Uint8Array(0);
    }
    const copy = new Uint8Array(length);
    if (length > 64) copy.set(buf.subarray(pos, pos + length));
    else for (let index = 0; index < length; index++) copy[index] = buf[pos + index] as number;
    return copy;
  }

  override _write(tap: Tap, value: unknown): void {
    if (!(value instanceof Uint8Array)) throw invalid('byte array', value);
    if (this.#length === null) {
      scratchInt[0] = value.length;
      scratchInt[1] = 0;
      writeScratch(tap);
    } else if (value.length !== this.#length) throw new RangeError(`${value.length} bytes instead of ${this.#length}`);
    const { buf, pos } = tap;
    const length = value.length;
    tap.pos = pos + length;
    if (tap.pos > buf.length) return;
    if (length > 64) buf.set(value, pos);
    else for (let index = 0; index < length; index++) buf[pos + index] = value[index] as number;
  }
}

function readLength(tap: Tap): number {
  readScratch(tap);
  return scratchInt[1] === 0 ? (scratchInt[0] as number) : -1;
}

const VARIANT_BYTES_MAX = 63;
const INTERN_ENTRIES = 1024;

/** A short text from a small vocabulary (enum variants). Decodes each text once and shares it. */
class Variant extends WireType {
  /** Only saves time: an entry that is replaced or missing is read anew. */
  static readonly #interned: ({ bytes: Uint8Array; text: string } | undefined)[] = new Array(INTERN_ENTRIES);

  override _read(tap: Tap): string {
    const length = readLength(tap);
    const { buf, pos } = tap;
    tap.pos = pos + length;
    if (length < 0 || tap.pos > buf.length) {
      tap.pos = buf.length + 1;
      return '';
    }
    let hash = length;
    for (let at = pos; at < tap.pos; at++) hash = (Math.imul(hash, 31) + (buf[at] as number)) | 0;
    const slot = hash & (INTERN_ENTRIES - 1);
    const known = Variant.#interned[slot];
    if (known !== undefined && sameBytes(known.bytes, buf, pos, length)) return known.text;
    const text = buf.toString('utf8', pos, tap.pos);
    if (length <= VARIANT_BYTES_MAX) {
      Variant.#interned[slot] = { bytes: Uint8Array.prototype.slice.call(buf, pos, tap.pos), text };
    }
    return text;
  }

  override _write(tap: Tap, value: unknown): void {
    if (typeof value !== 'string') throw invalid('variant name', value);
    const { buf, pos } = tap;
    const { length } = value;
    if (length > VARIANT_BYTES_MAX) throw new RangeError(`variant name of ${length} letters`);
    buf[pos] = length << 1;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) throw invalid('variant name', value);
      buf[pos + 1 + index] = code;
    }
    tap.pos = pos + 1 + length;
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array, offset: number, length: number): boolean {
  if (left.length !== length) return false;
  for (let index = 0; index < length; index++) if (left[index] !== right[offset + index]) return false;
  return true;
}

/** avsc creates an instance for each use of the logical type in a schema. */
export type LogicalClass = new (schema: Schema, options?: unknown) => avro.types.LogicalType;

/** By their name in a schema. */
export const LOGICAL_TYPES: Record<string, LogicalClass> = {
  i64: I64,
  u64: U64,
  u53: bounded('u53', 0, Number.MAX_SAFE_INTEGER),
  u32: bounded('u32', 0, 0xffff_ffff),
  u16: bounded('u16', 0, 0xffff),
  u8: bounded('u8', 0, 0xff),
  i32: bounded('i32', -0x8000_0000, 0x7fff_ffff),
  i16: bounded('i16', -0x8000, 0x7fff),
  i8: bounded('i8', -0x80, 0x7f),
  u128: U128,
  i128: I128,
  raw: Raw,
  variant: Variant,
};
