// /stats/leaderboard...: who gained and traded most.

import type { FastifyInstance } from 'fastify';
import { answerOf, KEY, listOf, objectOf, orNull, QUOTE, TEXT, WHOLE } from '../answer-schemas.ts';
import { datedRange } from '../lists.ts';
import { MinuteCache } from '../minute-cache.ts';
import { type Standing, sideVolumes, standings, type VolumePlace } from '../queries/boards.ts';
import { described, errorResponses, limitSchema, PUBLIC_KEY } from '../route-schemas.ts';
import { type HistoryServices, keyOf } from '../services.ts';

/** Days that the leaderboard looks back. */
const BOARD_DAYS = 30;
const DAY_S = 86_400;
const BOARD_ROWS = 100;
const SIDE_ROWS = { fallback: 20, maximum: 100 };
const MAX_PAGE = 1_000_000;

const SORTS = ['pnl', 'volume'] as const;
type Sort = (typeof SORTS)[number];

/** A page number: what these boards give as `nextPage`. */
const PAGE_NUMBER = { type: 'integer', minimum: 1, maximum: MAX_PAGE, default: 1, description: 'page, from 1' };

/** Every wallet of the board in both orders. */
interface Board {
  readonly byKey: ReadonlyMap<string, Standing>;
  readonly ranked: Readonly<Record<Sort, readonly string[]>>;
  readonly ranks: Readonly<Record<Sort, ReadonlyMap<string, number>>>;
}

export function boardRoutes(app: FastifyInstance, services: HistoryServices): void {
  const { store, markets, now } = services;
  const cache = new MinuteCache<Board>(now);
  const board = async (): Promise<Board> => {
    await services.projections.require('events');
    return cache.get('', async () => {
      const perps = markets.list().filter(({ marketType }) => marketType === 'perp');
      const indexes = perps.map(({ marketIndex }) => marketIndex);
      return boardOf(await standings(store, indexes, now() - BOARD_DAYS * DAY_S, now()));
    });
  };
  wholeBoard(app, board);
  oneWallet(app, board);
  for (const side of ['maker', 'taker'] as const) sideBoard(app, services, side);
}

/** Largest first; the keys come in order, so that equal values stay in the order of their keys. */
function boardOf(rows: readonly Standing[]): Board {
  const order = (sort: Sort): readonly string[] =>
    rows
      .map((row) => ({ key: row.authority, value: BigInt(row[sort]) }))
      .sort((a, b) => (a.value > b.value ? -1 : a.value < b.value ? 1 : 0))
      .map(({ key }) => key);
  const ranked = { pnl: order('pnl'), volume: order('volume') };
  const ranks = (sort: Sort) => new Map(ranked[sort].map((key, index) => [key, index + 1]));
  return {
    byKey: new Map(rows.map((row) => [row.authority, row])),
    ranked,
    ranks: { pnl: ranks('pnl'), volume: ranks('volume') },
  };
}

function wholeBoard(app: FastifyInstance, board: () => Promise<Board>): void {
  app.get<{ Querystring: { sort: Sort; page: number; limit: number } }>(
    '/stats/leaderboard',
    {
      schema: described({
        summary: 'Wallets by P&L or volume of perps over the last 30 days',
        tags: ['Stats'],
        querystring: {
          type: 'object',
          properties: {
            sort: { type: 'string', enum: SORTS, default: 'pnl' },
            page: PAGE_NUMBER,
            limit: limitSchema(BOARD_ROWS, BOARD_ROWS),
          },
        },
        response: {
          200: answerOf('P&L: cash of fills less fees, funding, and the change of worth of positions', {
            data: objectOf({
              leaderboard: listOf(objectOf({ authority: KEY, volume: QUOTE, pnl: QUOTE, rank: WHOLE })),
            }),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ query: { sort, page, limit } }) => {
      const { byKey, ranked } = await board();
      const skipped = (page - 1) * limit;
      const keys = ranked[sort].slice(skipped, skipped + limit);
      const places = keys.map((authority, index) => ({
        authority,
        volume: byKey.get(authority)?.volume ?? '0',
        pnl: byKey.get(authority)?.pnl ?? '0',
        rank: skipped + index + 1,
      }));
      return { success: true, data: { leaderboard: places } };
    },
  );
}

function oneWallet(app: FastifyInstance, board: () => Promise<Board>): void {
  const rank = orNull({ ...WHOLE, description: 'from 1; null for a wallet that is not on the board' });
  app.get<{ Params: { authorityId: string } }>(
    '/stats/leaderboard/:authorityId',
    {
      schema: described({
        summary: 'Where a wallet stands on the boards of the last 30 days',
        tags: ['Stats'],
        params: { type: 'object', required: ['authorityId'], properties: { authorityId: PUBLIC_KEY } },
        response: {
          200: answerOf('standing', {
            data: objectOf({ pnl: QUOTE, volume: QUOTE, rank: objectOf({ pnl: rank, volume: rank }) }),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ params }) => {
      const authority = keyOf(params.authorityId);
      const { byKey, ranks } = await board();
      const { pnl = '0', volume = '0' } = byKey.get(authority) ?? {};
      const rankBy = (sort: Sort) => ranks[sort].get(authority) ?? null;
      return { success: true, data: { pnl, volume, rank: { pnl: rankBy('pnl'), volume: rankBy('volume') } } };
    },
  );
}

function sideBoard(app: FastifyInstance, services: HistoryServices, side: 'maker' | 'taker'): void {
  const { store, now } = services;
  const cache = new MinuteCache<readonly VolumePlace[]>(now);
  const { fallback, maximum } = SIDE_ROWS;
  app.get<{ Querystring: { page: number; limit: number } }>(
    `/stats/leaderboard/${side}`,
    {
      schema: described({
        summary: `Wallets by ${side} volume of perps in the current calendar month (UTC)`,
        tags: ['Stats'],
        querystring: { type: 'object', properties: { page: PAGE_NUMBER, limit: limitSchema(fallback, maximum) } },
        response: {
          200: answerOf('largest first; liquidation fills count, position transfers and the AMM do not', {
            month: { type: 'string', description: 'YYYY-MM' },
            records: listOf(objectOf({ rank: WHOLE, authority: KEY, volume: QUOTE })),
            meta: objectOf({ nextPage: orNull({ ...TEXT, description: 'pass back as page' }) }),
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ query: { page, limit } }) => {
      await services.projections.require('events');
      const month = new Date(now() * 1000).toISOString().slice(0, 7);
      const { from, to } = datedRange(Number(month.slice(0, 4)), Number(month.slice(5)));
      const places = await cache.get(month, () => sideVolumes(store, side, from, to));
      const skipped = (page - 1) * limit;
      return {
        success: true,
        month,
        records: places
          .slice(skipped, skipped + limit)
          .map((place, index) => ({ rank: skipped + index + 1, ...place })),
        meta: { nextPage: skipped + limit < places.length ? String(page + 1) : null },
      };
    },
  );
}
