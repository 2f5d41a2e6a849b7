// The machine-readable contract of a REST service: an OpenAPI 3.1 document of its registered routes.
// Not `@fastify/swagger`: it documents validation schemas only, and order-book routes read requests by descriptors instead.

import type { FastifyInstance, RouteOptions } from 'fastify';
import { inputSchema, type Parameters } from './inputs.ts';
import type { JsonSchema } from './json-schema.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's part of `/openapi.json`. The route reads its parameters by these descriptors. */
    readonly contract?: RouteContract;
  }
}

interface Schema {
  readonly description?: string;
  /** Description of the CSV body, for answers with a CSV form. */
  readonly csv?: string;
  /** Description of the Parquet body, for answers with a Parquet form. */
  readonly parquet?: string;
  /** The media type of the body where it is not JSON. */
  readonly mediaType?: string;
  /** Headers of the answer, by name. */
  readonly headers?: object;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Names of security schemes: all of them together let a request in. Empty: no scheme is needed. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

interface RouteSchema {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly params?: Schema;
  readonly querystring?: Schema;
  /** Schema of a JSON body that the route checks itself. */
  readonly requestBody?: Schema;
  readonly body?: Schema;
  /** One of these lets a request in. The route checks it itself. */
  readonly security?: readonly SecurityRequirement[];
  readonly response?: Readonly<Record<string, Schema>>;
}

export interface Answer {
  readonly description: string;
  /** Body by media type. */
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** By HTTP status. */
export type Answers = Readonly<Record<string, Answer>>;

/** Contract of a route that reads its request by descriptors. */
export interface RouteContract<P extends Parameters = Parameters> {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: P;
  /** Schema of an object with the headers as members. */
  readonly headers?: JsonSchema;
  /** Names of security schemes; one is enough. Null: some requests need none. */
  readonly security?: readonly (string | null)[];
  readonly answers: Answers;
}

export interface OpenApiComponents {
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  readonly securitySchemes?: Readonly<Record<string, object>>;
}

/** A group of operations, in the order of the document. */
export interface OpenApiTag {
  readonly name: string;
  readonly description: string;
}

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

const JSON_TYPE = 'application/json';
/** Additions of entity tags to a route. */
const WEAK_ETAG = {
  request: {
    properties: {
      'If-None-Match': { type: 'string', description: 'entity tags of cached bodies, or `*`' },
    },
  },
  headers: { ETag: { description: 'weak entity tag of the body', schema: { type: 'string' } } },
};
const CSV_TYPE = 'text/csv';
export const PARQUET_TYPE = 'application/vnd.apache.parquet';

/**
 * Collects the routes registered after this call. The returned function renders the document of the routes that have a
 * contract or a schema. Contracts refer to `components`.
 */
export function collectOpenApi(
  app: FastifyInstance,
  info: OpenApiInfo,
  { components, tags }: { readonly components?: OpenApiComponents; readonly tags?: readonly OpenApiTag[] } = {},
): () => object {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if ((route.config?.contract || isDescribed(route)) && route.method !== 'HEAD') routes.push(route);
  });
  return () => {
    const paths: Record<string, Record<string, object>> = {};
    for (const route of routes) {
      const path = route.url.replace(/:(\w+)/g, '{$1}');
      const operations = paths[path] ?? {};
      paths[path] = operations;
      for (const method of [route.method].flat()) {
        const operationId = operationName(method, path);
        operations[method.toLowerCase()] = { operationId, ...operation(route) };
      }
    }
    return { openapi: '3.1.0', info, ...(tags ? { tags } : {}), paths, ...(components ? { components } : {}) };
  };
}

/** Plugins mark their own routes as hidden. */
function isDescribed({ schema }: RouteOptions): boolean {
  return schema !== undefined && !('hide' in schema && schema.hide === true);
}

function operation({ config, schema }: RouteOptions): object {
  const contract = config?.contract;
  if (!contract) return schemaOperation(schema as RouteSchema);
  const { summary, description, tags, headers, security, answers } = contract;
  const tag = config.hasWeakEtag === true ? WEAK_ETAG : null;
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags,
    parameters: [
      ...parameters('query', inputSchema(contract.parameters)),
      ...parameters('header', headers),
      ...parameters('header', tag?.request),
    ],
    ...(security ? { security: security.map((scheme) => (scheme === null ? {} : { [scheme]: [] })) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { description, content }]) => [
          status,
          {
            description,
            ...(tag && status === '200' ? { headers: tag.headers } : {}),
            content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
          },
        ]),
      ),
      ...(tag ? { 304: { description: 'the client has the current body', headers: tag.headers } } : {}),
    },
  };
}

/** Names methods like client generators do: `get /market/{symbol}/trades` is `getMarketSymbolTrades`. */
function operationName(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [
    method.toLowerCase(),
    ...(words.length === 0 ? ['root'] : words).map((word) => word.charAt(0).toUpperCase() + word.slice(1)),
  ].join('');
}

function schemaOperation(schema: RouteSchema): object {
  const { summary, description, tags, params, querystring, body, requestBody = body, security, response } = schema;
  return {
    ...(summary ? { summary } : {}),
    ...(description ? { description } : {}),
    ...(tags ? { tags } : {}),
    parameters: [...parameters('path', params), ...parameters('query', querystring)],
    ...(security ? { security } : {}),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: requestBody } } } }),
    responses: Object.fromEntries(
      Object.entries(response ?? {}).map(
        ([status, { description, mediaType = JSON_TYPE, csv, parquet, headers, ...schema }]) => [
          status,
          {
            description: description ?? `status ${status}`,
            ...(headers ? { headers } : {}),
            ...(Object.keys(schema).length === 0 ? {} : { content: content(mediaType, schema, csv, parquet) }),
          },
        ],
      ),
    ),
  };
}

function content(mediaType: string, schema: object, csv: string | undefined, parquet: string | undefined): object {
  return {
    [mediaType]: { schema },
    ...(csv === undefined ? {} : { [CSV_TYPE]: { schema: { type: 'string', description: csv } } }),
    ...(parquet === undefined
      ? {}
      : { [PARQUET_TYPE]: { schema: { type: 'string', format: 'binary', description: parquet } } }),
  };
}

function parameters(place: 'path' | 'query' | 'header', schema: Schema | undefined): readonly object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    ...(description ? { description } : {}),
    schema: rest,
  }));
}
