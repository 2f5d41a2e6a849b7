// How a program event is stored in ClickHouse: table name and columns, both derived from its Avro schema, so that
// migrations can be checked against the schemas instead of against themselves.

import type { AvroRecord, AvroSchema } from './event-schemas.ts';
import { snakeCase } from './names.ts';
import { writerOf } from './wire.ts';

export interface Column {
  readonly name: string;
  /** ClickHouse type. */
  readonly type: string;
}

/** `OrderActionRecord` -> `order_action`, `FillRecordV0` -> `fill_v0`, `LPSettleRecord` -> `lp_settle`. */
export function tableOf(eventName: string): string {
  const match = /^(.*?)(?:Record)?(?:V(\d+))?$/.exec(eventName);
  const version = match?.[2] === undefined ? '' : `_v${match[2]}`;
  return snakeCase(match?.[1] ?? eventName) + version;
}

const INTEGERS: Readonly<Record<string, string>> = {
  u8: 'UInt8',
  u16: 'UInt16',
  u32: 'UInt32',
  u53: 'UInt64',
  u64: 'UInt64',
  u128: 'UInt128',
  i8: 'Int8',
  i16: 'Int16',
  i32: 'Int32',
  i64: 'Int64',
  i128: 'Int128',
};

/** Columns of an event's table in schema order, the head first. Throws a RangeError for an event without a schema. */
export function columnsOf(eventName: string): readonly Column[] {
  const writer = writerOf(eventName);
  if (writer?.kind !== 'event') throw new RangeError(`no schema for event ${eventName}`);
  return columnsOfSchema(writer.text);
}

/** The same of any version of an event's schema. Throws an Error when one of its types has no column type. */
export function columnsOfSchema(schemaText: string): readonly Column[] {
  const named = new Map<string, string>();
  const { fields } = JSON.parse(schemaText) as AvroRecord;
  return fields.map(({ name, type }) => ({ name, type: columnType(type, named) }));
}

function columnType(schema: AvroSchema, named: Map<string, string>): string {
  if (typeof schema === 'string') return plainType(schema, named);
  if (isUnion(schema)) return nullableType(columnType(schema[1] ?? 'null', named));
  const { type, logicalType, name, size, items } = schema;
  if (type === 'array') return `Array(${columnType(items as AvroSchema, named)})`;
  const column = scalarType(String(type), logicalType, size);
  if (typeof name === 'string') named.set(name, column);
  return column;
}

function isUnion(schema: AvroSchema): schema is readonly AvroSchema[] {
  return Array.isArray(schema);
}

function plainType(name: string, named: ReadonlyMap<string, string>): string {
  if (name === 'boolean') return 'Bool';
  if (name === 'string') return 'String';
  const column = named.get(name);
  if (!column) throw new Error(`Avro type ${name} has no column type`);
  return column;
}

function scalarType(type: string, logicalType: unknown, size: unknown): string {
  const integer = INTEGERS[String(logicalType)];
  if (integer) return integer;
  if (logicalType === 'variant') return 'LowCardinality(String)';
  if (type === 'fixed') return `FixedString(${size})`;
  if (type === 'bytes') return 'String';
  throw new Error(`Avro type ${type} (${logicalType}) has no column type`);
}

/** ClickHouse wants the nullable inside of the dictionary encoding. */
function nullableType(column: string): string {
  const dictionary = /^LowCardinality\((.*)\)$/.exec(column);
  return dictionary ? `LowCardinality(Nullable(${dictionary[1]}))` : `Nullable(${column})`;
}

/** Tables that hold the events of a base table in another order, filled by materialized views with each insert. */
export const COMPANION_TABLES: Readonly<Record<string, string>> = {
  account_action: 'order_action',
  market_deposit: 'deposit',
  market_swap: 'swap',
  market_insurance_fund_stake: 'insurance_fund_stake',
  liquidation_by_time: 'liquidation',
  account: 'new_user',
  referral: 'new_user',
};

/** Tables that hold what reducers publish, by topic: the newest row of a key counts. */
export const REDUCED_TABLES = {
  samples: 'market_sample',
  candles: 'candle',
  vaults: 'vault_state',
  vaultDepositors: 'vault_depositor_state',
} as const;

/** What accounts did by finished day, reduced in the store from its own events, and the marks that say of which days. */
export const ACCOUNT_DAY_TABLES = {
  fills: 'account_day_fills',
  money: 'account_day_money',
  marks: 'account_day_mark',
} as const;
