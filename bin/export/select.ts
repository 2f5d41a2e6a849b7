// The query of an export: every stored column in a form that the file format represents exactly.

import type { Format } from './request.ts';

export interface ExportColumn {
  readonly name: string;
  /** ClickHouse type. */
  readonly type: string;
}

export interface ExportTable {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** Names of the sorting key. */
  readonly sortingKey: readonly string[];
}

const KEY = /FixedString\((32|64)\)/;
const BYTES = /FixedString\(\d+\)/;
const WIDE = /^(Nullable\()?U?Int(128|256)\)?$/;
/** Raw bytes that are not text. */
const RAW_COLUMNS = new Set(['raw']);
/** Fixed bytes that contain text padded with zeros. */
const TEXT_COLUMNS = new Set(['name']);

/** Keys as base58, other bytes as hex, 128-bit integers as digits when the format has no such type. */
export function selectItem({ name, type }: ExportColumn, format: Format): string {
  const column = `\`${name}\``;
  const list = type.startsWith('Array(');
  const as = (expression: string) => `${expression} AS ${column}`;
  if (TEXT_COLUMNS.has(name) && BYTES.test(type)) return as(`toValidUTF8(trimRight(toString(${column}), '\\0'))`);
  if (KEY.test(type)) return as(list ? `arrayMap(x -> base58Encode(x), ${column})` : `base58Encode(${column})`);
  if (BYTES.test(type) || RAW_COLUMNS.has(name)) return as(`lower(hex(${column}))`);
  if (WIDE.test(type) && format !== 'csv') return as(`toString(${column})`);
  return column;
}

/** Selects each row of the range once, by time, slot, place in the block, fill id, then event. Parameters: db, table, fromTs, toTs. */
export function exportQuery(table: ExportTable, format: Format): string {
  const items = table.columns.map((column) => selectItem(column, format)).join(', ');
  return `SELECT ${items} FROM ${SOURCE} ORDER BY ${order(table).join(', ')} FORMAT ${FORMAT_NAMES[format]}`;
}

export const SOURCE = `{db:Identifier}.{table:Identifier} AS stored FINAL
  WHERE stored.ts >= {fromTs:Int64} AND stored.ts < {toTs:Int64}`;

const FORMAT_NAMES: Readonly<Record<Format, string>> = { csv: 'CSVWithNames', parquet: 'Parquet', arrow: 'Arrow' };

/** The index of the transaction and of the event; those without a known index come first. */
const BLOCK_PLACE = 'tuple(ifNull(toInt64(stored.tx_index), -1), if(isNull(stored.tx_index), 0, stored.event_index))';

/** Orders by stored values: signatures sort as bytes, not as base58. */
function order({ columns, sortingKey }: ExportTable): readonly string[] {
  const hasSlot = columns.some(({ name }) => name === 'slot');
  const hasFills = columns.some(({ name }) => name === 'fill_record_id');
  const hasPlace = ['tx_index', 'event_index'].every((one) => columns.some(({ name }) => name === one));
  const first = ['ts', ...(hasSlot ? ['slot'] : [])];
  const next = hasFills ? ['fill_record_id'] : [];
  const rest = sortingKey.filter((name) => !first.includes(name) && !next.includes(name));
  const stored = (names: readonly string[]) => names.map((name) => `stored.\`${name}\``);
  return [...stored(first), ...(hasPlace ? [BLOCK_PLACE] : []), ...stored(next), ...stored(rest)];
}
