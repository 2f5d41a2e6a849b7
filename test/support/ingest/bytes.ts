// Account bytes for tests: random but valid for a layout, or with single fields set.

import type { AccountDefinition, LayoutType, StructLayout } from '../../../schemas/index.ts';
import { fieldOf, sizeOf } from '../../../schemas/index.ts';
import { seededRandom } from '../platform/chance.ts';

/** Random account bytes with valid enums and bools. */
export function randomAccount(definition: AccountDefinition, seed: number): Buffer {
  const next = seededRandom(seed);
  const bytes = Buffer.alloc(definition.layout.size);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(next() * 256);
  bytes.set(definition.discriminator, 0);
  makeValid({ kind: 'struct', layout: definition.layout }, bytes, 0);
  return bytes;
}

function makeValid(type: LayoutType, bytes: Buffer, at: number): void {
  if (type.kind === 'bool') bytes[at] = (bytes[at] ?? 0) & 1;
  else if (type.kind === 'enum') bytes[at] = (bytes[at] ?? 0) % type.variants.length;
  else if (type.kind === 'struct') {
    for (const field of type.layout.fields) makeValid(field.type, bytes, at + field.offset);
  } else if (type.kind === 'array') {
    const stride = sizeOf(type.element);
    for (let index = 0; index < type.length; index++) makeValid(type.element, bytes, at + index * stride);
  }
}

/** An account of zeros with its discriminator. */
export function blankAccount(definition: AccountDefinition): Buffer {
  const bytes = Buffer.alloc(definition.layout.size);
  bytes.set(definition.discriminator, 0);
  return bytes;
}

/** Sets a field such as `orders.3.price`; enums by variant name. Throws when the layout lacks it. */
export function setField(
  bytes: Buffer,
  layout: StructLayout,
  path: string,
  value: number | bigint | boolean | string | Uint8Array,
  start = 0,
): void {
  const field = fieldOf(layout, path);
  if (!field) throw new Error(`${layout.name} has no ${path}`);
  const at = start + field.offset;
  const { type } = field;
  if (value instanceof Uint8Array) bytes.set(value, at);
  else if (type.kind === 'enum') bytes[at] = type.variants.indexOf(String(value));
  else {
    let rest = BigInt.asUintN(field.size * 8, BigInt(value));
    for (let index = 0; index < field.size; index++, rest >>= 8n) bytes[at + index] = Number(rest & 0xffn);
  }
}
