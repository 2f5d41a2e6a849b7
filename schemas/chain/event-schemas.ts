// Derives the Avro schemas of program events from the IDLs. One record name has one schema, a superset: fields appended
// over time, or known to one of the two protocols only, are nullable with default null.

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
  /** Names in past versions of the schema, so that their records stay readable. */
  readonly aliases?: readonly string[];
}
export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly namespace: string;
  readonly doc: string;
  readonly fields: readonly AvroField[];
}

/**
 * Fields that a record may lack: appended after its first deployment, or unknown to Drift v2
 * (docs/internals/events.md, "Records that grew"). A record that ends before such a field has null there.
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
  SignedMsgOrderRecord: [
    'matching_order_params_activation_delay_slots',
    'matching_order_params_builder_idx',
    'matching_order_params_builder_fee_tenth_bps',
  ],
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
  SignedMsgOrderRecord: [
    { name: 'matching_order_params_auction_duration', type: { kind: 'option', element: { kind: 'u8' } } },
    { name: 'matching_order_params_auction_start_price', type: { kind: 'option', element: { kind: 'i64' } } },
    { name: 'matching_order_params_auction_end_price', type: { kind: 'option', element: { kind: 'i64' } } },
  ],
};

/** Prefixes of field names, with the prefix in past versions of the schema. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MarketUpdateRecordV0: { before_: 'settings_before_', after_: 'settings_after_' },
};

/** Adds the name of past versions as an alias, where it differs. */
function withAliases(event: string, field: AvroField): AvroField {
  const renamed = Object.entries(RENAMED[event] ?? {}).find(([prefix]) => field.name.startsWith(prefix));
  if (!renamed) return field;
  const [prefix, past] = renamed;
  return { ...field, aliases: [past + field.name.slice(prefix.length)] };
}

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

/** Avro defines a named type at its first use in a record and refers to it by name afterwards. */
class NamedTypes {
  readonly #seen = new Set<string>();

  fixed(name: string, size: number, logicalType: string): AvroSchema {
    if (this.#seen.has(name)) return name;
    this.#seen.add(name);
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
  const named = fields.map((field) => withAliases(name, field));
  return record(name, `Program event ${name}`, [...head, ...named]);
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

/** The schema of every event with a known body in the built-in definition, and of UnknownRecord for all others. */
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
