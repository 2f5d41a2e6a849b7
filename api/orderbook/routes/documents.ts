// GET /openapi.json and /asyncapi.json: the machine-readable contracts, rendered on the first request.

import type { FastifyInstance } from 'fastify';
import { asyncApi } from '../../gateway/asyncapi.ts';
import { json } from '../../http/contract/answers.ts';
import { BOOK_SCHEMAS } from '../../http/contract/books.ts';
import { collectOpenApi, type RouteContract } from '../../http/contract/openapi.ts';
import { ORDERBOOK_ERRORS, type OrderbookErrorCode } from '../../http/errors.ts';
import { JSON_TYPE, serve } from '../route.ts';

function refusal(code: OrderbookErrorCode): string {
  const { status, text } = ORDERBOOK_ERRORS[code];
  return `${status} \`${text}\``;
}

const INFO = {
  title: 'Slotbook order book',
  version: '1.0.0',
  description:
    'Books and related data. Prices are integers of 1e-6 quote and sizes integers of 1e-9 base, as decimal strings, unless a ' +
    'member says otherwise. The server reads requests leniently: leading digits of numbers, the first of repeated parameters. ' +
    'It ignores undocumented parameters and request bodies. Clients must ignore unknown members of answers. Each path also ' +
    'answers HEAD, exists below /dlob too, in any letter case and with a trailing slash, and allows any origin. Unknown paths ' +
    'and other methods are 404 `Not found`. Answers from 1 KiB on are compressed when the client accepts br, gzip, zstd or ' +
    `deflate. Before any route, as text: a path that does not decode is ${refusal('malformedPath')}, request line and ` +
    `headers of more than 64 KiB (the largest batch has less) are ${refusal('headersTooLarge')}, input that is not HTTP or names ` +
    `no host is ${refusal('malformedHttp')}, and headers that take too long are ${refusal('requestTimeout')}.`,
};

const COMPONENTS = {
  schemas: BOOK_SCHEMAS,
  securitySchemes: {
    internalSecret: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'the internal secret of the deployment, without a scheme',
    },
  },
};

/** Collects the contracts of routes registered after this call. The returned function renders the document. */
export function orderbookOpenApi(app: FastifyInstance): () => object {
  return collectOpenApi(app, INFO, { components: COMPONENTS });
}

function documentContract(summary: string) {
  return {
    summary,
    tags: ['service'],
    parameters: {},
    answers: { '200': json('the document', { type: 'object' }) },
  } satisfies RouteContract;
}

const OPENAPI_CONTRACT = documentContract('This document (OpenAPI 3.1)');
const ASYNCAPI_CONTRACT = documentContract('The WebSocket channels (AsyncAPI 3)');

/** `openApi` comes from `orderbookOpenApi`. */
export function documentRoutes(app: FastifyInstance, openApi: () => object): void {
  const served = [
    { path: '/openapi.json', contract: OPENAPI_CONTRACT, make: openApi },
    { path: '/asyncapi.json', contract: ASYNCAPI_CONTRACT, make: asyncApi },
  ];
  for (const { path, contract, make } of served) {
    let body: string | null = null;
    serve(app, path, contract, async (_given, _request, reply) => {
      body ??= JSON.stringify(make());
      return reply.type(JSON_TYPE).send(body);
    });
  }
}
