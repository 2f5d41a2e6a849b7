// Registers a route with its contract. The contract's parameter descriptors read the request, so the two cannot differ.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Given, givenParameters, type Parameters } from '../http/contract/inputs.ts';
import type { RouteContract } from '../http/contract/openapi.ts';
import type { Query } from '../http/lenient.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export type Answer<P extends Parameters> = (
  given: Given<P>,
  request: FastifyRequest<{ Querystring: Query }>,
  reply: FastifyReply,
) => Promise<unknown>;

export interface RouteOptions {
  /** See weak-etag.ts. */
  readonly hasWeakEtag?: boolean;
}

export function serve<P extends Parameters>(
  app: FastifyInstance,
  path: string,
  contract: RouteContract<P>,
  answer: Answer<P>,
  { hasWeakEtag = false }: RouteOptions = {},
): void {
  app.get<{ Querystring: Query }>(
    path,
    { config: { contract, ...(hasWeakEtag ? { hasWeakEtag } : {}) } },
    async (request, reply) => answer(givenParameters(contract.parameters, request.query), request, reply),
  );
}
