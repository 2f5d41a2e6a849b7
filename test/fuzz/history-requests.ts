// Requests generated from the history service's own contract: every parameter inside, on and outside its bounds and of the wrong
// kind, sometimes with existing names, so that many pass the first check.

import fc from 'fast-check';
import { ODD_NUMBERS } from '../support/api/odd-numbers.ts';

export interface ParameterContract {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: ParameterSchema;
}

interface ParameterSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export interface OperationContract {
  readonly parameters?: readonly ParameterContract[];
  /** Names of security schemes by requirement. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export interface ContractDocument {
  readonly paths: Readonly<Record<string, { readonly get?: OperationContract }>>;
}

export interface GeneratedRequest {
  /** In the contract's spelling. */
  readonly path: string;
  readonly url: string;
}

/** Values that exist, by parameter name. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

const JUNK = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ...ODD_NUMBERS,
    '0',
    '-1',
    '1e3',
    'null',
    '[]',
    '{}',
    "' OR 1=1 --",
    '../..',
    '%',
    '\u0000',
    'x'.repeat(2_000),
  ),
);

function sound(name: string, schema: ParameterSchema, known: KnownValues): fc.Arbitrary<string> {
  const values = known[name];
  if (values && values.length > 0) return fc.constantFrom(...values);
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === 'integer') {
    const { minimum = -5, maximum = 5_000_000_000 } = schema;
    return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum })).map(String);
  }
  if (schema.type === 'boolean') return fc.constantFrom('true', 'false');
  return fc.string({ minLength: 1, maxLength: Math.min(schema.maxLength ?? 20, 40) });
}

/** Just outside the schema, or of another kind. */
function unsound({ type, minimum, maximum, enum: allowed }: ParameterSchema): fc.Arbitrary<string> {
  const odd = type === 'integer' || type === 'number' ? ODD_NUMBERS : [];
  const beside = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]]
    .flat()
    .map(String);
  const near = allowed ? allowed.map((value) => `${value}x`) : [...beside, ...odd];
  return near.length > 0 ? fc.oneof(fc.constantFrom(...near), JUNK) : JUNK;
}

const SOUND_WEIGHT = 9;

function generated({ name, schema }: ParameterContract, known: KnownValues): fc.Arbitrary<string> {
  return fc.oneof({ weight: SOUND_WEIGHT, arbitrary: sound(name, schema, known) }, unsound(schema));
}

/** Requests of each path of the contract. */
export function historyRequests(
  document: ContractDocument,
  known: KnownValues,
): readonly fc.Arbitrary<GeneratedRequest>[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [request(path, get, known)] : []));
}

/** A request of a path with existing names and required parameters only: some of these must succeed. */
export function soundRequests(path: string, operation: OperationContract, known: KnownValues): fc.Arbitrary<string> {
  const { parameters = [] } = operation;
  // A market is named in one of two ways, so neither is required by itself.
  const wanted = parameters.filter(({ name, required }) => required || name === 'marketName');
  return fc.tuple(...wanted.map(({ name, schema }) => sound(name, schema, known))).map((values) => {
    const valueOfName = new Map(wanted.map(({ name }, index) => [name, encodeURIComponent(values[index] ?? '')]));
    const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => valueOfName.get(name) ?? '');
    const query = wanted.filter((one) => one.in === 'query').map(({ name }) => `${name}=${valueOfName.get(name)}`);
    return query.length === 0 ? inPath : `${inPath}?${query.join('&')}`;
  });
}

function request(
  path: string,
  { parameters = [] }: OperationContract,
  known: KnownValues,
): fc.Arbitrary<GeneratedRequest> {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const segments = fc.tuple(...inPath.map((parameter) => generated(parameter, known)));
  const members = fc.tuple(
    ...inQuery.map((parameter) =>
      fc.option(generated(parameter, known), { freq: parameter.required ? SOUND_WEIGHT : 2, nil: null }),
    ),
  );
  return fc.tuple(segments, members).map(([values, options]) => {
    const filled = inPath.reduce(
      // An empty segment would be another path.
      (url, { name }, index) => url.replace(`{${name}}`, () => encodeURIComponent(values[index] || '-')),
      path,
    );
    const query = inQuery.flatMap(({ name }, index) => {
      const value = options[index];
      return value === null || value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
    });
    return { path, url: query.length === 0 ? filled : `${filled}?${query.join('&')}` };
  });
}
