// TypeScript types of decoded accounts, from the built-in chain definition.

import { camelCase } from '../../client/index.ts';
import type { AccountDefinition, LayoutType, NamedType, StructLayout } from '../../schemas/index.ts';
import { loadDefinition } from '../../schemas/index.ts';

type FieldType = LayoutType | NamedType['type'];
type Fields = readonly { readonly name: string; readonly type: FieldType }[];

const NUMBERS: ReadonlySet<string> = new Set(['u8', 'i8', 'u16', 'i16', 'u32', 'i32']);

/** Collects the declarations of nested structs and enums, each once. */
class Declarations {
  readonly #texts = new Map<string, string>();

  add(name: string, fields: Fields): string {
    if (!this.#texts.has(name)) {
      this.#texts.set(name, '');
      const members = fields.map((field) => `  readonly ${camelCase(field.name)}: ${this.#typeOf(field.type)};`);
      this.#texts.set(name, `export interface ${name} {\n${members.join('\n')}\n}\n`);
    }
    return name;
  }

  get texts(): string[] {
    return [...this.#texts.values()];
  }

  #typeOf(type: FieldType): string {
    switch (type.kind) {
      case 'bool':
        return 'boolean';
      case 'string':
        return 'string';
      case 'pubkey':
        return 'Uint8Array';
      case 'bytes':
        return 'readonly number[]';
      case 'enum':
        return this.#enum(type.name, type.variants);
      case 'struct':
        return this.add(type.layout.name, type.layout.fields);
      case 'option':
        return `${this.#typeOf(type.element)} | null`;
      case 'array':
      case 'vec':
        return `readonly ${this.#typeOf(type.element)}[]`;
      default:
        return NUMBERS.has(type.kind) ? 'number' : 'bigint';
    }
  }

  /** Variants as they are known today; a newer program may have more. */
  #enum(name: string, variants: readonly string[]): string {
    const values = variants.map((variant) => `'${variant}'`).join(' | ');
    this.#texts.set(name, `export type ${name} = ${values} | \`unknown(\${number})\`;\n`);
    return name;
  }
}

function fieldsOf({
  layout,
  tail,
}: {
  readonly layout: StructLayout;
  readonly tail: AccountDefinition['tail'];
}): Fields {
  return [...layout.fields, ...tail];
}

/** The file of types, before formatting. */
export function accountDeclarations(head: string): string {
  const [exchange] = loadDefinition('velocity').programs;
  if (!exchange) throw new Error('the built-in definition has no program');
  const accounts = [...exchange.accounts.values()];
  const declarations = new Declarations();
  for (const account of accounts) declarations.add(account.name, fieldsOf(account));
  const members = accounts.map(({ name }) => `  readonly ${name}: ${name};`);
  return [
    '// Accounts of the Velocity program as the decoder returns them, from the built-in chain definition.',
    head,
    '',
    '/** Account types by name. */',
    `export interface AccountTypes {\n${members.join('\n')}\n}\n`,
    ...declarations.texts,
  ].join('\n');
}
