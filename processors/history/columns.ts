// Avro records to a block in ClickHouse's Native format. The server then reads whole columns instead of single values, which
// are most of the cost of an insert. One pass checks a record and puts its values into the columns.

import { columnsOfSchema } from '../../schemas/index.ts';
import { type Column, type MakeColumn, makerOf } from './column.ts';
import { type AvroType, BAD } from './datum.ts';
import { nativeText, nativeVarint } from './native.ts';
import type { Body, RowFormat } from './row-format.ts';

/** Above this size, joining the columns costs more than sending them one by one. */
const PARTED_BYTES_MIN = 4 * 1024 * 1024;

interface Named {
  readonly name: string;
  readonly type: string;
  readonly make: MakeColumn;
}

/** null for a schema with a type that has no column here: ClickHouse reads the Avro itself then. */
export function compileColumns(schemaText: string): RowFormat | null {
  try {
    const { fields } = JSON.parse(schemaText) as { fields: readonly { readonly type: AvroType }[] };
    const makers = new Map<string, MakeColumn>();
    const columns = columnsOfSchema(schemaText).map(({ name, type }, index): Named => {
      return { name, type, make: makerOf(fields[index]?.type ?? 'null', makers) };
    });
    const names = columns.map(({ name }) => `\`${name}\``).join(', ');
    return { into: `(${names}) FORMAT Native`, open: (rowsMax) => new ColumnBlock(columns, rowsMax) };
  } catch {
    return null;
  }
}

/** Rows of one schema as a block of columns. */
class ColumnBlock implements Body {
  readonly #named: readonly Named[];
  readonly #columns: readonly Column[];
  readonly #adds: readonly Column['add'][];
  readonly #rowsMax: number;
  #rows = 0;

  constructor(named: readonly Named[], rowsMax: number) {
    this.#named = named;
    this.#columns = named.map(({ make }) => make(rowsMax));
    this.#adds = this.#columns.map(({ add }) => add);
    this.#rowsMax = rowsMax;
  }

  add(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#rows === this.#rowsMax) throw new RangeError(`more than ${this.#rowsMax} rows`);
    const adds = this.#adds;
    const row = this.#rows;
    let at = start;
    for (let index = 0; index < adds.length && at !== BAD; index++) {
      at = (adds[index] as Column['add'])(bytes, at, row, end);
    }
    if (at === end) {
      this.#rows += 1;
      return true;
    }
    for (const column of this.#columns) column.cut(row);
    return false;
  }

  parts(): readonly Uint8Array[] {
    const parts: Uint8Array[] = [nativeVarint(this.#columns.length), nativeVarint(this.#rows)];
    this.#columns.forEach((column, index) => {
      const { name = '', type = '' } = this.#named[index] ?? {};
      parts.push(nativeText(name), nativeText(type), ...column.chunks(this.#rows));
    });
    // Each part is one write.
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    return size < PARTED_BYTES_MIN ? [Buffer.concat(parts)] : parts.filter(({ length }) => length > 0);
  }
}
