// The machine-readable contract of a REST service: an OpenAPI 3.1 document assembled from its registered routes, either
// from the schemas that validate them or, where requests are read leniently, from the descriptors that read them.

import type { FastifyInstance, RouteOptions } from 'fastify';
import { inputSchema, type Parameters } from './inputs.ts';
import type { JsonSchema } from './json-schema.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What `/openapi.json` says of the route; its parameters are the descriptors that the route reads by. */
    readonly contract?: RouteContract;
  }
}

interface Schema {
  readonly description?: string;
  /** Of an answer that may also come as CSV: what that holds. */
  readonly csv?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface RouteSchema {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly params?: Schema;
  readonly querystring?: Schema;
  readonly response?: Readonly<Record<string, Schema>>;
}

export interface Answer {
  readonly description: string;
  /** Body by media type. */
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** By HTTP status. */
export type Answers = Readonly<Record<string, Answer>>;

/** A route that reads its request by descriptors. */
export interface RouteContract<P extends Parameters = Parameters> {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: P;
  /** Schema of an object whose members are the headers. */
  readonly headers?: JsonSchema;
  /** Names of security schemes of which one is enough; null among them: some requests are let in without any. */
  readonly security?: readonly (string | null)[];
  readonly answers: Answers;
}

export interface OpenApiComponents {
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  readonly securitySchemes?: Readonly<Record<string, object>>;
}

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

const JSON_TYPE = 'application/json';
/** What entity tags add to a route. */
const WEAK_ETAG = {
  request: {
    properties: {
      'If-None-Match': { type: 'string', description: 'entity tags of bodies that the client has, or `*`' },
    },
  },
  headers: { ETag: { description: 'weak entity tag of the body', schema: { type: 'string' } } },
};
const CSV_TYPE = 'text/csv';

/**
 * Collects routes registered after this call; the returned function makes the document of those that have a contract or
 * a schema. Contracts refer to `components`.
 */
export function collectOpenApi(app: FastifyInstance, info: OpenApiInfo, components?: OpenApiComponents): () => object {
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
    return { openapi: '3.1.0', info, paths, ...(components ? { components } : {}) };
  };
}

/** Routes that plugins add for themselves say that they are to be hidden. */
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
      ...(tag ? { 304: { description: 'the body is the one that the client has', headers: tag.headers } } : {}),
    },
  };
}

/** As generators of clients name their methods: `get /market/{symbol}/trades` is `getMarketSymbolTrades`. */
function operationName(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [
    method.toLowerCase(),
    ...(words.length === 0 ? ['root'] : words).map((word) => word.charAt(0).toUpperCase() + word.slice(1)),
  ].join('');
}

function schemaOperation({ summary, tags, params, querystring, response }: RouteSchema): object {
  return {
    ...(summary ? { summary } : {}),
    ...(tags ? { tags } : {}),
    parameters: [...parameters('path', params), ...parameters('query', querystring)],
    responses: Object.fromEntries(
      Object.entries(response ?? {}).map(([status, { description, csv, ...schema }]) => [
        status,
        {
          description: description ?? `status ${status}`,
          content: {
            [JSON_TYPE]: { schema },
            ...(csv === undefined ? {} : { [CSV_TYPE]: { schema: { type: 'string', description: csv } } }),
          },
        },
      ]),
    ),
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
