// Checks an encoded record against its Avro schema without building an object. ClickHouse reads many records from one stream of
// bytes, so a single bad record would shift all records after it.

/** Returns the index after the value, or BAD when the bytes do not fit the schema. */
type Walk = (bytes: Uint8Array, at: number) => number;

/** Returned instead of an index for invalid bytes. */
export const BAD = -1;

export type AvroType =
  | string
  | readonly AvroType[]
  | {
      readonly type: AvroType;
      readonly name?: string;
      readonly size?: number;
      readonly items?: AvroType;
      readonly logicalType?: string;
      readonly fields?: readonly { readonly name: string; readonly type: AvroType }[];
    };

/** Bounds of whole numbers by the logical type of the event schemas; u64 and i64 fill an Avro long. */
export const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  u8: [0, 0xff],
  i8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
  u53: [0, Number.MAX_SAFE_INTEGER],
};
const INT_BOUNDS: readonly [number, number] = [-0x8000_0000, 0x7fff_ffff];
const LONG_BYTES_MAX = 10;
/** The tenth byte has only the 64th bit. */
export const TENTH_BYTE_MAX = 1;
/** A zig-zag varint of 8 bytes holds 56 bits; the largest bounded number (u53) needs 54. */
const BOUNDED_BYTES_MAX = 8;
/** Limit of list lengths: no program record has longer ones, and an invented length must not cost time. */
export const ARRAY_ITEMS_MAX = 65_536;

/** A check for records of one schema: true when `bytes` from `start` to their end are exactly one valid record. */
export function compileCheck(schemaText: string): (bytes: Uint8Array, start: number) => boolean {
  const walk = compile(JSON.parse(schemaText) as AvroType, new Map());
  return (bytes, start) => walk(bytes, start) === bytes.length;
}

/** Reads a whole number that each record of a schema has; see `compileNumber`. */
export type ReadNumber = (bytes: Uint8Array, start: number) => number;

/**
 * A reader of the field `name` (int or long) of valid records that begin at `start`; it returns NaN beyond 2^53. Null for
 * a schema without the field.
 */
export function compileNumber(schemaText: string, name: string): ReadNumber | null {
  const { fields = [] } = JSON.parse(schemaText) as Exclude<AvroType, string | readonly AvroType[]>;
  const place = fields.findIndex((field) => field.name === name);
  const type = fields[place]?.type;
  const kind = typeof type === 'object' && 'type' in type ? type.type : type;
  if (kind !== 'int' && kind !== 'long') return null;
  const named = new Map<string, Walk>();
  const before = inOrder(fields.slice(0, place).map((field) => compile(field.type, named)));
  const number = new Varint();
  return (bytes, start) => {
    const end = readVarint(bytes, before(bytes, start), number);
    return end !== BAD && Number.isSafeInteger(number.value) ? number.value : Number.NaN;
  };
}

function compile(schema: AvroType, named: Map<string, Walk>): Walk {
  if (typeof schema === 'string') return named.get(schema) ?? primitive(schema, undefined);
  if (Array.isArray(schema)) return union(schema.map((branch) => compile(branch, named)));
  const { type, name, size, items, logicalType, fields } = schema as Exclude<AvroType, string | readonly AvroType[]>;
  const remember = (walk: Walk): Walk => {
    if (name !== undefined) named.set(name, walk);
    return walk;
  };
  if (type === 'record') return remember(inOrder((fields ?? []).map((field) => compile(field.type, named))));
  if (type === 'fixed') return remember(fixed(size ?? 0));
  if (type === 'array') return array(compile(items ?? 'null', named));
  return typeof type === 'string' && !named.has(type) ? primitive(type, logicalType) : compile(type, named);
}

function primitive(type: string, logicalType: string | undefined): Walk {
  switch (type) {
    case 'null':
      return (_, at) => at;
    case 'boolean':
      return (bytes, at) => ((bytes[at] ?? 2) < 2 ? at + 1 : BAD);
    case 'int':
      return bounded(BOUNDS[logicalType ?? ''] ?? INT_BOUNDS);
    case 'long': {
      const bounds = BOUNDS[logicalType ?? ''];
      return bounds ? bounded(bounds) : long;
    }
    case 'float':
      return fixed(4);
    case 'double':
      return fixed(8);
    case 'string':
    case 'bytes':
      return text();
    default:
      throw new Error(`Avro type ${type} does not appear in event schemas`);
  }
}

function inOrder(walks: readonly Walk[]): Walk {
  return (bytes, start) => {
    let at = start;
    for (const walk of walks) {
      at = walk(bytes, at);
      if (at === BAD) return BAD;
    }
    return at;
  };
}

function fixed(size: number): Walk {
  return (bytes, at) => (at + size <= bytes.length ? at + size : BAD);
}

function union(branches: readonly Walk[]): Walk {
  return (bytes, at) => {
    const index = bytes[at] ?? 1;
    const branch = index & 1 ? undefined : branches[index >>> 1];
    return branch ? branch(bytes, at + 1) : BAD;
  };
}

function long(bytes: Uint8Array, start: number): number {
  for (let at = start; at < start + LONG_BYTES_MAX; at++) {
    const byte = bytes[at];
    if (byte === undefined) return BAD;
    if (byte < 0x80) return at - start === LONG_BYTES_MAX - 1 && byte > TENTH_BYTE_MAX ? BAD : at + 1;
  }
  return BAD;
}

function bounded([min, max]: readonly [number, number]): Walk {
  const number = new Varint();
  return (bytes, at) => {
    const end = readVarint(bytes, at, number);
    return end !== BAD && number.value >= min && number.value <= max ? end : BAD;
  };
}

function text(): Walk {
  const number = new Varint();
  return (bytes, at) => {
    const start = readVarint(bytes, at, number);
    const { value } = number;
    return start !== BAD && value >= 0 && start + value <= bytes.length ? start + value : BAD;
  };
}

/** Items come in counted blocks; a negative count is followed by the block's size in bytes. A zero ends the list. */
function array(item: Walk): Walk {
  const number = new Varint();
  return (bytes, start) => {
    let at = start;
    for (let items = 0; items <= ARRAY_ITEMS_MAX; ) {
      at = readVarint(bytes, at, number);
      if (at === BAD || number.value === 0) return at;
      const count = Math.abs(number.value);
      items += count;
      let end: number | undefined;
      if (number.value < 0) {
        at = readVarint(bytes, at, number);
        if (at === BAD) return BAD;
        end = at + number.value;
      }
      for (let index = 0; index < count && at !== BAD; index++) at = item(bytes, at);
      if (at === BAD || (end !== undefined && at !== end)) return BAD;
    }
    return BAD;
  };
}

/** Takes the value that `readVarint` reads: a second return value without an object per number. */
class Varint {
  value = 0;
}

function readVarint(bytes: Uint8Array, start: number, number: Varint): number {
  const first = bytes[start];
  if (first === undefined) return BAD;
  if (first < 0x80) {
    number.value = (first >>> 1) ^ -(first & 1);
    return start + 1;
  }
  let raw = first & 0x7f;
  let factor = 0x80;
  for (let at = start + 1; at < start + BOUNDED_BYTES_MAX; at++) {
    const byte = bytes[at];
    if (byte === undefined) return BAD;
    raw += (byte & 0x7f) * factor;
    if (byte < 0x80) {
      number.value = raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
      return at + 1;
    }
    factor *= 0x80;
  }
  return BAD;
}
