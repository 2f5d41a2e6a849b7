// GET /topMakers: the owners of the best resting orders of one side, best first.

import type { FastifyInstance } from 'fastify';
import { base58 } from '../../base58.ts';
import { TOP_MAKERS_CONTRACT } from '../contracts/books.ts';
import { MAX_ACCOUNTS } from '../limits.ts';
import { serve } from '../route.ts';
import { selectMarket } from '../selection.ts';
import type { OrderbookServices } from '../services.ts';

export function topMakersRoute(app: FastifyInstance, { reader, accounts, metrics }: OrderbookServices): void {
  serve(app, '/topMakers', TOP_MAKERS_CONTRACT, async (given, _request, reply) => {
    const market = selectMarket(reader.markets, given);
    const side = given('side');
    const limit = given('limit');
    const withAccounts = given('includeAccounts');
    const book = reader.book(market);
    metrics?.lookedUp('/topMakers', book !== null);
    const makers = (book?.view.bestMakers(side, limit) ?? []).map(base58);
    reply.type('application/json; charset=utf-8');
    if (!withAccounts) return JSON.stringify(makers);
    const bytes = await accounts.read(makers.slice(0, MAX_ACCOUNTS));
    return JSON.stringify(
      makers.map((userAccountPubKey, index) => ({ userAccountPubKey, accountBase64: bytes[index] ?? null })),
    );
  });
}
