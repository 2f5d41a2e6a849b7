// Decodes a block of ClickHouse's Native format, for tests: written from the format's description, not from our encoder.

/** Values of a column: whole numbers as bigint, bytes and texts as hex. */
export type NativeValue = bigint | string | boolean | null | readonly NativeValue[];

/** Values of each column by its name. Throws a RangeError when the bytes end early or late. */
export function readNative(bytes: Buffer): Map<string, readonly NativeValue[]> {
  const reader = new Reader(bytes);
  const [columns, rows] = [reader.varint(), reader.varint()];
  const block = new Map<string, readonly NativeValue[]>();
  for (let index = 0; index < columns; index++) {
    const name = reader.text().toString();
    block.set(name, reader.values(reader.text().toString(), rows));
  }
  reader.end();
  return block;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new RangeError(`${this.#bytes.length - this.#at} bytes too many`);
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#take(1).readUInt8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  text(): Buffer {
    return this.#take(this.varint());
  }

  values(type: string, rows: number): NativeValue[] {
    const [, wrapper, inner = ''] = /^(Nullable|Array|LowCardinality)\((.*)\)$/.exec(type) ?? [];
    if (wrapper === 'Nullable') return this.#nullable(inner, rows);
    if (wrapper === 'Array') return this.#lists(inner, rows);
    if (wrapper === 'LowCardinality') return this.#dictionary(inner, rows);
    return Array.from({ length: rows }, () => this.#value(type));
  }

  #nullable(inner: string, rows: number): NativeValue[] {
    const nulls = this.#take(rows);
    return this.values(inner, rows).map((value, row) => (nulls[row] === 1 ? null : value));
  }

  #lists(inner: string, rows: number): NativeValue[] {
    const ends = Array.from({ length: rows }, () => Number(this.#integer(8, false)));
    const values = this.values(inner, ends.at(-1) ?? 0);
    return ends.map((end, row) => values.slice(ends[row - 1] ?? 0, end));
  }

  /** Version, index type with its flags, the words, and each row's index of a word; word 0 of a nullable is null. */
  #dictionary(inner: string, rows: number): NativeValue[] {
    this.#take(16);
    const words = this.values('String', Number(this.#integer(8, false))) as (string | null)[];
    if (inner.startsWith('Nullable')) words[0] = null;
    if (this.#integer(8, false) !== BigInt(rows))
      throw new RangeError('number of indexes differs from the number of rows');
    return Array.from({ length: rows }, () => {
      const word = words[Number(this.#integer(4, false))];
      if (word === undefined) throw new RangeError('an index without a word');
      return word;
    });
  }

  #value(type: string): NativeValue {
    const [, unsigned, bits] = /^(U?)Int(\d+)$/.exec(type) ?? [];
    if (bits) return this.#integer(Number(bits) / 8, unsigned === '');
    if (type === 'Bool') return this.#integer(1, false) === 1n;
    if (type === 'String') return this.text().toString('hex');
    return this.#take(Number(/^FixedString\((\d+)\)$/.exec(type)?.[1])).toString('hex');
  }

  #integer(size: number, isSigned: boolean): bigint {
    const value = BigInt(`0x${Buffer.from(this.#take(size)).reverse().toString('hex')}`);
    return isSigned ? BigInt.asIntN(size * 8, value) : value;
  }

  #take(size: number): Buffer {
    if (!(this.#at + size <= this.#bytes.length)) throw new RangeError(`${size} bytes are missing`);
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
