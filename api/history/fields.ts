// Record rows as tables of fields: one entry gives the SQL expression, the JSON Schema and the CSV column of a member.

export interface RowField {
  readonly name: string;
  /** SQL over the event's table. */
  readonly sql: string;
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

/** Raw integer as a decimal string in the given unit. */
export const amount = (name: string, unit: Unit, sql = snake(name)): RowField =>
  field(name, `toString(${sql})`, 'string', false, `raw integer, ${unit}`);
export const optionalAmount = (name: string, unit: Unit, sql = snake(name)): RowField =>
  field(name, `toString(${sql})`, 'string', true, `raw integer, ${unit}`);
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
export const symbolSql = (marketType: string, marketIndex: string): string =>
  `{symbols:Map(String, String)}[concat(${marketType}, '-', toString(${marketIndex}))]`;
export const symbol = (marketType: string, marketIndex: string, name = 'symbol'): RowField =>
  text(name, 'market symbol', symbolSql(marketType, marketIndex));

/** What every event row begins with. */
export const HEAD: readonly RowField[] = [
  integer('ts', 'unix seconds'),
  text('txSig', 'transaction signature', 'base58Encode(signature)'),
  integer('txSigIndex', 'index of the event inside its transaction', 'event_index'),
  integer('slot', 'slot'),
];

/** `SELECT` list of the fields; the row comes back under the fields' names. */
export function selectList(fields: readonly RowField[]): string {
  return fields.map(({ name, sql }) => `${sql} AS "${name}"`).join(', ');
}

export type Cell = string | number | boolean | readonly number[] | null;
export type Row = Readonly<Record<string, Cell>>;

/** A result row as the service answers it: 64-bit columns arrive as text, integer members leave as JSON numbers. */
export function toRow(fields: readonly RowField[], source: Readonly<Record<string, unknown>>): Row {
  const row: Record<string, Cell> = {};
  for (const { name, type } of fields) row[name] = toCell(type, source[name]);
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
