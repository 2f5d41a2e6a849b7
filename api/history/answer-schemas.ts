// Short forms of JSON Schemas for answers that are not record lists.

import { type JsonSchema, list } from '../http/contract/json-schema.ts';

export type Schema = JsonSchema;

export const WHOLE: Schema = { type: 'integer' };
export const TEXT: Schema = { type: 'string' };
export const SECONDS: Schema = { type: 'integer', description: 'unix seconds' };
export const KEY: Schema = { type: 'string', description: 'public key, base58' };
export const MARKET_TYPE: Schema = { type: 'string', enum: ['perp', 'spot'] };

/** Unit of a raw integer. The number is its scale; the market in the same object gives any other scale. */
export type Unit =
  | 'base 1e9'
  | 'base units of the market'
  | 'quote 1e6'
  | 'price 1e6'
  | 'share 1e6'
  | 'funding 1e9'
  | 'token, mint decimals'
  | 'scaled balance 1e9'
  | 'interest 1e10'
  | 'shares'
  | 'identifier';

/** Schema member that names the unit of a raw integer, for programs. */
export const UNIT = 'x-unit';
export const unitSchema = (unit: Unit): Schema => ({ [UNIT]: unit });

/** Raw integer as a decimal string. */
export const raw = (unit: Unit, note?: string): Schema => ({
  type: 'string',
  description: `raw integer, ${unit}${note === undefined ? '' : `: ${note}`}`,
  ...unitSchema(unit),
});
export const QUOTE = raw('quote 1e6');
export const PRICE = raw('price 1e6');
/** Decimal number as text. */
export const decimal = (description: string): Schema => ({ type: 'string', description });

export const listOf = list;

/** An object with all of its members required. */
export const objectOf = (properties: Readonly<Record<string, Schema>>, description?: string): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
  ...(description === undefined ? {} : { description }),
});

export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });

/** A 200 answer `{success: true, ...}`. */
export const answerOf = (description: string, properties: Readonly<Record<string, Schema>>): Schema =>
  objectOf({ success: { type: 'boolean', const: true }, ...properties }, description);

const MIN_DAYS = 1;
const MAX_DAYS = 100;
const DEFAULT_DAYS = 7;

/** `days` of snapshot endpoints (docs/reference/history-rest.md). */
export const DAYS_QUERY = {
  type: 'object',
  properties: {
    days: {
      type: 'integer',
      minimum: MIN_DAYS,
      maximum: MAX_DAYS,
      default: DEFAULT_DAYS,
      description: 'how far back; 1 gives hourly points, more daily ones',
    },
  },
};
