// Operations in the OpenAPI document of a REST service.

import type { Schema } from './schema-text.ts';

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  /** Names of security schemes by requirement. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface Paths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly in?: string; readonly name?: string }>>;
  };
}

export interface Entry {
  /** Method and path. */
  readonly key: string;
  readonly path: string;
  readonly operation: Operation;
  /** The request carries a wallet signature. */
  readonly isSigned: boolean;
}

export const JSON_TYPE = 'application/json';
const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);
/** The header of this security scheme means that the request carries a wallet signature. */
const SIGNATURE = 'x-signature';

export function entriesOf({ paths, components }: Paths): Entry[] {
  const schemes = components?.securitySchemes ?? {};
  const isSigned = ({ security = [] }: Operation): boolean =>
    security.flatMap(Object.keys).some((scheme) => schemes[scheme]?.name === SIGNATURE);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      METHODS.has(method) && operation
        ? [{ key: `${method.toUpperCase()} ${path}`, path, operation, isSigned: isSigned(operation) }]
        : [],
    ),
  );
}

/** Schema of a successful answer. */
export function answerOf({ responses }: Operation): Schema | undefined {
  const [, ok] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return ok?.content?.[JSON_TYPE]?.schema;
}
