// Maps a program event to ClickHouse: table name and columns, both derived from its Avro schema. Tests compare the
// migrations with them.

import type { AvroRecord, AvroSchema } from '../chain/event-schemas.ts';
import { snakeCase } from '../chain/names.ts';
import { writerOf } from '../log/wire.ts';

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

/** The columns of any schema version of an event. Throws an Error when a type has no column type. */
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

/** ClickHouse wants Nullable inside LowCardinality. */
function nullableType(column: string): string {
  const dictionary = /^LowCardinality\((.*)\)$/.exec(column);
  return dictionary ? `LowCardinality(Nullable(${dictionary[1]}))` : `Nullable(${column})`;
}

/** Lookup tables by base table: the same events in another order, filled by materialized views. */
export const LOOKUP_TABLES: Readonly<Record<string, string>> = {
  account_action: 'order_action',
  account_fill: 'order_action',
  market_deposit: 'deposit',
  market_swap: 'swap',
  market_insurance_fund_stake: 'insurance_fund_stake',
  liquidation_by_time: 'liquidation',
  account: 'new_user',
  referral: 'new_user',
};

/** Tables with the output of reducers, by topic. The newest row of a key counts. */
export const REDUCED_TABLES = {
  samples: 'market_sample',
  candles: 'candle',
  vaults: 'vault_state',
  vaultDepositors: 'vault_depositor_state',
  notifications: 'notification',
  notificationReads: 'notification_read',
  notificationDeliveries: 'notification_delivery',
} as const;

/** Account activity of finished days, reduced in the store from its own events, and marks of the days they cover. */
export const ACCOUNT_DAY_TABLES = {
  fills: 'account_day_fills',
  money: 'account_day_money',
  marks: 'account_day_mark',
} as const;
