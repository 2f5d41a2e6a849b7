// /authority/{authorityId}/...: accounts of a wallet and rows listed by wallet.

import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import type { RevenueShareEscrowState, RevenueShareState } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import { HistoryError } from '../../http/errors.ts';
import { answerOf, KEY, listOf, objectOf, orNull, QUOTE, TEXT, WHOLE } from '../answer-schemas.ts';
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

const BUILDER = objectOf({ accountId: KEY, totalBuilderRewards: QUOTE }, 'what the wallet earned as a builder');
const ESCROW = objectOf(
  {
    accountId: KEY,
    approvedBuilders: listOf(
      objectOf({
        authority: KEY,
        builderIdx: { ...WHOLE, description: 'place in the escrow; orders name a builder by it' },
        maxFeeTenthBps: { ...WHOLE, description: 'tenths of a basis point' },
      }),
      'builders whose highest fee is above 0',
    ),
  },
  'builders that the wallet approved',
);

function accountRoute(app: FastifyInstance, { store, builtParts, accountStates }: HistoryServices): void {
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
            builderRevenueShareAccount: orNull(BUILDER),
            revenueShareEscrow: orNull(ESCROW),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ params }) => {
      const authority = keyOf(params.authorityId);
      await builtParts.require('events');
      const accounts = await accountsOf(store, authority);
      const key = bs58.decode(authority);
      const [share, escrow] = await builderStates(accountStates, key);
      return {
        success: true,
        accounts,
        builderRevenueShareAccount: builderBody(share),
        revenueShareEscrow: escrowBody(escrow),
      };
    },
  );
}

/** States of the wallet's builder accounts. Throws HistoryError storeAway when they cannot be read. */
async function builderStates(states: HistoryServices['accountStates'], authority: Uint8Array) {
  if (!states) return [null, null] as const;
  try {
    return await Promise.all([states.revenueShare(authority), states.escrow(authority)]);
  } catch (cause) {
    throw new HistoryError('storeAway', undefined, { cause });
  }
}

function builderBody(state: RevenueShareState | null) {
  return state && { accountId: base58(state.account), totalBuilderRewards: String(state.totalBuilderRewards) };
}

function escrowBody(state: RevenueShareEscrowState | null) {
  return (
    state && {
      accountId: base58(state.account),
      approvedBuilders: state.approvedBuilders
        .map(({ authority, maxFeeTenthBps }, builderIdx) => ({
          authority: base58(authority),
          builderIdx,
          maxFeeTenthBps,
        }))
        .filter(({ maxFeeTenthBps }) => maxFeeTenthBps > 0),
    }
  );
}
