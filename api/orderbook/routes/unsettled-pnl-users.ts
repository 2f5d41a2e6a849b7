// GET /unsettledPnlUsers: the largest claimable gains and losses of a perp market (reference 1.8).

import type { FastifyInstance } from 'fastify';
import type { RankedUser } from '../../../schemas/index.ts';
import { base58 } from '../../base58.ts';
import { OrderbookError } from '../../errors.ts';
import { parameter, type Query } from '../../lenient.ts';
import { wholeUnits } from '../../units.ts';
import { UNSETTLED_PNL_CONTRACT } from '../contracts/feeds.ts';
import type { OrderbookServices } from '../services.ts';

const QUOTE_DECIMALS = 6;

const shown = (users: readonly RankedUser[]) =>
  users.map(({ user, pnl }) => ({ userPubKey: base58(user), pnl: wholeUnits(pnl, QUOTE_DECIMALS) }));

export function unsettledPnlUsersRoute(app: FastifyInstance, { feeds, metrics }: OrderbookServices): void {
  app.get<{ Querystring: Query }>(
    '/unsettledPnlUsers',
    { config: { contract: UNSETTLED_PNL_CONTRACT } },
    async (request) => {
      const text = parameter(request.query, 'marketIndex');
      // The whole text must be a number, unlike elsewhere; the empty text is 0.
      const marketIndex = text === undefined ? Number.NaN : Number(text);
      if (!Number.isFinite(marketIndex)) throw new OrderbookError('pnlMarketMissing');
      const ranking = feeds?.rankings.get(`perp-${marketIndex}`) ?? null;
      metrics?.lookedUp('/unsettledPnlUsers', ranking !== null);
      return { marketIndex, gainers: shown(ranking?.gainers ?? []), losers: shown(ranking?.losers ?? []) };
    },
  );
}
