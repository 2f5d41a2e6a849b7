// Record rows as tables of fields: one entry defines the SQL, the JSON Schema and the CSV column of a member.

import { type Unit, unitSchema } from './answer-schemas.ts';
import { plainTextSql } from './csv-text.ts';
import type { Parameters } from './store.ts';

/** Computes a member from the other members of its row. Derived members it reads must precede it in the table. */
export type Derive = (row: Row, parameters: Parameters) => Cell;

export interface RowField {
  readonly name: string;
  /** SQL over the event's table; its value is the CSV cell. */
  readonly sql: string;
  /**
   * Replaces `sql` on pages, where the server's planning of `sql` costs more than reading fifty rows. A text is simpler SQL whose
   * value `toRow` converts to the same cell. A function derives the cell without any column.
   */
  readonly page?: string | Derive;
  readonly type: 'integer' | 'string' | 'boolean' | 'integers';
  readonly nullable: boolean;
  readonly description: string;
  /** Unit of a raw integer. */
  readonly unit?: Unit;
  /** Text that people choose. CSV must not let a spreadsheet read it as a formula. */
  readonly isFree?: true;
}

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

/** Column name of a member. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const rawInteger = (name: string, unit: Unit, sql: string, nullable: boolean): RowField => ({
  ...field(name, `toString(${sql})`, 'string', nullable, `raw integer, ${unit}`),
  page: sql,
  unit,
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
/** List of JSON integers; CSV has its JSON text in one quoted cell. */
export const integers = (name: string, description: string, sql = snake(name)): RowField =>
  field(name, sql, 'integers', false, description);

/** SQL of a market's symbol; empty for an unknown market. Every list query has the parameter `symbols`. */
const symbolSql = (marketType: string, marketIndex: string): string =>
  `{symbols:Map(String, String)}[concat(${marketType}, '-', toString(${marketIndex}))]`;
export const symbol = (marketType: string, marketIndex: string, name = 'symbol'): RowField => ({
  ...text(name, 'market symbol', symbolSql(marketType, marketIndex)),
  isFree: true,
});

/** The same field, derived on pages. `derive` must give the value that the SQL gives. */
export const derived = (source: RowField, derive: Derive): RowField => ({ ...source, page: derive });

/** First members of every event row. */
const HEAD: readonly RowField[] = [
  integer('ts', 'unix seconds'),
  text('txSig', 'transaction signature', 'base58Encode(signature)'),
  integer('txSigIndex', 'index of the event inside its transaction', 'event_index'),
  integer('slot', 'slot'),
];

/** Last member of every event row, so that readers of CSV by column number keep their columns. */
export const TX_INDEX = optionalInteger('txIndex', 'index of the transaction in its block; null where unknown');

/** Members of an event row: the head, its own, and `TX_INDEX`. */
export const eventFields = (...own: readonly RowField[]): readonly RowField[] => [...HEAD, ...own, TX_INDEX];

/** `SELECT` list for CSV: the fields under their names. */
export function selectList(fields: readonly RowField[]): string {
  return fields.map(({ name, sql, isFree }) => `${isFree ? plainTextSql(sql) : sql} AS "${name}"`).join(', ');
}

/**
 * Columns of a page query, without names, because each name costs the server a planning step. `named` puts the cells of an
 * answered row under the names of their fields.
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
 * Converts a row of `pageColumns` to its published form, with members in the order of the fields. 64-bit columns arrive as
 * text; integer members leave as JSON numbers.
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
      fields.map(({ name, type, nullable, description, unit }) => [
        name,
        {
          ...SCHEMA_TYPES[type],
          ...(nullable ? { type: [SCHEMA_TYPES[type].type, 'null'] } : {}),
          description,
          ...(unit ? unitSchema(unit) : {}),
        },
      ]),
    ),
  };
}
