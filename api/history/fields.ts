// Record rows as tables of fields: one entry gives the SQL expression, the JSON Schema and the CSV column of a member.

import type { Parameters } from './store.ts';

/** A member made of the others of its row, of which those that are derived too stand before it. */
export type Derive = (row: Row, parameters: Parameters) => Cell;

export interface RowField {
  readonly name: string;
  /** SQL over the event's table, of the cell as CSV has it. */
  readonly sql: string;
  /**
   * What a page does instead, where planning that SQL would cost the server more than reading fifty rows: asks for the value as
   * it is stored, which becomes the same cell here, or derives the cell from others without asking.
   */
  readonly page?: string | Derive;
  readonly type: 'integer' | 'string' | 'boolean' | 'integers';
  readonly nullable: boolean;
  readonly description: string;
}

type Unit =
  | 'base 1e9'
  | 'quote 1e6'
  | 'price 1e6'
  | 'funding 1e9'
  | 'token, mint decimals'
  | 'scaled balance 1e9'
  | 'interest 1e10'
  | 'shares'
  | 'identifier';

const field = (
  name: string,
  sql: string,
  type: RowField['type'],
  nullable: boolean,
  description: string,
): RowField => ({
  name,
  sql,
  type,
  nullable,
  description,
});

/** A member's name as the store's columns have it. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const rawInteger = (name: string, unit: Unit, sql: string, nullable: boolean): RowField => ({
  ...field(name, `toString(${sql})`, 'string', nullable, `raw integer, ${unit}`),
  page: sql,
});

/** Raw integer as a decimal string in the given unit. */
export const amount = (name: string, unit: Unit, sql = snake(name)): RowField => rawInteger(name, unit, sql, false);
export const optionalAmount = (name: string, unit: Unit, sql = snake(name)): RowField =>
  rawInteger(name, unit, sql, true);
export const integer = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'integer', false, description);
export const optionalInteger = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'integer', true, description);
export const text = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'string', false, description);
export const optionalText = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'string', true, description);
export const key = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, `base58Encode(${sql})`, 'string', false, description);
export const optionalKey = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, `base58Encode(${sql})`, 'string', true, description);
export const boolean = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'boolean', false, description);
/** List of JSON integers; in CSV its JSON text in one quoted cell. */
export const integers = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'integers', false, description);

/** SQL of a market's symbol; empty for a market nobody described. Every list query is given `symbols`. */
const symbolSql = (marketType: string, marketIndex: string): string =>
  `{symbols:Map(String, String)}[concat(${marketType}, '-', toString(${marketIndex}))]`;
export const symbol = (marketType: string, marketIndex: string, name = 'symbol'): RowField =>
  text(name, 'market symbol', symbolSql(marketType, marketIndex));

/** The same field, which pages derive: what `derive` says must be what the SQL says. */
export const derived = (source: RowField, derive: Derive): RowField => ({ ...source, page: derive });

/** What every event row begins with. */
export const HEAD: readonly RowField[] = [
  integer('ts', 'unix seconds'),
  text('txSig', 'transaction signature', 'base58Encode(signature)'),
  integer('txSigIndex', 'index of the event inside its transaction', 'event_index'),
  integer('slot', 'slot'),
];

/** `SELECT` list of the fields as CSV has them, under their names. */
export function selectList(fields: readonly RowField[]): string {
  return fields.map(({ name, sql }) => `${sql} AS "${name}"`).join(', ');
}

/**
 * What pages ask for: SQL of columns without names, each of which would be one more step of the server's planning, and how the
 * cells of an answered row come under the names of the fields.
 */
export function pageColumns(fields: readonly RowField[]) {
  const columns: string[] = [];
  const places = new Map<string, number>();
  for (const { name, sql, page = sql } of fields) {
    if (typeof page === 'function') continue;
    const known = columns.indexOf(page);
    places.set(name, known < 0 ? columns.push(page) - 1 : known);
  }
  const named = (cells: readonly unknown[]): Readonly<Record<string, unknown>> => {
    const row: Record<string, unknown> = {};
    for (const [name, place] of places) row[name] = cells[place];
    return row;
  };
  return { columns, named };
}

export type Cell = string | number | boolean | readonly number[] | null;
export type Row = Readonly<Record<string, Cell>>;

/**
 * A row of `pageColumns` as the service answers it, its members in the order of the fields. 64-bit columns arrive as text,
 * integer members leave as JSON numbers.
 */
export function toRow(
  fields: readonly RowField[],
  source: Readonly<Record<string, unknown>>,
  parameters: Parameters,
): Row {
  const row: Record<string, Cell> = {};
  for (const { name, type } of fields) row[name] = toCell(type, source[name]);
  for (const { name, page } of fields) if (typeof page === 'function') row[name] = page(row, parameters);
  return row;
}

function toCell(type: RowField['type'], value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (type === 'integer') return Number(value);
  if (type === 'boolean') return value === true;
  return type === 'integers' ? (value as readonly unknown[]).map(Number) : String(value);
}

const SCHEMA_TYPES = {
  integer: { type: 'integer' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integers: { type: 'array', items: { type: 'integer' } },
} as const;

/** JSON Schema of a row. */
export function rowSchema(fields: readonly RowField[]) {
  return {
    type: 'object',
    required: fields.map(({ name }) => name),
    properties: Object.fromEntries(
      fields.map(({ name, type, nullable, description }) => [
        name,
        { ...SCHEMA_TYPES[type], ...(nullable ? { type: [SCHEMA_TYPES[type].type, 'null'] } : {}), description },
      ]),
    ),
  };
}
