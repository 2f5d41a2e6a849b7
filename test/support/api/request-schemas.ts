// Compiles every request schema of a server, which the server itself does at the first request that needs one.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { convertingValidator } from '../../../api/http/request-validators.ts';

const MADE = 'fastify.initialization';
const PARTS = ['params', 'querystring', 'headers', 'body'] as const;

/** Makes a server. Returns the method, path and part of each of its request schemas, with the fault of one that does not compile. */
export async function requestSchemas(
  make: () => Promise<FastifyInstance>,
): Promise<readonly { readonly at: string; readonly fault: string | null }[]> {
  const routes: RouteOptions[] = [];
  const watch = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => {
      routes.push(route);
    });
  };
  subscribe(MADE, watch);
  const app = await make().finally(() => unsubscribe(MADE, watch));
  await app.close();
  return routes.flatMap(({ method, url, schema, validatorCompiler }) =>
    PARTS.flatMap((part) => {
      const given = schema?.[part];
      if (!given) return [];
      const compile = validatorCompiler ?? convertingValidator;
      const validate = compile({ schema: given, method: String(method), url, httpPart: part });
      return [{ at: `${method} ${url} ${part}`, fault: faultOf(validate) }];
    }),
  );
}

function faultOf(validate: (data: unknown) => unknown): string | null {
  try {
    validate({});
    return null;
  } catch (error) {
    return String(error);
  }
}
