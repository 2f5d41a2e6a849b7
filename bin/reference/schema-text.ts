// JSON Schemas in words: the type of a member, the members of an object, an example of a value.

import { anchorOf, code, sentence } from './markdown.ts';
import { refName } from './ref-name.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  /** A list of schemas for a tuple of draft 07. */
  readonly items?: Schema | readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-contentSchema'?: Schema;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Members of this many levels are listed; deeper ones are described by their type alone. */
const MAX_DEPTH = 5;

const value = (one: unknown): string => code(typeof one === 'string' ? one : JSON.stringify(one));
const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The type of a value with its bounds, as a reader says it. */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return `[${refName(schema.$ref)}](#${anchorOf(refName(schema.$ref))})`;
  if (schema.const !== undefined) return value(schema.const);
  if (schema.enum) return unique(schema.enum.map(value)).join(', ');
  // Beside named members, variants only say which of them must be there.
  const variants = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (variants) return unique(variants.map((variant) => typeText(inherited(schema, variant)))).join(' or ');
  if (schema['x-contentSchema']) return `JSON text of ${typeText(schema['x-contentSchema'])}`;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0) return schema.examples ? `one of ${schema.examples.map(value).join(', ')}` : 'any';
  return types.map((type) => plainType(type, schema)).join(' or ');
}

function plainType(type: string, schema: Schema): string {
  if (type === 'array') return listText(schema);
  if (type === 'object') return objectText(schema);
  if (type === 'integer' || type === 'number') return numberText(type, schema);
  if (type !== 'string') return type;
  if (schema.pattern !== undefined && schema.examples) return schema.examples.map(value).join(', ');
  if (/^\^(?:-\?)?(?:\[1-9\])?\\d[^^|]*\$$/.test(schema.pattern ?? '')) return 'integer as text';
  if (schema.pattern?.startsWith('^[1-9A-HJ-NP-Za-km-z]') === true) return 'key, base58';
  const { minLength = 0, maxLength } = schema;
  return maxLength === undefined ? 'text' : `text of ${minLength} to ${maxLength} characters`;
}

/** A variant has the type that stands beside the variants. */
function inherited({ type }: Schema, variant: Schema): Schema {
  return type === undefined || variant.type !== undefined ? variant : { ...variant, type };
}

const isTuple = (items: Schema['items']): items is readonly Schema[] => Array.isArray(items);

function listText({ items, minItems = 0, maxItems }: Schema): string {
  if (maxItems === 0) return 'empty list';
  if (items === undefined) return 'list';
  if (!isTuple(items)) return `list of ${typeText(items)}`;
  return `[${items.map((item, index) => `${typeText(item)}${index < minItems ? '' : ' (may be absent)'}`).join('; ')}]`;
}

function objectText({ properties, additionalProperties }: Schema): string {
  if (!properties && typeof additionalProperties === 'object') return `object of ${typeText(additionalProperties)}`;
  return 'object';
}

function numberText(type: string, { minimum, maximum }: Schema): string {
  const name = type === 'integer' ? 'whole number' : 'number';
  if (minimum !== undefined && maximum !== undefined) return `${name} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${name} from ${minimum}`;
  return maximum === undefined ? name : `${name} up to ${maximum}`;
}

