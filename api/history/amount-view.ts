// Converts raw integers of an answer to whole units, following the schema of the answer: members with a unit are amounts.
// `/hosted` writes them as decimal text, candle channels as JSON numbers.

import { decimalText, wholeUnits } from '../http/units.ts';
import { decimalDescription, isOfMarket, type Members } from './amount-decimals.ts';
import { type Schema, UNIT, type Unit } from './answer-schemas.ts';

/** Schemas of an object's members by name. */
export type MemberSchemas = Readonly<Record<string, Members>>;

/** Decimals of the amount `name` of `holder`; null when they are unknown. */
export type DecimalsOf = (unit: Exclude<Unit, 'identifier'>, name: string, holder: Members) => number | null;

/** How converted amounts look. */
export interface AmountFormat {
  readonly type: 'string' | 'number';
  readonly write: (value: string, decimals: number) => string | number;
  /** Contract text of an amount in a unit. */
  readonly describe: (unit: Unit) => string;
  /** Whether an amount is null where its market is unknown. */
  readonly isNullWithoutMarket: boolean;
}

/** All places of the scale as text, so that no amount passes through a double. */
export const DECIMAL_TEXT: AmountFormat = {
  type: 'string',
  write: (value, decimals) => decimalText(BigInt(value), decimals),
  describe: decimalDescription,
  isNullWithoutMarket: true,
};

/** JSON numbers of a market that the sender knows. */
export const JSON_NUMBER: AmountFormat = {
  type: 'number',
  write: wholeUnits,
  describe: (unit) =>
    unit === 'price 1e6' ? 'whole quote units per whole base unit' : `whole ${unit.split(' ')[0]} units`,
  isNullWithoutMarket: false,
};

export interface Conversion {
  readonly format: AmountFormat;
  readonly decimalsOf: DecimalsOf;
  /** Replaces raw members of an object before their conversion. */
  readonly prepare?: (holder: Members, schemas: MemberSchemas) => Members;
}

/** Converts the value of member `name` of `holder`. */
type Convert = (value: unknown, name: string, holder: Members) => unknown;

/** The function that converts values of a schema; null when they contain no amount. */
export function converterOf(schema: Schema, conversion: Conversion): Convert | null {
  const unit = schema[UNIT] as Unit | undefined;
  if (unit !== undefined) return unit === 'identifier' ? null : amountConverter(unit, conversion);
  if (schema.type === 'array') return listConverter(schema, conversion);
  return schema.properties === undefined ? null : objectConverter(schema.properties as MemberSchemas, conversion);
}

function amountConverter(unit: Exclude<Unit, 'identifier'>, { decimalsOf, format }: Conversion): Convert {
  return (value, name, holder) => {
    if (typeof value !== 'string') return null;
    const decimals = decimalsOf(unit, name, holder);
    return decimals === null ? null : format.write(value, decimals);
  };
}

function listConverter({ items }: Schema, conversion: Conversion): Convert | null {
  const convert = converterOf(items as Schema, conversion);
  return convert && ((value, name, holder) => (value as readonly unknown[]).map((item) => convert(item, name, holder)));
}

function objectConverter(schemas: MemberSchemas, conversion: Conversion): Convert | null {
  const { prepare = (holder: Members) => holder } = conversion;
  const converters = Object.entries(schemas).flatMap(([name, schema]) => {
    const convert = converterOf(schema, conversion);
    return convert === null ? [] : [[name, convert] as const];
  });
  if (converters.length === 0) return null;
  return (value) => {
    if (value === null) return null;
    const holder = prepare(value as Members, schemas);
    return {
      ...holder,
      ...Object.fromEntries(converters.map(([name, convert]) => [name, convert(holder[name], name, holder)])),
    };
  };
}

const RAW_INTEGER = /^raw integer, [^:]*/;

/** The schema of converted values. */
export function convertedSchema(schema: Schema, format: AmountFormat): Schema {
  const { [UNIT]: unit, ...rest } = schema as Schema & { readonly [UNIT]?: Unit };
  if (unit === 'identifier') return { ...rest, description: String(rest.description).replace(RAW_INTEGER, unit) };
  if (unit !== undefined) {
    const isNullable = [rest.type].flat().includes('null') || (format.isNullWithoutMarket && isOfMarket(unit));
    const description = String(rest.description).replace(RAW_INTEGER, format.describe(unit));
    return { ...rest, type: isNullable ? [format.type, 'null'] : format.type, description };
  }
  if (rest.type === 'array') return { ...rest, items: convertedSchema(rest.items as Schema, format) };
  if (rest.properties === undefined) return rest;
  const members = Object.entries(rest.properties as MemberSchemas);
  return {
    ...rest,
    properties: Object.fromEntries(members.map(([name, member]) => [name, convertedSchema(member, format)])),
  };
}
