// /authority/{authorityId}/...: accounts of a wallet, and rows that are kept by wallet.

import type { FastifyInstance } from 'fastify';
import { answerOf, KEY, listOf, objectOf, TEXT, WHOLE } from '../answer-schemas.ts';
import { type ListFamily, listRoutes } from '../list-routes.ts';
import type { RowSource } from '../lists.ts';
import { accountsOf } from '../queries/accounts.ts';
import { described, errorResponses, PUBLIC_KEY } from '../route-schemas.ts';
import { AUTHORITY_MINTS, AUTHORITY_STAKES } from '../rows/authority.ts';
import { type HistoryServices, keyOf } from '../services.ts';

const LISTS: readonly { readonly name: string; readonly summary: string; readonly source: RowSource }[] = [
  { name: 'insuranceFundStake', summary: 'Insurance-fund stakes of a wallet', source: AUTHORITY_STAKES },
  { name: 'lpMintRedeem', summary: 'What a wallet minted and redeemed of liquidity pools', source: AUTHORITY_MINTS },
];

export function authorityRoutes(app: FastifyInstance, services: HistoryServices): void {
  listRoutes(app, services, LISTS.map(family));
  accountRoute(app, services);
}

function family({ name, summary, source }: (typeof LISTS)[number]): ListFamily {
  return {
    path: `/authority/:authorityId/${name}`,
    tag: 'Authority',
    summary,
    params: { authorityId: PUBLIC_KEY },
    source,
    scope: (_services, { authorityId }) => {
      const authority = keyOf(String(authorityId));
      return { parameters: { authority }, path: `/authority/${authority}/${name}` };
    },
    archive: 'month',
  };
}

function accountRoute(app: FastifyInstance, { store, projections }: HistoryServices): void {
  const unknown = { type: 'null', description: 'not told by events' };
  app.get<{ Params: { authorityId: string } }>(
    '/authority/:authorityId/accounts',
    {
      schema: described({
        summary: 'Sub-accounts of a wallet that were not deleted',
        tags: ['Authority'],
        params: { type: 'object', required: ['authorityId'], properties: { authorityId: PUBLIC_KEY } },
        response: {
          200: answerOf('by sub-account id', {
            accounts: listOf(objectOf({ accountId: KEY, subAccountId: WHOLE, name: TEXT })),
            builderRevenueShareAccount: unknown,
            revenueShareEscrow: unknown,
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ params }) => {
      const authority = keyOf(params.authorityId);
      await projections.require('events');
      const accounts = await accountsOf(store, authority);
      return { success: true, accounts, builderRevenueShareAccount: null, revenueShareEscrow: null };
    },
  );
}
