// Values of Anchor's coders in our form, to compare our decoders with them.

import { PublicKey } from '@solana/web3.js';
import { type NamedType, snakeCase, variantName, type WireType } from '../../../schemas/index.ts';

/** bigint for BN, bytes for keys and byte arrays, variant names for enums, snake case for members. */
function plainValue(value: unknown, type: WireType): unknown {
  switch (type.kind) {
    case 'u64':
    case 'i64':
    case 'u128':
    case 'i128':
      return BigInt(String(value));
    case 'pubkey':
      return value instanceof PublicKey ? value.toBytes() : value;
    case 'bytes':
      return Uint8Array.from(value as number[]);
    case 'enum':
      return variantName(Object.keys(value as object)[0] ?? '');
    case 'option':
      return value === null ? null : plainValue(value, type.element);
    case 'struct':
      return plainFields(value as Record<string, unknown>, type.layout.fields);
    case 'array':
    case 'vec':
      return [...(value as Iterable<unknown>)].map((element) => plainValue(element, type.element));
    default:
      return value;
  }
}

export function plainFields(value: Record<string, unknown>, fields: readonly NamedType[]): Record<string, unknown> {
  const bySnake = new Map(Object.entries(value).map(([name, member]) => [snakeCase(name), member]));
  return Object.fromEntries(fields.map(({ name, type }) => [name, plainValue(bySnake.get(name), type)]));
}