/** The object whose members describe a value: itself, that of a list's entries, or the one variant that is an object. */
function objectIn(schema: Schema): { readonly mark: string; readonly object: Schema } | null {
  if (schema.properties) return { mark: '', object: schema };
  if (schema.items && !isTuple(schema.items)) {
    const inner = objectIn(schema.items);
    return inner && { mark: `[]${inner.mark}`, object: inner.object };
  }
  const found = (schema.anyOf ?? schema.oneOf ?? []).map(objectIn).filter((one) => one !== null);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** A row for each member: its path, its type, what it means. Members of referenced schemas stand with those. */
export function memberRows(schema: Schema, prefix = '', depth = 0): readonly (readonly string[])[] {
  const found = objectIn(schema);
  if (!found) return [];
  const { mark, object } = found;
  const start = prefix === '' && mark === '' ? '' : `${prefix}${mark}.`;
  return Object.entries(object.properties ?? {}).flatMap(([name, member]) => {
    const isOptional = !(object.required ?? []).includes(name);
    const path = `${start}${name}`;
    const meaning = isOptional
      ? `May be absent. ${sentence(member.description ?? '')}`.trim()
      : (member.description ?? '');
    const row = [code(path), typeText(member), meaning];
    return [row, ...(depth < MAX_DEPTH ? memberRows(member, path, depth + 1) : [])];
  });
}

const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQkjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const WALLET = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';

const MILLISECONDS = 1_783_268_433_645;

/** Values of members that a reader knows by name. */
const KNOWN: Readonly<Record<string, unknown>> = {
  action: 'fill',
  actionExplanation: 'orderFilledWithMatch',
  makerOrderDirection: 'short',
  marketType: 'perp',
  takerOrderDirection: 'long',
  accountId: WALLET,
  authorityId: WALLET,
  baseAssetAmountFilled: '1500000000',
  channel: 'book',
  code: 'market',
  day: 21,
  direction: 'long',
  entity: 'market',
  epoch: 4711,
  feedIds: '6,1',
  fillRecordId: '1204',
  from: 1_783_267_200,
  interval: '24h',
  maker: WALLET,
  market: 'SOL-PERP',
  marketFilter: 'perp',
  marketName: 'SOL-PERP',
  month: 11,
  oraclePrice: '81122330',
  price: '81114210',
  pubkey: WALLET,
  quoteAssetAmountFilled: '121671315',
  seq: 812,
  size: '1000000000',
  slot: 9034,
  stream: 'perp_0_l2',
  symbol: 'SOL-PERP',
  taker: WALLET,
  ts: 1783268433,
  txSig: SIGNATURE,
  user: WALLET,
  userAuthority: WALLET,
  year: 2026,
};

function isOfType(schema: Schema, one: unknown): boolean {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const type = typeof one === 'number' ? (Number.isInteger(one) ? 'integer' : 'number') : typeof one;
  const isTyped = types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'));
  return isTyped && (typeof one !== 'string' || schema.pattern === undefined || new RegExp(schema.pattern).test(one));
}

/** A value that the schema allows. `schemas` are those that it refers to. */
export function exampleOf(schema: Schema, schemas: Schemas, name = ''): unknown {
  if (schema.$ref !== undefined) {
    const target = schemas[refName(schema.$ref)];
    return target ? exampleOf(target, schemas, name) : null;
  }
  if (schema.const !== undefined) return schema.const;
  const known = KNOWN[name];
  if (schema.enum) return known !== undefined && schema.enum.includes(known) ? known : schema.enum[0];
  const variant = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf)?.[0];
  if (variant) return exampleOf(inherited(schema, variant), schemas, name);
  if (name === 'ts' && /milliseconds/.test(schema.description ?? '')) return MILLISECONDS;
  if (schema['x-contentSchema']) return JSON.stringify(exampleOf(schema['x-contentSchema'], schemas));
  if (known !== undefined && isOfType(schema, known)) return known;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  return plainExample(schema, schemas, name);
}

function plainExample(schema: Schema, schemas: Schemas, name: string): unknown {
  const [type] = schema.type === undefined ? [] : [schema.type].flat();
  if (type === 'object' || schema.properties) {
    const members = Object.entries(schema.properties ?? {});
    return Object.fromEntries(members.map(([key, member]) => [key, exampleOf(member, schemas, key)]));
  }
  if (type === 'array') return listExample(schema, schemas, name);
  if (type === 'integer' || type === 'number') return numberExample(schema);
  if (type === 'boolean') return true;
  if (type === 'string') return textExample(schema);
  return null;
}

function listExample({ items, maxItems }: Schema, schemas: Schemas, name: string): readonly unknown[] {
  if (isTuple(items)) return items.map((item) => exampleOf(item, schemas, name));
  if (maxItems === 0 || !items) return [];
  return [exampleOf(items, schemas, name)];
}

function numberExample({ default: fallback, minimum = 0, maximum }: Schema): number {
  if (typeof fallback === 'number') return fallback;
  return maximum !== undefined && maximum < minimum + 1 ? maximum : minimum;
}

/** Texts that patterns of the contracts allow. */
const SHAPES = [
  '1000000',
  WALLET,
  'orderbook_perp_0_grouped_1',
  'orderbook_perp_0_grouped_1_indicative',
  'trades_perp_0',
  'priorityFees_perp_0',
  'candle:SOL-PERP:1',
  'markets:summary',
  'pricing',
  `notifications:${WALLET}`,
  'Subscribe received for channel: orderbook, market: SOL-PERP, marketType: perp',
];

/** By its pattern; free text says what it stands for. */
function textExample(schema: Schema): string {
  const { pattern } = schema;
  if (pattern !== undefined) return SHAPES.find((text) => new RegExp(pattern).test(text)) ?? '...';
  const says = schema.description ?? '';
  if (/raw integer|integer/.test(says)) return '1000000';
  if (/key|account|owner|keeper/i.test(says)) return WALLET;
  return '...';
}

const LINE_CHARS = 120;

/** JSON of a value, broken between members into lines that fit a page. */
export function jsonLines(one: unknown): string {
  const text = JSON.stringify(one);
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(/(?<=[,[{])(?=["{[])/)) {
    if (line !== '' && line.length + part.length > LINE_CHARS) {
      lines.push(line);
      line = ' ';
    }
    line += part;
  }
  return [...lines, line].join('\n');
}
