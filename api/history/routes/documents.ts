// The contract, and the path of the WebSocket for clients that do not ask for an upgrade.

import type { FastifyInstance } from 'fastify';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { described, errorResponses } from '../route-schemas.ts';

/** Groups of operations, as published. */
export const TAGS = [
  { name: 'Market', description: 'history of a market' },
  { name: 'User', description: 'history of an account' },
  { name: 'Authority', description: 'views by wallet' },
  { name: 'Stats', description: 'the whole exchange: summaries, aggregates, boards, parameters, this document' },
  { name: 'AMM', description: 'series of the automated market maker' },
  { name: 'Notifications', description: 'the feed, preferences and devices of a wallet' },
  { name: 'WebSocket', description: 'live channels' },
] as const;

/** `contract` renders the document of all routes of this scope. */
export function documentRoutes(app: FastifyInstance, contract: () => object): void {
  let document: object | null = null;
  app.get(
    '/openapi.json',
    {
      schema: described({
        summary: 'This document',
        tags: ['Stats'],
        response: { 200: { description: 'an OpenAPI 3.1 document', type: 'object' }, ...errorResponses },
      }),
    },
    async () => {
      document ??= contract();
      return document;
    },
  );
  app.get(
    '/ws',
    {
      schema: described({
        summary: 'WebSocket; `/asyncapi.json` describes its messages',
        tags: ['WebSocket'],
        response: {
          101: { description: 'the connection is a WebSocket from here on' },
          ...errorResponses,
          [HISTORY_ERRORS.upgradeRequired.status]: {
            ...errorResponses[HISTORY_ERRORS.validation.status],
            description: 'the request does not ask for an upgrade',
          },
        },
      }),
    },
    (_request, reply) => {
      reply.header('upgrade', 'websocket');
      throw new HistoryError('upgradeRequired');
    },
  );
}
