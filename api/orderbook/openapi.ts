// `/openapi.json` of the order-book server: the registered routes by their contracts.

import type { FastifyInstance } from 'fastify';
import { BOOK_SCHEMAS } from '../contract/books.ts';
import { collectOpenApi } from '../contract/openapi.ts';

const INFO = {
  title: 'Slotbook order book',
  version: '1.0.0',
  description:
    'Books and what belongs to them. Prices are integers of 1e-6 quote and sizes integers of 1e-9 base as decimal strings ' +
    'unless a member says otherwise. Requests are read leniently: numbers by their leading digits, the first of repeated ' +
    'parameters, and parameters that are not named here are ignored. Clients must ignore members of answers that they do ' +
    'not know. Each path also answers HEAD, stands below /dlob as well, and allows any origin; unknown paths are 404 `Not ' +
    'found`. Answers from 1 KiB on are compressed where the client takes gzip or deflate.',
};

/** Collects the contracts of routes registered after this call; the returned function makes the document. */
export function orderbookOpenApi(app: FastifyInstance): () => object {
  return collectOpenApi(app, INFO, BOOK_SCHEMAS);
}
