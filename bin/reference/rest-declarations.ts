// TypeScript types of a REST service, from its OpenAPI document.

import { answerOf, type Entry, entriesOf, JSON_TYPE, type Operation, type Paths } from './rest-operations.ts';
import type { Schema } from './schema-text.ts';
import { comment, declaration, type Named, pascal, typeOf } from './type-declarations.ts';

/** Names of rows: objects in lists of answers. Equal rows share the name of the first operation that has them. */
class Rows {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly schemas = new Map<string, Schema>();

  readonly named: Named = (schema) => this.#names.get(JSON.stringify(schema)) ?? null;

  collect(schema: Schema, name: string): void {
    if (Array.isArray(schema.items)) return;
    const items = schema.items as Schema | undefined;
    if (items) {
      if (items.properties) this.#add(items, name);
      this.collect(items, name);
    }
    for (const [member, inner] of Object.entries(schema.properties ?? {})) {
      this.collect(inner, member === 'records' ? `${name}Record` : name + pascal(member));
    }
    for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) this.collect(inner, name);
  }

  #add(schema: Schema, wanted: string): void {
    const key = JSON.stringify(schema);
    if (this.#names.has(key)) return;
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${wanted}${number}`;
    this.#taken.add(name);
    this.#names.set(key, name);
    this.schemas.set(name, schema);
  }
}

function paramsText({ parameters = [] }: Operation, named: Named): string {
  const own = parameters.filter((parameter) => parameter.in === 'path' || parameter.in === 'query');
  const members = own.map(({ name, required = false, description, schema }) => {
    return `${comment(description)}readonly ${name}${required ? '' : '?'}: ${typeOf(schema, named)};`;
  });
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${members.join('\n')}\n}`;
}

function operationText({ key, operation }: Entry, named: Named): string {
  const answer = answerOf(operation);
  const body = operation.requestBody?.content?.[JSON_TYPE]?.schema;
  const members = [
    `readonly params: ${paramsText(operation, named)};`,
    `readonly body: ${body ? typeOf(body, named) : 'undefined'};`,
    `readonly answer: ${answer ? typeOf(answer, named) : 'undefined'};`,
  ];
  return `${comment(operation.summary)}readonly '${key}': {\n${members.join('\n')}\n};`;
}

/** The service as the file names it: in words, and as the prefix of its type. */
export interface Service {
  readonly words: string;
  readonly prefix: string;
}

/** The file of types, before formatting. */
export function restDeclarations(document: Paths, { words, prefix }: Service, head: string): string {
  const entries = entriesOf(document);
  const rows = new Rows();
  for (const { path, operation } of entries) {
    const answer = answerOf(operation);
    if (answer) rows.collect(answer, pascal(path.replaceAll(/\{\w+\}/g, '')));
  }
  const types = [...rows.schemas, ...Object.entries(document.components?.schemas ?? {})];
  return [
    `// Operations of the ${words} REST, from the document that the service serves at /openapi.json.`,
    head,
    '',
    '/** Parameters, body and answer of each operation, by method and path. */',
    `export interface ${prefix}Operations {\n${entries.map((entry) => operationText(entry, rows.named)).join('\n')}\n}\n`,
    ...signedText(entries),
    ...types.map(([name, schema]) => declaration(name, schema, rows.named)),
  ].join('\n');
}

/** The list of signed operations; nothing for a service without any. */
function signedText(entries: readonly Entry[]): readonly string[] {
  const signed = entries.filter(({ isSigned }) => isSigned).map(({ key }) => JSON.stringify(key));
  if (signed.length === 0) return [];
  return [
    '/** Operations that need a wallet signature. */',
    `export const SIGNED_OPERATIONS: readonly string[] = [${signed.join(', ')}];\n`,
  ];
}
