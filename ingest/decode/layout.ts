// Finds fields of a compiled layout by name, with alternative paths: program revisions move fields between structs.

import type { FieldLayout, LayoutType, StructLayout } from '../../schemas/index.ts';

/** A field with its offset from the start of the account (discriminator included). */
export interface FieldOffset {
  readonly offset: number;
  readonly size: number;
  readonly type: LayoutType;
}

/** The definition is unusable: none of the known paths has a field that ingest needs. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** Definition formats spell names differently (`last24h…`, `last_24h…`), so this drops underscores and case. */
function plain(name: string): string {
  let known = plainNames.get(name);
  if (known === undefined) {
    known = name.replaceAll('_', '').toLowerCase();
    plainNames.set(name, known);
  }
  return known;
}

/** The names of a definition's fields are few, and each is looked for many times. */
const plainNames = new Map<string, string>();

/** The field at the first dotted path that exists, or null. */
export function findField(layout: StructLayout, ...paths: readonly string[]): FieldOffset | null {
  for (const path of paths) {
    const found = walk(layout, path.split('.'));
    if (found) return found;
  }
  return null;
}

/** Like `findField`; throws DefinitionError when none of the paths exists. */
export function requireField(layout: StructLayout, ...paths: readonly string[]): FieldOffset {
  const found = findField(layout, ...paths);
  if (!found) throw new DefinitionError(`${layout.name} has no field ${paths.join(' or ')}`);
  return found;
}

function walk(layout: StructLayout, path: readonly string[]): FieldOffset | null {
  let current = layout;
  let offset = 0;
  for (const [depth, name] of path.entries()) {
    const wanted = plain(name);
    const field: FieldLayout | undefined = current.fields.find((candidate) => plain(candidate.name) === wanted);
    if (!field) return null;
    offset += field.offset;
    if (depth === path.length - 1) return { offset, size: field.size, type: field.type };
    if (field.type.kind !== 'struct') return null;
    current = field.type.layout;
  }
  return null;
}

/** An array of structs in an account. Throws DefinitionError when the field has another type. */
export interface StructArray {
  readonly offset: number;
  readonly length: number;
  /** Bytes of one element. */
  readonly stride: number;
  readonly layout: StructLayout;
}

export function requiredStructArray(layout: StructLayout, path: string): StructArray {
  const { offset, type } = requireField(layout, path);
  if (type.kind !== 'array' || type.element.kind !== 'struct') {
    throw new DefinitionError(`${layout.name}.${path} is not an array of structs`);
  }
  return { offset, length: type.length, stride: type.element.layout.size, layout: type.element.layout };
}

const APPENDED_FROM: Readonly<Record<string, string>> = {
  // Velocity B appends its fields from here on; accounts that have not grown end before them.
  PerpMarket: 'clob_market',
  SpotMarket: '_padding_future',
};

/**
 * Smallest valid size of an account in bytes: all fields except trailing padding and the fields that a later revision
 * appended. Shorter data has another layout.
 */
export function bytesMin(layout: StructLayout): number {
  const appended = APPENDED_FROM[layout.name];
  const first =
    appended === undefined ? undefined : layout.fields.find((field) => plain(field.name) === plain(appended));
  let least = first?.offset ?? layout.size;
  for (const field of [...layout.fields].reverse()) {
    if (field.offset >= least) continue;
    if (!plain(field.name).startsWith('padding')) break;
    least = field.offset;
  }
  return least;
}
