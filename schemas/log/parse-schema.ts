// Parses Avro schemas with our own types: logical types, nullables and lists.

import avro from 'avsc';
import { LOGICAL_TYPES, type Tap, type WireType } from './wire-types.ts';

/** `["null", T]`: only a null takes the first branch. avsc's own union would try the value against each branch. */
class Nullable extends avro.types.UnwrappedUnionType {
  _read(tap: Tap): unknown {
    const branch = tap.buf[tap.pos++];
    if (branch === 0) return null;
    if (branch === 2) return (this.types[1] as unknown as WireType)._read(tap);
    if (branch === undefined) return null;
    throw new RangeError(`not a branch of a nullable: ${branch}`);
  }

  _write(tap: Tap, value: unknown): void {
    if (value === null) {
      tap.buf[tap.pos++] = 0;
      return;
    }
    tap.buf[tap.pos++] = 2;
    (this.types[1] as unknown as WireType)._write(tap, value);
  }
}

/** Refuses a count that the remaining bytes cannot contain, so that a damaged record costs no memory. Every item has bytes. */
class List extends avro.types.ArrayType {
  _read(tap: Tap): unknown[] {
    const items = this.itemsType as unknown as WireType;
    const values: unknown[] = [];
    for (;;) {
      const count = this.#readCount(tap);
      if (count === 0) return values;
      for (let index = 0; index < count; index++) values.push(items._read(tap));
    }
  }

  #readCount(tap: Tap): number {
    const signed = counts._read(tap) as number;
    if (signed < 0) counts._read(tap);
    const count = Math.abs(signed);
    if (count > tap.buf.length - tap.pos) throw new RangeError(`a list of ${count} in ${tap.buf.length} bytes`);
    return count;
  }
}

const counts = avro.Type.forSchema({ type: 'long', logicalType: 'i32' } as unknown as avro.Schema, {
  logicalTypes: LOGICAL_TYPES,
}) as unknown as WireType;

/** Parses an Avro schema (JSON value) with our own types. Throws an Error for an invalid schema. */
export function parseSchema(schema: unknown): avro.Type {
  return avro.Type.forSchema(
    schema as avro.Schema,
    {
      logicalTypes: LOGICAL_TYPES,
      assertLogicalTypes: true,
      omitRecordMethods: true,
      wrapUnions: false,
      typeHook: houseType,
    } as Parameters<typeof avro.Type.forSchema>[1],
  );
}

function houseType(schema: unknown, options: unknown): avro.Type | undefined {
  if (isNullable(schema)) return new Nullable(schema as avro.Schema, options);
  return isList(schema) ? new List(schema as avro.Schema, options) : undefined;
}

function isNullable(schema: unknown): boolean {
  return Array.isArray(schema) && schema.length === 2 && schema[0] === 'null';
}

function isList(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'array';
}
