// Looks fields up in a compiled layout by name, with alternatives: revisions of the program move fields between structs.

import type { FieldLayout, LayoutType, StructLayout } from '../../schemas/index.ts';

/** A field with its offset from the start of the account (discriminator included). */
export interface Place {
  readonly offset: number;
  readonly size: number;
  readonly type: LayoutType;
}

/** Thrown when a definition cannot be used: a field the ingester needs is in none of the known places. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** Spelling differs between definition formats (`last24h…`, `last_24h…`), so underscores and case do not count. */
function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** The first of the dotted paths that exists, or null. */
export function place(layout: StructLayout, ...paths: readonly string[]): Place | null {
  for (const path of paths) {
    const found = walk(layout, path.split('.'));
    if (found) return found;
  }
  return null;
}

/** Like `place`; throws DefinitionError when none of the paths exists. */
export function requiredPlace(layout: StructLayout, ...paths: readonly string[]): Place {
  const found = place(layout, ...paths);
  if (!found) throw new DefinitionError(`${layout.name} has no field ${paths.join(' or ')}`);
  return found;
}

function walk(layout: StructLayout, path: readonly string[]): Place | null {
  let current = layout;
  let offset = 0;
  for (const [depth, name] of path.entries()) {
    const field: FieldLayout | undefined = current.fields.find((candidate) => plain(candidate.name) === plain(name));
    if (!field) return null;
    offset += field.offset;
    if (depth === path.length - 1) return { offset, size: field.size, type: field.type };
    if (field.type.kind !== 'struct') return null;
    current = field.type.layout;
  }
  return null;
}

/** Where an array of structs lies. Throws DefinitionError when the field is something else. */
export interface StructArray {
  readonly offset: number;
  readonly length: number;
  /** Bytes of one element. */
  readonly stride: number;
  readonly layout: StructLayout;
}

export function requiredStructArray(layout: StructLayout, path: string): StructArray {
  const { offset, type } = requiredPlace(layout, path);
  if (type.kind !== 'array' || type.element.kind !== 'struct') {
    throw new DefinitionError(`${layout.name}.${path} is not an array of structs`);
  }
  return { offset, length: type.length, stride: type.element.layout.size, layout: type.element.layout };
}

const APPENDED_FROM: Readonly<Record<string, string>> = {
  // protocol.md: B appends to A from these fields on; accounts not yet grown end before them.
  PerpMarket: 'clob_market',
  SpotMarket: '_padding_future',
};

/**
 * Fewest bytes an account of this layout may have: all but trailing padding and the fields that a later revision
 * appended. Shorter data is of another layout and must not be read.
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
