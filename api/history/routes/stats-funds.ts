// /stats/vaults, /stats/insuranceFund, /stats/dlp/snapshots: value of funds and pools.

import type { FastifyInstance } from 'fastify';
import { decimalText } from '../../http/units.ts';
import {
  answerOf,
  DAYS_QUERY,
  decimal,
  KEY,
  listOf,
  objectOf,
  orNull,
  QUOTE,
  raw,
  SECONDS,
  TEXT,
  WHOLE,
} from '../answer-schemas.ts';
import { MinuteCache } from '../minute-cache.ts';
import { type InsuranceFundRow, insuranceFunds, type PoolRow, poolValues, yieldPercent1e2 } from '../queries/funds.ts';
import { described, errorResponses } from '../route-schemas.ts';
import type { HistoryServices } from '../services.ts';
import { frequencyOf, type Grid, gridOf } from '../snapshots/grid.ts';
import { CarriedForward } from '../snapshots/series.ts';
import { vaultStatsRoute } from './stats-vaults.ts';

const YIELD_DECIMALS = 2;

export function fundRoutes(app: FastifyInstance, services: HistoryServices): void {
  vaultStatsRoute(app, services);
  insuranceRoute(app, services);
  poolRoute(app, services);
}

function insuranceRoute(app: FastifyInstance, services: HistoryServices): void {
  const { store, markets, builtParts, now, accountStates } = services;
  const cache = new MinuteCache<readonly InsuranceFundRow[]>(now);
  const tokens = raw('token, mint decimals');
  app.get(
    '/stats/insuranceFund',
    {
      schema: described({
        summary: 'Insurance fund of each spot market that has one, from its records',
        tags: ['Stats'],
        response: {
          200: answerOf('by market index', {
            data: listOf(
              objectOf({
                marketIndex: WHOLE,
                symbol: orNull(TEXT),
                vaultAmount: tokens,
                totalShares: raw('shares'),
                userShares: orNull(raw('shares', 'those of stakers; null before the first stake')),
                apy: decimal('revenue of the last 30 days as percent of the vault a year, 2 decimals'),
                unstakingPeriod: orNull({ ...WHOLE, description: 'seconds; null while the account is unknown' }),
                ts: SECONDS,
              }),
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async () => {
      await builtParts.require('events');
      const funds = await cache.get('', () => insuranceFunds(store, now()));
      return {
        success: true,
        data: funds.map(({ marketIndex, ts, vaultAmount, totalShares, userShares, revenue }) => ({
          marketIndex,
          symbol: markets.byKey(`spot-${marketIndex}`)?.symbol ?? null,
          vaultAmount,
          totalShares,
          userShares,
          apy: decimalText(yieldPercent1e2(BigInt(revenue), BigInt(vaultAmount)), YIELD_DECIMALS),
          unstakingPeriod: secondsOf(accountStates?.unstakingPeriod(marketIndex) ?? null),
          ts: Number(ts),
        })),
      };
    },
  );
}

const secondsOf = (period: bigint | null): number | null => (period === null ? null : Number(period));

function poolRoute(app: FastifyInstance, { store, builtParts, now }: HistoryServices): void {
  app.get<{ Querystring: { days: number } }>(
    '/stats/dlp/snapshots',
    {
      schema: described({
        summary: 'Value of the liquidity pools; 1 day gives hourly points, more daily ones',
        tags: ['Stats'],
        querystring: DAYS_QUERY,
        response: {
          200: answerOf('oldest first', {
            snapshots: listOf(
              objectOf({ ts: SECONDS, tvl: QUOTE, price: raw('price 1e6', 'of a share'), lpPool: KEY }),
            ),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ query: { days } }) => {
      await builtParts.require('events');
      const grid = gridOf(now(), days, frequencyOf(days));
      return { success: true, snapshots: poolSnapshots(await poolValues(store, grid), grid) };
    },
  );
}

/** The newest settlement at or before each point, pools sorted by key. */
function poolSnapshots(rows: readonly PoolRow[], { times }: Grid) {
  const series = CarriedForward.of(
    rows,
    times.length,
    ({ lpPool }) => lpPool,
    (row) => row,
  );
  const pools = [...new Set(rows.map(({ lpPool }) => lpPool))].sort();
  return times.flatMap((ts, point) =>
    pools.flatMap((lpPool) => {
      const row = series.at(lpPool, point);
      return row ? [{ ts, tvl: row.tvl, price: row.price, lpPool }] : [];
    }),
  );
}
