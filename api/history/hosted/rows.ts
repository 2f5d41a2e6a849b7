// Row members whose values differ between paths below /hosted and the others. All are raw integers here.

import type { Members } from '../amount-decimals.ts';
import type { MemberSchemas } from '../amount-view.ts';
import { type Schema, UNIT } from '../answer-schemas.ts';
import { TX_INDEX } from '../fields.ts';

/** The row with the signs and zeros of the hosted service. */
export function hostedRow({ [TX_INDEX.name]: _, ...row }: Members, schemas: MemberSchemas): Members {
  if ('makerRebate' in schemas) return { ...row, makerRebate: signedRebate(row) };
  return 'liquidationType' in schemas ? withZeros(row, schemas) : row;
}

/** The schema of an answer without the member that the hosted service lacks. */
export function hostedMembers(schema: Schema): Schema {
  if (schema.type === 'array') return { ...schema, items: hostedMembers(schema.items as Schema) };
  if (schema.properties === undefined) return schema;
  const { [TX_INDEX.name]: _, ...properties } = schema.properties as MemberSchemas;
  const members = Object.entries(properties).map(([name, member]) => [name, hostedMembers(member)]);
  const required = (schema.required as readonly string[] | undefined)?.filter((name) => name !== TX_INDEX.name);
  return { ...schema, properties: Object.fromEntries(members), ...(required && { required }) };
}

/** The hosted rebate has the sign of the fee it lowers. */
function signedRebate({ makerFee }: Members): string {
  const fee = String(makerFee ?? '0');
  return fee.startsWith('-') ? fee : '0';
}

/** Amounts and indexes of other liquidation types become zeros, as the chain stores them; keys stay null. */
function withZeros(row: Members, schemas: MemberSchemas): Members {
  const zeros = Object.entries(schemas)
    .filter(([name]) => name.includes('_') && row[name] === null)
    .flatMap(([name, schema]) => {
      if (schema[UNIT] !== undefined) return [[name, '0']];
      return isInteger(schema) ? [[name, 0]] : [];
    });
  return zeros.length === 0 ? row : { ...row, ...Object.fromEntries(zeros) };
}

const isInteger = ({ type }: Members): boolean => [type].flat().includes('integer');
