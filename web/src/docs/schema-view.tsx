// A schema as a list of members. Nested ones open on demand, so that a schema may name itself.

import { useSignal } from '@preact/signals';
import { nameOf, resolve, type Schema } from './documents.ts';

export interface SchemaProps {
  readonly document: object;
  readonly schema: Schema;
}

/** One line: the type, its values and its bounds. */
export function typeText(document: object, schema: Schema): string {
  const found = resolve(document, schema);
  if (schema.$ref !== undefined) return nameOf(schema);
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(', ');
  const choices = found.oneOf ?? found.anyOf;
  if (choices) return choices.map((choice) => typeText(document, choice)).join(' or ');
  if (found.items) return `list of ${typeText(document, found.items)}`;
  const type = [found.type ?? 'any'].flat().join(' or ');
  const bounds = [
    ...(found.minimum === undefined ? [] : [`from ${found.minimum}`]),
    ...(found.maximum === undefined ? [] : [`to ${found.maximum}`]),
  ];
  return [type, ...bounds].join(' ');
}

/** Schemas inside a schema that have members of their own. */
function innerOf(document: object, schema: Schema): readonly (readonly [string, Schema])[] {
  const found = resolve(document, schema);
  const parts = [...(found.oneOf ?? []), ...(found.anyOf ?? []), ...(found.allOf ?? []), ...(found.prefixItems ?? [])];
  if (found.items) parts.push(found.items);
  if (typeof found.additionalProperties === 'object') parts.push(found.additionalProperties);
  return parts
    .filter((part) => hasMembers(document, part))
    .map((part, index) => [nameOf(part) || `part ${index + 1}`, part] as const);
}

function hasMembers(document: object, schema: Schema): boolean {
  const found = resolve(document, schema);
  return found.properties !== undefined || innerOf(document, found).length > 0;
}

export function SchemaView({ document, schema }: SchemaProps) {
  const found = resolve(document, schema);
  const required = new Set(found.required ?? []);
  const members = Object.entries(found.properties ?? {});
  return (
    <div class="schema">
      {found.description ? <p class="muted">{found.description}</p> : null}
      {members.length === 0 ? (
        <p class="key">{typeText(document, found)}</p>
      ) : (
        <ul>
          {members.map(([name, member]) => (
            <li key={name}>
              <code>{name}</code> <span class="muted">{typeText(document, member)}</span>
              {required.has(name) ? null : <span class="optional"> may be absent</span>}
              {resolve(document, member).description ? <> · {resolve(document, member).description}</> : null}
              {hasMembers(document, member) ? <Nested document={document} schema={member} label={name} /> : null}
            </li>
          ))}
        </ul>
      )}
      {innerOf(document, found).map(([name, inner]) => (
        <Nested key={name} document={document} schema={inner} label={name} />
      ))}
    </div>
  );
}

function Nested({ document, schema, label }: SchemaProps & { readonly label: string }) {
  const isOpen = useSignal(false);
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>Members of {label}</summary>
      {isOpen.value ? <SchemaView document={document} schema={schema} /> : null}
    </details>
  );
}
