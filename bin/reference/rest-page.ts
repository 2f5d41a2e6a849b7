// The reference page of a REST service, from the OpenAPI document that it serves.

import { anchorOf, bullets, code, fenced, page, sentence, table, written } from './markdown.ts';
import { exampleOf, jsonLines, memberRows, type Schema, type Schemas, typeText } from './schema-text.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Names of security schemes by requirement; an empty one means that none is needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Schemas; readonly securitySchemes?: SecuritySchemes };
}

/** Schemes of the type `apiKey`, by name. */
type SecuritySchemes = Readonly<
  Record<string, { readonly in: string; readonly name: string; readonly description?: string }>
>;

export interface RestPage {
  readonly title: string;
  /** Where the service listens by default. */
  readonly origin: string;
  /** Text before the operations. */
  readonly lead: string;
}

const JSON_TYPE = 'application/json';
const OK = '200';
/** Rows from which on a member is listed once. */
const LONG_MEMBER = 8;

const headingOf = (method: string, path: string): string => `${method.toUpperCase()} ${path}`;

function parameterTable(parameters: readonly Parameter[]): string | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    code(name),
    place,
    required ? 'required' : schema.default === undefined ? '' : code(String(schema.default)),
    typeText(schema),
    description ?? '',
  ]);
  return table(['Parameter', 'In', 'Default', 'Values', 'Meaning'], rows);
}

/** The headers of security schemes that a request has, or may have. */
function securityTable({ security = [] }: Operation, schemes: SecuritySchemes): string | null {
  const names = [...new Set(security.flatMap(Object.keys))];
  if (names.length === 0) return null;
  const isOptional = security.some((requirement) => Object.keys(requirement).length === 0);
  const rows = names.map((name) => [code(schemes[name]?.name ?? name), schemes[name]?.description ?? '']);
  return table([isOptional ? 'Security header, optional' : 'Security header, required', 'Meaning'], rows);
}

const bodyOf = ({ requestBody }: Operation): Schema | null => requestBody?.content[JSON_TYPE]?.schema ?? null;

function bodyTable(operation: Operation): string | null {
  const body = bodyOf(operation);
  if (body === null) return null;
  const rows = Object.entries(body.properties ?? {}).map(([name, schema]) => [
    code(name),
    body.required?.includes(name) ? 'required' : schema.default === undefined ? '' : code(String(schema.default)),
    typeText(schema),
    schema.description ?? '',
  ]);
  return table(['Member of the body', 'Default', 'Values', 'Meaning'], rows);
}

/** Flags of a request with a body: its required members. */
function bodyFlags(operation: Operation): string {
  const body = bodyOf(operation);
  if (body === null) return '';
  const required = Object.entries(body.properties ?? {}).filter(([name]) => body.required?.includes(name));
  const members = Object.fromEntries(required.map(([name, schema]) => [name, exampleOf(schema, {}, name)]));
  return ` -H 'content-type: application/json' -d '${JSON.stringify(members)}'`;
}

/** The request with its required parameters; of those that are optional, the ones that name a market. */
function requestOf(origin: string, path: string, operation: Operation): string {
  const { parameters } = operation;
  const textOf = ({ name, schema }: Parameter) => String(exampleOf(schema, {}, name));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name);
    return parameter ? textOf(parameter) : name;
  });
  const asked = parameters.filter((one) => one.in === 'query' && (one.required || one.name === 'marketName'));
  const query = asked.map((one) => `${one.name}=${textOf(one)}`).join('&');
  return `curl '${origin}${filled}${query === '' ? '' : `?${query}`}'${bodyFlags(operation)}`;
}

/** Failures whose texts the document gives stand in a table; others by status. */
function failures(responses: Operation['responses']): string | null {
  const rows: string[][] = [];
  const others: string[] = [];
  for (const [status, { description, content = {} }] of Object.entries(responses)) {
    if (status === OK) continue;
    const texts = content['text/plain']?.schema.anyOf ?? [];
    for (const text of texts) {
      const literal = String(text.const ?? text.examples?.[0]);
      rows.push([status, `${code(literal)}${text.const === undefined ? ' ...' : ''}`, retryOf(text.description ?? '')]);
    }
    const body = content[JSON_TYPE]?.schema;
    if (texts.length > 0 && !body) continue;
    if (description === `status ${status}`) others.push(status);
    else rows.push([status, body ? `${description}; ${code(jsonLines(exampleOf(body, {})))}` : description, '']);
  }
  const errors = others.length === 0 ? null : `Also ${others.join(', ')}: see [errors](errors.md#history-rest).`;
  if (rows.length === 0) return errors;
  return [table(['Status', 'Answer', 'Retry helps'], rows), ...(errors === null ? [] : [errors])].join('\n\n');
}

