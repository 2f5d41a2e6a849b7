// How a route of the order-book server is registered: with its contract, by whose descriptors its request is read.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Given, givenParameters, type Parameters } from '../contract/inputs.ts';
import type { RouteContract } from '../contract/openapi.ts';
import type { Query } from '../lenient.ts';

export type Answer<P extends Parameters> = (
  given: Given<P>,
  request: FastifyRequest<{ Querystring: Query }>,
  reply: FastifyReply,
) => Promise<unknown>;

export interface RouteOptions {
  /** As in weak-etag.ts. */
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
