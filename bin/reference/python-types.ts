// JSON Schemas as Python types, for the Python client: objects are TypedDicts, which cost nothing at runtime.

import { refName } from './ref-name.ts';
import type { Schema } from './schema-text.ts';
import { pascal, union } from './type-declarations.ts';

const PLAIN: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  // The client reads fractions as Decimal, so that no digit is lost.
  number: 'int | Decimal',
  boolean: 'bool',
  null: 'None',
};
const KEYWORDS: ReadonlySet<string> = new Set(
  'from class def global import in is lambda not or pass return'.split(' '),
);

/** A Python literal of a JSON value. */
export function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

/** Words as a text in double quotes, on as many lines as they have. */
export const docstring = (text: string, indent: string): string =>
  `${indent}"""${text.replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""\n`;

const commentOf = (text: string | undefined): string => (text === undefined ? '' : `    #: ${text}\n`);

/** Collects the declarations of objects, each once. Equal objects share the first name. */
export class PythonTypes {
  readonly #texts: string[] = [];
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** Declarations in an order in which each one knows those that it uses. */
  get text(): string {
    return this.#texts.join('\n\n');
  }

  /** The type of a value. `name`: of an object in it that has no name. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return refName(schema.$ref);
    if (schema.const !== undefined) return schema.const === null ? 'None' : `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const variants = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
    if (variants) return union(variants.map((variant) => this.typeOf(variant, name)));
    const types = schema.type === undefined ? [] : [schema.type].flat();
    if (types.length === 0) return 'Any';
    return union(types.map((type) => PLAIN[type] ?? this.#composed(type, schema, name)));
  }

  /** Declares an object under its own name. */
  declare(name: string, schema: Schema): string {
    const key = JSON.stringify(schema);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let free = name;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${name}${number}`;
    this.#taken.add(free);
    this.#names.set(key, free);
    this.#texts.push(this.#classOf(free, schema));
    return free;
  }

  #composed(type: string, schema: Schema, name: string): string {
    if (type === 'array') return this.#listOf(schema, name);
    if (schema.properties) return this.declare(name, schema);
    const { additionalProperties: inner } = schema;
    return `dict[str, ${typeof inner === 'object' ? this.typeOf(inner, name) : 'Any'}]`;
  }

  #listOf({ items }: Schema, name: string): string {
    if (items === undefined) return 'list[Any]';
    if (!Array.isArray(items)) return `list[${this.typeOf(items as Schema, name)}]`;
    // A tuple of JSON is a list in Python.
    return `list[${union(items.map((item) => this.typeOf(item, name)))}]`;
  }

  #classOf(name: string, { properties = {}, required = [], description }: Schema): string {
    const members = Object.entries(properties).map(([member, schema]): Member => {
      const type = this.typeOf(schema, name + pascal(member));
      return { member, type, isRequired: required.includes(member), comment: commentOf(schema.description) };
    });
    const always = members.filter(({ isRequired }) => isRequired);
    const maybe = members.filter(({ isRequired }) => !isRequired);
    const doc = description === undefined ? '' : docstring(description, '    ');
    if (maybe.length === 0) return typedDict(name, '', always, doc);
    if (always.length === 0) return typedDict(name, 'total=False', maybe, doc);
    // Members that may be absent have no other notation in Python 3.10.
    const base = typedDict(`_${name}`, '', always, '');
    return `${base}\n\n${typedDict(name, `_${name}, total=False`, maybe, doc)}`;
  }
}

interface Member {
  readonly member: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly comment: string;
}

/** A TypedDict. One with members whose names are no Python names has the form of a call. */
function typedDict(name: string, bases: string, members: readonly Member[], doc: string): string {
  if (members.every(({ member }) => /^[A-Za-z_]\w*$/.test(member) && !KEYWORDS.has(member))) {
    const lines = members.map(({ comment, member, type }) => `${comment}    ${member}: ${type}\n`).join('');
    const isOwn = bases === '' || bases === 'total=False';
    const head = isOwn ? ['TypedDict', ...(bases === '' ? [] : [bases])].join(', ') : bases;
    return `class ${name}(${head}):\n${`${doc}${lines}` || '    pass\n'}`;
  }
  if (bases.startsWith('_')) throw new Error(`${name} has optional members with names that Python reserves`);
  const lines = members.map(({ comment, member, type }) => `${comment}    ${literal(member)}: ${type},\n`).join('');
  return `${name} = TypedDict(\n    "${name}",\n    {\n${lines}    },\n${bases === '' ? '' : `    ${bases},\n`})\n`;
}