const retryOf = (description: string): string => (description.includes('may succeed') ? 'yes' : 'no');

/** Writes answers; of equal ones the first is listed, and the others link to it. */
class Answers {
  readonly #schemas: Schemas;
  readonly #headings = new Map<string, string>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  of(heading: string, response: Response | undefined): string | null {
    if (!response) return null;
    const blocks = [`Answer: ${response.description}.`];
    for (const [type, { schema }] of Object.entries(response.content ?? {})) {
      if (type !== JSON_TYPE) {
        blocks.push(
          `As ${code(type)}: ${schema.const === undefined ? (schema.description ?? 'text') : code(String(schema.const))}.`,
        );
      } else blocks.push(...this.#json(heading, schema));
    }
    return blocks.join('\n\n');
  }

  #json(heading: string, schema: Schema): readonly string[] {
    const all = memberRows(schema);
    const rows = this.#shortened(heading, schema, all);
    if (rows.length < all.length) return [table(['Member', 'Type', 'Meaning'], rows)];
    const key = JSON.stringify(rows);
    const earlier = this.#headings.get(key);
    if (rows.length > 0 && earlier !== undefined)
      return [`Members as those of [${code(earlier)}](#${anchorOf(earlier)}).`];
    this.#headings.set(key, heading);
    const members = rows.length === 0 ? `Body: ${typeText(schema)}.` : table(['Member', 'Type', 'Meaning'], rows);
    if (schema.type === 'object' && !schema.properties) return [members];
    return [members, fenced('json', jsonLines(exampleOf(schema, this.#schemas)))];
  }

  /** Long members that an earlier answer has too are one row with a link. */
  #shortened(heading: string, schema: Schema, rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
    const kept: (readonly string[])[] = [];
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const own = rows.filter(([path = '']) => isBelow(path, name));
      const key = JSON.stringify(memberRows(member));
      const earlier = own.length > LONG_MEMBER ? this.#headings.get(key) : undefined;
      if (earlier === undefined) {
        kept.push(...own);
        this.#headings.set(key, this.#headings.get(key) ?? heading);
      } else kept.push([code(name), typeText(member), `as in [${code(earlier)}](#${anchorOf(earlier)})`]);
    }
    return schema.properties ? kept : rows;
  }
}

/** Whether a path in backticks is that of a member or of something in it. */
function isBelow(path: string, name: string): boolean {
  const bare = path.slice(1, -1);
  return bare === name || bare.startsWith(`${name}.`) || bare.startsWith(`${name}[`);
}

/** The page as Markdown. */
export function restPage({ title, origin, lead }: RestPage, { info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, operation, heading: headingOf(method, path) })),
  );
  const schemas = components?.schemas ?? {};
  const answers = new Answers(schemas);
  return page([
    `# ${title}`,
    written('the OpenAPI document that the service makes of its routes'),
    lead,
    bullets(info.description),
    'Examples show the form of a message. Their values are not those of a market.',
    table(
      ['Operation', 'Answers'],
      operations.map(({ heading, operation }) => [
        `[${code(heading)}](#${anchorOf(heading)})`,
        operation.summary ?? '',
      ]),
    ),
    ...operations.flatMap(({ path, operation, heading }) => [
      `## ${heading}`,
      [sentence(operation.summary ?? ''), sentence(operation.description ?? '')].join(' ').trim(),
      parameterTable(operation.parameters),
      securityTable(operation, components?.securitySchemes ?? {}),
      bodyTable(operation),
      fenced('sh', requestOf(origin, path, operation)),
      answers.of(heading, operation.responses[OK]),
      failures(operation.responses),
    ]),
    ...sharedTypes(schemas),
  ]);
}

/** A section for each schema that others refer to. */
export function sharedTypes(schemas: Schemas): readonly string[] {
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const rows = memberRows(schema);
    const shape = rows.length === 0 ? sentence(typeText(schema)) : table(['Member', 'Type', 'Meaning'], rows);
    return [`## ${name}`, sentence(schema.description ?? ''), shape];
  });
}
