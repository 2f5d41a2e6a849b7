// `/openapi.json` of the order-book server: the registered routes by their contracts.

import type { FastifyInstance } from 'fastify';
import { BOOK_SCHEMAS } from '../contract/books.ts';
import { collectOpenApi } from '../contract/openapi.ts';
import { ORDERBOOK_ERRORS, type OrderbookErrorCode } from '../errors.ts';

function refusal(code: OrderbookErrorCode): string {
  const { status, text } = ORDERBOOK_ERRORS[code];
  return `${status} \`${text}\``;
}

const INFO = {
  title: 'Slotbook order book',
  version: '1.0.0',
  description:
    'Books and what belongs to them. Prices are integers of 1e-6 quote and sizes integers of 1e-9 base as decimal strings ' +
    'unless a member says otherwise. Requests are read leniently: numbers by their leading digits, the first of repeated ' +
    'parameters, and parameters that are not named here are ignored. Clients must ignore members of answers that they do ' +
    'not know. Each path also answers HEAD, stands below /dlob as well, in any letter case and with a slash at its end, ' +
    'and allows any origin; unknown paths and other methods are 404 `Not found`, and what a request has in its body is ' +
    'not read. Answers from 1 KiB on are compressed where the client takes gzip or deflate. Refused before any ' +
    `route, as text: a path that does not decode with ${refusal('malformedPath')}, request line and headers of more than ` +
    `64 KiB (the largest batch has less) with ${refusal('headersTooLarge')}, what is not HTTP or names no host with ` +
    `${refusal('malformedHttp')}, headers that take too long with ${refusal('requestTimeout')}.`,
};

const COMPONENTS = {
  schemas: BOOK_SCHEMAS,
  securitySchemes: {
    internalSecret: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'the internal secret of the deployment, without a scheme before it',
    },
  },
};

/** Collects the contracts of routes registered after this call; the returned function makes the document. */
export function orderbookOpenApi(app: FastifyInstance): () => object {
  return collectOpenApi(app, INFO, COMPONENTS);
}
