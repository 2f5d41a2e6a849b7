// GET /openapi.json and /asyncapi.json: the contracts, made once when first asked for.

import type { FastifyInstance } from 'fastify';
import { asyncApi } from '../../gateway/asyncapi.ts';
import { ASYNCAPI_CONTRACT, OPENAPI_CONTRACT } from '../contracts/service.ts';
import { serve } from '../route.ts';

/** `openApi` makes the document of every route, so it is called after all of them are registered. */
export function contractRoutes(app: FastifyInstance, openApi: () => object): void {
  const served = [
    { path: '/openapi.json', contract: OPENAPI_CONTRACT, make: openApi },
    { path: '/asyncapi.json', contract: ASYNCAPI_CONTRACT, make: asyncApi },
  ];
  for (const { path, contract, make } of served) {
    let json: string | null = null;
    serve(app, path, contract, async (_given, _request, reply) => {
      json ??= JSON.stringify(make());
      return reply.type('application/json; charset=utf-8').send(json);
    });
  }
}
