// Short forms of the JSON Schemas that answers outside the record lists are described with.

export type Schema = Readonly<Record<string, unknown>>;

export const WHOLE: Schema = { type: 'integer' };
export const TEXT: Schema = { type: 'string' };
export const SECONDS: Schema = { type: 'integer', description: 'unix seconds' };
export const KEY: Schema = { type: 'string', description: 'public key, base58' };
export const MARKET_TYPE: Schema = { type: 'string', enum: ['perp', 'spot'] };

/** Raw integer as a decimal string. */
export const raw = (unit: string): Schema => ({ type: 'string', description: `raw integer, ${unit}` });
export const QUOTE = raw('quote 1e6');
export const PRICE = raw('price 1e6');
/** Decimal number as text. */
export const decimal = (description: string): Schema => ({ type: 'string', description });

export const listOf = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description === undefined ? {} : { description }),
});

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

/** `days` of snapshot endpoints (specification, Limits). */
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
