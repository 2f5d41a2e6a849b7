import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNative } from '../../test/support/processors/history/native.ts';
import { compileColumns } from './columns.ts';

const schema = (...types: readonly unknown[]) =>
  JSON.stringify({ type: 'record', name: 'R', fields: types.map((type, index) => ({ name: `f${index}`, type })) });

/** Zig-zag varint of the Avro specification. */
function long(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
const word = (text: string) => Buffer.concat([long(BigInt(Buffer.byteLength(text))), Buffer.from(text)]);

function encode(text: string, rows: readonly Buffer[]): Buffer {
  return Buffer.concat(partsOf(text, rows));
}

function partsOf(text: string, rows: readonly Buffer[]): readonly Uint8Array[] {
  const found = compileColumns(text);
  if (!found) throw new Error('no columns');
  const block = found.open(rows.length);
  for (const row of rows) {
    // Other bytes surround a record.
    const bytes = Buffer.concat([Buffer.alloc(3, 7), row, Buffer.alloc(2, 9)]);
    if (!block.add(bytes, 3, 3 + row.length)) throw new Error('not a record');
  }
  return block.parts();
}
/** Bytes before the data of a block's only column. */
const head = (rows: number, type: string) => 2 + 1 + 2 + 1 + type.length + (rows > 127 ? 1 : 0);

describe('columns', () => {
  it('keep every 64-bit number exactly', () => {
    const values = fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(values, (numbers) => {
        const block = encode(schema({ type: 'long', logicalType: 'i64' }), numbers.map(long));
        const data = block.subarray(head(numbers.length, 'Int64'));
        expect(numbers.map((_, index) => data.readBigInt64LE(index * 8))).toEqual(numbers);
        expect(data.length).toBe(numbers.length * 8);
      }),
    );
  });

  it('have a separate map of nulls', () => {
    const rows = [Buffer.of(0), Buffer.concat([Buffer.of(2), long(5n)]), Buffer.of(0)];
    const block = encode(schema(['null', { type: 'long', logicalType: 'u32' }]), rows);
    const data = block.subarray(head(3, 'Nullable(UInt32)'));
    expect([...data]).toEqual([1, 0, 1, ...[0, 0, 0, 0], ...[5, 0, 0, 0], ...[0, 0, 0, 0]]);
  });

  it('contain each text of a dictionary once, null as index 0', () => {
    const texts = ['fill', null, 'cancel', 'fill', ''];
    const rows = texts.map((text) => (text === null ? Buffer.of(0) : Buffer.concat([Buffer.of(2), word(text)])));
    const block = encode(schema(['null', { type: 'string', logicalType: 'variant' }]), rows);
    const data = block.subarray(head(5, 'LowCardinality(Nullable(String))'));
    expect(data.readBigUInt64LE(16)).toBe(4n);
    const words = data.subarray(24, 24 + 1 + 5 + 7 + 1);
    expect(words.toString('latin1')).toBe('\x00\x04fill\x06cancel\x00');
    const numbers = data.subarray(24 + words.length + 8);
    expect(Array.from({ length: 5 }, (_, index) => numbers.readInt32LE(index * 4))).toEqual([1, 0, 2, 1, 3]);
  });

  it('contain more distinct texts than the limit of a linear search', () => {
    const texts = Array.from({ length: 200 }, (_, index) => `word ${index % 100}`);
    const block = encode(schema({ type: 'string', logicalType: 'variant' }), texts.map(word));
    const data = block.subarray(head(200, 'LowCardinality(String)'));
    expect(data.readBigUInt64LE(16)).toBe(100n);
    const numbers = data.subarray(data.length - 800);
    expect(Array.from({ length: 200 }, (_, index) => numbers.readInt32LE(index * 4))).toEqual(
      Array.from({ length: 200 }, (_, index) => index % 100),
    );
  });

  it('contain lists as ends and values, also from sized Avro blocks', () => {
    const list = Buffer.concat([long(2n), long(7n), long(8n), long(0n)]);
    const sized = Buffer.concat([long(-1n), long(1n), long(9n), long(0n)]);
    const type = { type: 'array', items: { type: 'int', logicalType: 'u16' } };
    const data = encode(schema(type), [list, long(0n), sized]).subarray(head(3, 'Array(UInt16)'));
    expect([0, 8, 16].map((at) => data.readBigUInt64LE(at))).toEqual([2n, 2n, 3n]);
    expect([24, 26, 28].map((at) => data.readUInt16LE(at))).toEqual([7, 8, 9]);
  });

  it('are sent one by one when they are large, without empty parts', () => {
    const count = 80_000;
    const text = schema({ type: 'fixed', name: 'Key', size: 64 }, { type: 'array', items: 'Key' });
    const rows = Array.from({ length: count }, (_, n) => Buffer.concat([Buffer.alloc(64, n % 251), long(0n)]));
    const parts = partsOf(text, rows);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.every(({ length }) => length > 0)).toBe(true);
    const stored = readNative(Buffer.concat(parts));
    expect(stored.get('f0')?.[count - 1]).toBe(Buffer.alloc(64, (count - 1) % 251).toString('hex'));
    expect(stored.get('f1')?.[count - 1]).toEqual([]);
  });

  it('do not exist for a schema with an unsupported type', () => {
    expect(compileColumns(schema('long'))).toBeNull();
    expect(compileColumns(schema({ type: 'map', values: 'string' }))).toBeNull();
  });
});
