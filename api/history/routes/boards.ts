// /stats/leaderboard...: wallets by P&L and volume.

import type { FastifyInstance } from 'fastify';
import { answerOf, KEY, listOf, objectOf, orNull, QUOTE, TEXT, WHOLE } from '../answer-schemas.ts';
import { boardPage, byRank, type RankedRow } from '../board-pages.ts';
import { datedRange } from '../lists.ts';
import { MinuteCache } from '../minute-cache.ts';
import { type LeaderboardPlace, leaderboard, sideVolumes } from '../queries/boards.ts';
import { described, errorResponses, limitSchema, PAGE, PUBLIC_KEY } from '../route-schemas.ts';
import { DAY_S } from '../seconds.ts';
import { type HistoryServices, keyOf } from '../services.ts';

/** Days behind the leaderboard. */
const BOARD_DAYS = 30;
const ROWS_MAX = 100;
/** Far below the maximum (docs/internals/history-semantics.md, "Limits of lists"). */
const ROWS_DEFAULT = 20;
/** Default of the whole board in the hosted data API. */
const HOSTED_ROWS_DEFAULT = 100;

const SORTS = ['pnl', 'volume'] as const;
type Sort = (typeof SORTS)[number];

const pageQuery = (rows: number) => ({
  page: { ...PAGE, description: `${PAGE.description}, or a page number from 1` },
  limit: limitSchema(rows, ROWS_MAX),
});
const META = objectOf({ nextPage: orNull({ ...TEXT, description: 'pass back as page; null when no more rows' }) });

interface PageQuery {
  readonly page?: string;
  readonly limit: number;
}

/** Every wallet of the board in both orders. */
interface Board {
  readonly byKey: ReadonlyMap<string, LeaderboardPlace>;
  readonly ranked: Readonly<Record<Sort, readonly RankedRow[]>>;
  readonly ranks: Readonly<Record<Sort, ReadonlyMap<string, number>>>;
}

export function boardRoutes(app: FastifyInstance, services: HistoryServices): void {
  allBoards(app, services, ROWS_DEFAULT);
}

/** The same boards, with the default of the hosted data API. */
export function hostedBoardRoutes(app: FastifyInstance, services: HistoryServices): void {
  allBoards(app, services, HOSTED_ROWS_DEFAULT);
}

/** `wholeRows`: default page of the whole board. */
function allBoards(app: FastifyInstance, services: HistoryServices, wholeRows: number): void {
  const { store, markets, now } = services;
  const cache = new MinuteCache<Board>(now);
  const board = async (): Promise<Board> => {
    await services.builtParts.require('events');
    return cache.get('', async () => {
      const perps = markets.list().filter(({ marketType }) => marketType === 'perp');
      const indexes = perps.map(({ marketIndex }) => marketIndex);
      return boardOf(await leaderboard(store, indexes, now() - BOARD_DAYS * DAY_S, now()));
    });
  };
  wholeBoard(app, board, wholeRows);
  oneWallet(app, board);
  for (const side of ['maker', 'taker'] as const) sideBoard(app, services, side);
}

function boardOf(rows: readonly LeaderboardPlace[]): Board {
  const order = (sort: Sort): readonly RankedRow[] =>
    rows.map((row) => ({ authority: row.authority, value: BigInt(row[sort]) })).sort(byRank);
  const ranked = { pnl: order('pnl'), volume: order('volume') };
  const ranks = (sort: Sort) => new Map(ranked[sort].map(({ authority }, index) => [authority, index + 1]));
  return {
    byKey: new Map(rows.map((row) => [row.authority, row])),
    ranked,
    ranks: { pnl: ranks('pnl'), volume: ranks('volume') },
  };
}

function wholeBoard(app: FastifyInstance, board: () => Promise<Board>, rowsDefault: number): void {
  app.get<{ Querystring: PageQuery & { sort: Sort } }>(
    '/stats/leaderboard',
    {
      schema: described({
        summary: 'Wallets by P&L or volume of perps over the last 30 days',
        tags: ['Stats'],
        querystring: {
          type: 'object',
          properties: {
            sort: { type: 'string', enum: SORTS, default: 'pnl' },
            ...pageQuery(rowsDefault),
          },
        },
        response: {
          200: answerOf('P&L: cash of fills less fees, funding, and the change in position value', {
            data: objectOf({
              leaderboard: listOf(objectOf({ authority: KEY, volume: QUOTE, pnl: QUOTE, rank: WHOLE })),
            }),
            meta: META,
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ query: { sort, page, limit } }) => {
      const { byKey, ranked } = await board();
      const { rows, skipped, nextPage } = boardPage(ranked[sort], { board: `/stats/leaderboard/${sort}`, page, limit });
      const places = rows.map(({ authority }, index) => ({
        authority,
        volume: byKey.get(authority)?.volume ?? '0',
        pnl: byKey.get(authority)?.pnl ?? '0',
        rank: skipped + index + 1,
      }));
      return { success: true, data: { leaderboard: places }, meta: { nextPage } };
    },
  );
}

function oneWallet(app: FastifyInstance, board: () => Promise<Board>): void {
  const rank = orNull({ ...WHOLE, description: 'from 1; null for a wallet that is not on the board' });
  app.get<{ Params: { authorityId: string } }>(
    '/stats/leaderboard/:authorityId',
    {
      schema: described({
        summary: 'Ranks of a wallet on the boards of the last 30 days',
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
  const cache = new MinuteCache<readonly RankedRow[]>(now);
  app.get<{ Querystring: PageQuery }>(
    `/stats/leaderboard/${side}`,
    {
      schema: described({
        summary: `Wallets by ${side} volume of perps in the current calendar month (UTC)`,
        tags: ['Stats'],
        querystring: { type: 'object', properties: pageQuery(ROWS_DEFAULT) },
        response: {
          200: answerOf('largest first; liquidation fills count, position transfers and the AMM do not', {
            month: { type: 'string', description: 'YYYY-MM' },
            records: listOf(objectOf({ rank: WHOLE, authority: KEY, volume: QUOTE })),
            meta: META,
          }),
          ...errorResponses,
        },
      }),
    },
    async ({ query: { page, limit } }) => {
      await services.builtParts.require('events');
      const month = new Date(now() * 1000).toISOString().slice(0, 7);
      const { from, to } = datedRange(Number(month.slice(0, 4)), Number(month.slice(5)));
      const places = await cache.get(month, async () =>
        (await sideVolumes(store, side, from, to))
          .map(({ authority, volume }) => ({ authority, value: BigInt(volume) }))
          .sort(byRank),
      );
      const board = `/stats/leaderboard/${side}/${month}`;
      const { rows, skipped, nextPage } = boardPage(places, { board, page, limit });
      const records = rows.map(({ authority, value }, index) => ({
        rank: skipped + index + 1,
        authority,
        volume: String(value),
      }));
      return { success: true, month, records, meta: { nextPage } };
    },
  );
}
