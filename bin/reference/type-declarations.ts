// JSON Schemas as TypeScript, for the types of the client.

import { refName } from './ref-name.ts';
import type { Schema } from './schema-text.ts';

const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const indent = (text: string): string => text.replaceAll('\n', '\n  ');

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Name of an object type that has one. */
export type Named = (schema: Schema) => string | null;

/** The TypeScript type of a value. */
export function typeOf(schema: Schema, named: Named = () => null): string {
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const variants = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (variants) return union(variants.map((variant) => typeOf(variant, named)));
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0) return 'unknown';
  return union(
    types.map((type) => PLAIN[type] ?? (type === 'array' ? listOf(schema, named) : objectOf(schema, named))),
  );
}

/** A type of one of the types, in TypeScript and in Python. */
export function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function listOf({ items }: Schema, named: Named): string {
  if (items === undefined) return 'readonly unknown[]';
  if (Array.isArray(items)) return `readonly [${items.map((item) => typeOf(item, named)).join(', ')}]`;
  const element = typeOf(items as Schema, named);
  return /[ |]/.test(element) ? `readonly (${element})[]` : `readonly ${element}[]`;
}

function objectOf(schema: Schema, named: Named): string {
  const { properties, required = [], additionalProperties } = schema;
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, named) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  return named(schema) ?? bodyOf(properties, required, named);
}

function bodyOf(properties: Readonly<Record<string, Schema>>, required: readonly string[], named: Named): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema.description)}readonly ${memberName(name)}${mark}: ${typeOf(schema, named)};`;
  });
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{\n  ${members.map(indent).join('\n  ')}\n}`;
}

/** A description as a doc comment on the lines before a declaration. */
export function comment(description: string | undefined): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '*\u200b/')} */\n`;
}

/** An exported declaration. */
export function declaration(name: string, schema: Schema, named: Named = () => null): string {
  const text = typeOf(schema, (one) => (one === schema ? null : named(one)));
  const isObject = text.startsWith('{');
  return `${comment(schema.description)}export ${isObject ? `interface ${name} ${text}` : `type ${name} = ${text};`}\n`;
}

/** "/user/{id}" as "UserId". */
export function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
