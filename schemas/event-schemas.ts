// Avro schemas of program events, derived from the IDLs. One record name has one schema, a superset: fields that joined
// a record over time, or that only one of the two protocols has, are nullable with default null.

import { loadDefinition } from './definition.ts';
import { flattenFields } from './flatten.ts';
import type { NamedType, WireType } from './layout.ts';

const EVENT_NAMESPACE = 'slotbook.events';
export const UNKNOWN_RECORD = 'UnknownRecord';

export type AvroSchema = string | readonly AvroSchema[] | { readonly [key: string]: unknown };
export interface AvroField {
  readonly name: string;
  readonly type: AvroSchema;
  readonly doc?: string;
  readonly default?: null;
}
export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly namespace: string;
  readonly doc: string;
  readonly fields: readonly AvroField[];
}

/**
 * Fields that a record may lack: appended after the record was first deployed, or unknown to Drift v2 (protocol reference
 * 2.1 and 3.4 to 3.6). A recorded event that ends before them has null there.
 */
const MAY_BE_ABSENT: Readonly<Record<string, readonly string[]>> = {
  OrderActionRecord: [
    'taker_existing_quote_entry_amount',
    'taker_existing_base_asset_amount',
    'maker_existing_quote_entry_amount',
    'maker_existing_base_asset_amount',
    'trigger_price',
    'builder_idx',
    'builder_fee',
  ],
  DepositRecord: ['signer', 'user_token_amount_after'],
  LiquidationRecord: ['liquidate_perp_protocol_fee', 'liquidate_spot_protocol_fee', 'bit_flags'],
  OrderRecord: ['order_clob_node_index', 'order_clob_order_id', 'order_unused_auction_duration'],
};

/** Fields of Drift v2 and Velocity A that Velocity B dropped. */
const DROPPED: Readonly<Record<string, readonly NamedType[]>> = {
  OrderRecord: [
    { name: 'order_auction_start_price', type: { kind: 'i64' } },
    { name: 'order_auction_end_price', type: { kind: 'i64' } },
    { name: 'order_auction_duration', type: { kind: 'u8' } },
  ],
  FundingRateRecord: [
    { name: 'period_revenue', type: { kind: 'i64' } },
    { name: 'base_asset_amount_with_unsettled_lp', type: { kind: 'i128' } },
  ],
  LiquidationRecord: [{ name: 'liquidate_perp_lp_shares', type: { kind: 'u64' } }],
};

const INTEGERS = {
  u8: 'int',
  i8: 'int',
  u16: 'int',
  i16: 'int',
  i32: 'int',
  u32: 'long',
  u64: 'long',
  i64: 'long',
} as const;

/** Defines a named Avro type at its first use in a record and names it afterwards, as Avro asks. */
class NamedTypes {
  private readonly seen = new Set<string>();

  fixed(name: string, size: number, logicalType: string): AvroSchema {
    if (this.seen.has(name)) return name;
    this.seen.add(name);
    return { type: 'fixed', name, size, logicalType };
  }
}

function avroType(type: WireType, names: NamedTypes): AvroSchema {
  switch (type.kind) {
    case 'bool':
      return 'boolean';
    case 'string':
      return 'string';
    case 'pubkey':
      return names.fixed('Pubkey', 32, 'raw');
    case 'bytes':
      return names.fixed(`Bytes${type.length}`, type.length, 'raw');
    case 'u128':
    case 'i128':
      return names.fixed(type.kind.toUpperCase(), 16, type.kind);
    case 'enum':
      return { type: 'string', logicalType: 'variant' };
    case 'option':
      return ['null', avroType(type.element, names)];
    case 'array':
    case 'vec':
      return { type: 'array', items: avroType(type.element, names) };
    case 'struct':
      throw new Error(`struct ${type.layout.name} was not flattened`);
    default:
      return { type: INTEGERS[type.kind], logicalType: type.kind };
  }
}

function headFields(names: NamedTypes): AvroField[] {
  return [
    { name: 'signature', type: names.fixed('Signature', 64, 'raw'), doc: 'transaction' },
    { name: 'event_index', type: { type: 'long', logicalType: 'u32' }, doc: 'among all records of the transaction' },
    { name: 'slot', type: { type: 'long', logicalType: 'u53' } },
    {
      name: 'tx_index',
      type: ['null', { type: 'long', logicalType: 'u32' }],
      doc: 'position in the block, where known',
    },
  ];
}

function eventSchema(name: string, own: readonly NamedType[]): AvroRecord {
  const names = new NamedTypes();
  const absent = new Set(MAY_BE_ABSENT[name] ?? []);
  const dropped = DROPPED[name] ?? [];
  const head = headFields(names);
  const fields = [...flattenFields(own), ...dropped].map((field): AvroField => {
    const optional = absent.has(field.name) || dropped.includes(field);
    const type = avroType(field.type, names);
    if (!optional) return { name: field.name, type };
    return { name: field.name, type: field.type.kind === 'option' ? type : ['null', type], default: null };
  });
  return record(name, `Program event ${name}`, [...head, ...fields]);
}

function record(name: string, doc: string, fields: readonly AvroField[]): AvroRecord {
  return { type: 'record', name, namespace: EVENT_NAMESPACE, doc, fields };
}

function unknownSchema(): AvroRecord {
  const names = new NamedTypes();
  return record(UNKNOWN_RECORD, 'A program event whose body this version does not know: kept, bytes and all', [
    ...headFields(names),
    { name: 'program', type: names.fixed('Pubkey', 32, 'raw') },
    { name: 'discriminator', type: names.fixed('Bytes8', 8, 'raw') },
    { name: 'record_name', type: ['null', 'string'], doc: 'where the definition names the discriminator' },
    { name: 'raw', type: { type: 'bytes', logicalType: 'raw' }, doc: 'the whole payload, discriminator included' },
  ]);
}

/** The schemas of every event with a known body in the built-in definition, and UnknownRecord for the others. */
export function generateEventSchemas(): AvroRecord[] {
  const events = loadDefinition('velocity').programs.flatMap((program) => [...program.events.values()]);
  const known = events.filter(({ fields }) => fields.length > 0);
  return [...known.map(({ name, fields }) => eventSchema(name, fields)), unknownSchema()];
}

/** Text of a schema file. */
export function schemaText(schema: AvroRecord): string {
  const { fields, ...head } = schema;
  const opening = JSON.stringify(head).slice(0, -1);
  const lines = fields.map((field) => `  ${JSON.stringify(field)}`).join(',\n');
  return `${opening},"fields":[\n${lines}\n]}\n`;
}
