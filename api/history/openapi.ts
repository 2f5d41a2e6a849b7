// The machine-readable contract: an OpenAPI 3.1 document assembled from the schemas of the registered routes, the same
// objects that validate their requests.

import type { FastifyInstance, RouteOptions } from 'fastify';

interface Schema {
  readonly description?: string;
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

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

/** Collects routes registered after this call; the returned function makes the document of those that have a schema. */
export function collectOpenApi(app: FastifyInstance, info: OpenApiInfo): () => object {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.schema && route.method !== 'HEAD') routes.push(route);
  });
  return () => {
    const paths: Record<string, Record<string, object>> = {};
    for (const { url, method, schema } of routes) {
      const path = url.replace(/:(\w+)/g, '{$1}');
      const operations = paths[path] ?? {};
      paths[path] = operations;
      for (const name of [method].flat()) operations[name.toLowerCase()] = operation(schema as RouteSchema);
    }
    return { openapi: '3.1.0', info, paths };
  };
}

function operation({ summary, tags, params, querystring, response }: RouteSchema): object {
  return {
    ...(summary ? { summary } : {}),
    ...(tags ? { tags } : {}),
    parameters: [...parameters('path', params), ...parameters('query', querystring)],
    responses: Object.fromEntries(
      Object.entries(response ?? {}).map(([status, { description, ...schema }]) => [
        status,
        { description: description ?? `status ${status}`, content: { 'application/json': { schema } } },
      ]),
    ),
  };
}

function parameters(place: 'path' | 'query', schema: Schema | undefined): readonly object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    ...(description ? { description } : {}),
    schema: rest,
  }));
}
