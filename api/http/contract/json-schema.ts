// Builders of JSON Schema. They use only keywords with the same meaning in draft 07 (the default of AsyncAPI 3) and in 2020-12
// (the default of OpenAPI 3.1).

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Members = Readonly<Record<string, JsonSchema>>;

interface ObjectOptions {
  /** Names of members that may be absent. */
  readonly optional?: readonly string[];
  readonly description?: string;
}

/** An object. All members but the optional ones are required. */
export function object(members: Members, { optional = [], description }: ObjectOptions = {}): JsonSchema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    required: Object.keys(members).filter((name) => !optional.includes(name)),
    properties: members,
  };
}

/** An object of members with free names. */
export function record(values: JsonSchema, description: string): JsonSchema {
  return { type: 'object', description, additionalProperties: values };
}

export function list(items: JsonSchema, description?: string): JsonSchema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}

export function text(description: string): JsonSchema {
  return { type: 'string', description };
}

export function choice(values: readonly (string | number | null)[], description?: string): JsonSchema {
  return { enum: values, ...(description === undefined ? {} : { description }) };
}

/** An integer as decimal text. `description` names the unit. */
export function integerText(description: string): JsonSchema {
  return { type: 'string', pattern: '^-?\\d+$', description };
}

/** As integerText, not negative. */
export function amountText(description: string): JsonSchema {
  return { type: 'string', pattern: '^\\d+$', description };
}

/** A whole JSON number of 0 or more, below 2^53. */
export function count(description: string): JsonSchema {
  return { type: 'integer', minimum: 0, description };
}

export function number(description: string): JsonSchema {
  return { type: 'number', description };
}

export function flag(description: string): JsonSchema {
  return { type: 'boolean', description };
}

export function key(description: string): JsonSchema {
  return { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$', description };
}

export function nullable(schema: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}

/** A reference to the document's own components. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** One of several words in any letter case. */
export function anyCase(words: readonly string[], description: string): JsonSchema {
  const patterns = words.map((word) =>
    escaped(word).replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`),
  );
  return { type: 'string', pattern: `^(?:${patterns.join('|')})$`, examples: words, description };
}

/** JSON as text inside JSON. Draft 07 cannot describe the content of a text, so an extension does. */
export function jsonText(schema: JsonSchema, description: string): JsonSchema {
  return { type: 'string', contentMediaType: 'application/json', 'x-contentSchema': schema, description };
}

/** Escapes a text for use in a pattern. */
export function escaped(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
