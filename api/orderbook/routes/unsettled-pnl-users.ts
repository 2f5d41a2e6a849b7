// GET /unsettledPnlUsers: the largest claimable gains and losses of a perp market (reference 1.8).

import type { FastifyInstance } from 'fastify';
import type { RankedUser } from '../../../schemas/index.ts';
import { base58 } from '../../base58.ts';
import { wholeUnits } from '../../units.ts';
import { UNSETTLED_PNL_CONTRACT } from '../contracts/feeds.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

const QUOTE_DECIMALS = 6;

const shown = (users: readonly RankedUser[]) =>
  users.map(({ user, pnl }) => ({ userPubKey: base58(user), pnl: wholeUnits(pnl, QUOTE_DECIMALS) }));

export function unsettledPnlUsersRoute(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  serve(app, '/unsettledPnlUsers', UNSETTLED_PNL_CONTRACT, async (given) => {
    const marketIndex = given('marketIndex');
    const ranking = feeds?.rankings.get(`perp-${marketIndex}`) ?? null;
    metrics?.lookedUp('/unsettledPnlUsers', ranking !== null);
    return { marketIndex, gainers: shown(ranking?.gainers ?? []), losers: shown(ranking?.losers ?? []) };
  });
}
