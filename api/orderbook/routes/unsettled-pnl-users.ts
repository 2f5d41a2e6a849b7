// GET /unsettledPnlUsers: the largest claimable gains and losses of a perp market.

import type { FastifyInstance } from 'fastify';
import { QUOTE_DECIMALS, type RankedUser } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import { answers, json } from '../../http/contract/answers.ts';
import type { Parameter } from '../../http/contract/inputs.ts';
import { list, number, object, ref } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { OrderbookError } from '../../http/errors.ts';
import { wholeUnits } from '../../http/units.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

/** Unlike on other routes, the whole text must be a number. The empty text is 0. */
const marketIndex: Parameter<number> = {
  isRequired: true,
  schema: {
    type: 'number',
    description: 'index of the perp market; the whole text must be a number, the empty text is 0',
  },
  read: (text) => {
    const number = text === undefined ? Number.NaN : Number(text);
    if (!Number.isFinite(number)) throw new OrderbookError('pnlMarketMissing');
    return number;
  },
};

const rankedUser = object({
  userPubKey: ref('PublicKey'),
  pnl: number('claimable profit or loss in whole quote units (1.5 is 1.5 USDC)'),
});

export const UNSETTLED_PNL_CONTRACT = {
  summary: 'Largest claimable gains and losses of a perp market',
  tags: ['users'],
  parameters: { marketIndex },
  answers: answers(
    json(
      'both ends of the ranking; empty without a ranking',
      object({
        marketIndex: number('as requested'),
        gainers: list(rankedUser, 'largest gain first'),
        losers: list(rankedUser, 'largest loss first'),
      }),
    ),
    [{ codes: ['pnlMarketMissing'] }],
  ),
} satisfies RouteContract;

const usersBody = (users: readonly RankedUser[]) =>
  users.map(({ user, pnl }) => ({ userPubKey: base58(user), pnl: wholeUnits(pnl, QUOTE_DECIMALS) }));

export function unsettledPnlUsersRoute(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  serve(app, '/unsettledPnlUsers', UNSETTLED_PNL_CONTRACT, async (given) => {
    const marketIndex = given('marketIndex');
    const ranking = feeds?.rankings.get(`perp-${marketIndex}`) ?? null;
    metrics?.countLookup('/unsettledPnlUsers', ranking !== null);
    return { marketIndex, gainers: usersBody(ranking?.gainers ?? []), losers: usersBody(ranking?.losers ?? []) };
  });
}
