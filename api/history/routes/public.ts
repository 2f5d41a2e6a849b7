// /params and /vaults: answers that dashboards request once a minute.

import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { MarketView } from '../../../schemas/index.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { answerOf, listOf, MARKET_TYPE, objectOf, raw, SECONDS, TEXT, WHOLE } from '../answer-schemas.ts';
import { baseDecimals } from '../lists.ts';
import { FRESH_S, MinuteCache } from '../minute-cache.ts';
import { described, errorResponses } from '../route-schemas.ts';
import type { HistoryServices } from '../services.ts';
import { vaultList } from './stats-vaults.ts';

const CACHE_CONTROL = `public, max-age=${FRESH_S}`;

export function publicRoutes(app: FastifyInstance, services: HistoryServices): void {
  paramsRoute(app, services);
  vaultsRoute(app, services);
}

const MARKET = objectOf({
  symbol: TEXT,
  marketIndex: WHOLE,
  marketType: MARKET_TYPE,
  status: { ...TEXT, description: 'lower case' },
  baseDecimals: { ...WHOLE, description: 'decimals of base amounts' },
  tickSize: raw('price 1e6'),
  stepSize: raw('base units of the market'),
  minOrderSize: raw('base units of the market'),
});

function paramsRoute(app: FastifyInstance, { markets, now }: HistoryServices): void {
  const cache = new MinuteCache<object>(now, FRESH_S);
  const { status } = HISTORY_ERRORS.paramsMissing;
  const missing = objectOf({ success: { type: 'boolean', const: false }, error: TEXT }, 'no parameters yet');
  app.get(
    '/params',
    {
      schema: described({
        summary: 'Parameters of the exchange: its markets, and the decimals that raw integers have',
        tags: ['Stats'],
        response: {
          ...errorResponses,
          200: answerOf('cached for a minute', {
            params: objectOf({
              precisions: objectOf({ price: WHOLE, quote: WHOLE, base: WHOLE, funding: WHOLE, interest: WHOLE }),
              markets: listOf(MARKET),
            }),
            updatedAt: { ...SECONDS, description: 'when this answer was made, unix seconds' },
          }),
          [status]: missing,
        },
      }),
    },
    async (_request, reply) => {
      if (markets.size === 0) throw new HistoryError('paramsMissing');
      reply.header('cache-control', CACHE_CONTROL);
      return cache.get('', async () => ({ success: true, params: paramsOf(markets.list()), updatedAt: now() }));
    },
  );
}

function paramsOf(markets: readonly MarketView[]) {
  return {
    precisions: { price: 6, quote: 6, base: 9, funding: 9, interest: 10 },
    markets: markets.map((market) => ({
      symbol: market.symbol,
      marketIndex: market.marketIndex,
      marketType: market.marketType,
      status: market.status.toLowerCase(),
      baseDecimals: baseDecimals(market),
      tickSize: String(market.tickSize),
      stepSize: String(market.stepSize),
      minOrderSize: String(market.minOrderSize),
    })),
  };
}

function vaultsRoute(app: FastifyInstance, services: HistoryServices): void {
  const { settings, now } = services;
  const { vaultsPath } = settings;
  const cache = new MinuteCache<readonly unknown[]>(now, FRESH_S);
  app.get(
    '/vaults',
    {
      schema: described({
        summary: 'Vaults of the deployment',
        tags: ['Stats'],
        response: {
          200: {
            description: 'as configured, else from the vault accounts; cached for a minute',
            ...listOf({ type: 'object', additionalProperties: true }),
          },
          ...errorResponses,
        },
      }),
    },
    async (_request, reply) => {
      const vaults = await cache.get('', () => (vaultsPath === '' ? vaultList(services) : readVaults(vaultsPath)));
      reply.header('cache-control', CACHE_CONTROL);
      return vaults;
    },
  );
}

async function readVaults(path: string): Promise<readonly unknown[]> {
  const vaults: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (!Array.isArray(vaults)) throw new HistoryError('internal', `not a list of vaults: ${path}`);
  return vaults;
}
