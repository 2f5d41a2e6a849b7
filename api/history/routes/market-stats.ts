// GET /stats/markets: one summary per market, as a bare array.

import type { FastifyInstance } from 'fastify';
import type { MarketView } from '../../../schemas/index.ts';
import { HistoryError } from '../../errors.ts';
import { divideRounded, wholeUnits } from '../../units.ts';
import { baseDecimals } from '../lists.ts';
import { described, errorResponses } from '../route-schemas.ts';
import type { HistoryServices } from '../services.ts';
import type { HistoryStore } from '../store.ts';

const DAY_S = 86_400;
/** Funding is updated hourly: the last 24 records are the last day (history reference 7.3). */
const FUNDING_RECORDS = 24;
const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;
const PERCENT_DECIMALS = 12;

const summarySchema = {
  type: 'object',
  properties: {
    marketIndex: { type: 'integer' },
    symbol: { type: 'string' },
    marketType: { type: 'string', enum: ['perp', 'spot'] },
    oraclePrice: { type: 'number', description: 'human units' },
    volume24h: { type: 'number', description: 'human quote units; liquidation fills count, position transfers do not' },
    openInterest: { type: 'number', description: 'human base units; the larger side' },
    fundingRate: { type: 'number', description: 'percent per hour; positive = longs pay' },
    fundingRate24hAvg: { type: 'number', description: 'percent per hour' },
    status: { type: 'string', description: 'lower case' },
  },
};

export function marketStatsRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get(
    '/stats/markets',
    {
      schema: described({
        summary: 'Market summaries',
        tags: ['Stats'],
        response: { 200: { description: 'by type and index', type: 'array', items: summarySchema }, ...errorResponses },
      }),
    },
    async () => {
      const { store, markets, now } = services;
      if (markets.size === 0) throw new HistoryError('notBuilt');
      const [volumes, funding] = await Promise.all([volumesSince(store, now() - DAY_S), lastFunding(store)]);
      return markets.list().map((market) => summary(market, volumes, funding));
    },
  );
}

function summary(
  market: MarketView,
  volumes: ReadonlyMap<string, bigint>,
  funding: ReadonlyMap<number, readonly FundingRow[]>,
) {
  const { marketIndex, marketType, symbol, oraclePrice, openInterestBase, status } = market;
  const rates = marketType === 'perp' ? (funding.get(marketIndex) ?? []) : [];
  return {
    marketIndex,
    symbol,
    marketType,
    oraclePrice: wholeUnits(oraclePrice ?? 0n, PRICE_DECIMALS),
    volume24h: wholeUnits(volumes.get(`${marketType}-${marketIndex}`) ?? 0n, QUOTE_DECIMALS),
    openInterest: marketType === 'perp' ? wholeUnits(openInterestBase, baseDecimals(market)) : 0,
    fundingRate: wholeUnits(percents(rates.slice(0, 1), 'rate'), PERCENT_DECIMALS),
    fundingRate24hAvg: wholeUnits(percents(rates, 'rateLong'), PERCENT_DECIMALS),
    status: status.toLowerCase(),
  };
}

interface FundingRow {
  /** 1e9. */
  readonly rate: bigint;
  readonly rateLong: bigint;
  /** 1e6. */
  readonly oracleTwap: bigint;
}

/** Mean of rate / oracle TWAP in percent, scaled by 1e12 (rate 1e9, TWAP 1e6): rate * 1e11 / twap each. 0 for none. */
function percents(rows: readonly FundingRow[], member: 'rate' | 'rateLong'): bigint {
  const known = rows.filter(({ oracleTwap }) => oracleTwap !== 0n);
  if (known.length === 0) return 0n;
  const scale = 10n ** BigInt(PERCENT_DECIMALS - 1);
  const sum = known.reduce((total, row) => total + divideRounded(row[member] * scale, row.oracleTwap), 0n);
  return divideRounded(sum, BigInt(known.length));
}

/** Quote volume by market key since a time; each fill once. */
async function volumesSince(store: HistoryStore, from: number): Promise<ReadonlyMap<string, bigint>> {
  const rows = await store.rows<{ marketType: string; marketIndex: number; quote: string }>(
    `SELECT market_type AS marketType, market_index AS marketIndex,
       toString(sum(toUInt128(ifNull(quote_asset_amount_filled, 0)))) AS quote
     FROM {db:Identifier}.order_action FINAL
     WHERE action = 'fill' AND action_explanation != 'transferPerpPosition' AND ts >= {from:Int64}
     GROUP BY market_type, market_index`,
    { from },
  );
  return new Map(rows.map((row) => [`${row.marketType}-${row.marketIndex}`, BigInt(row.quote)]));
}

/** The newest funding records of each perp market, newest first. */
async function lastFunding(store: HistoryStore): Promise<ReadonlyMap<number, readonly FundingRow[]>> {
  const rows = await store.rows<{ marketIndex: number; rate: string; rateLong: string; oracleTwap: string }>(
    `SELECT market_index AS marketIndex, toString(funding_rate) AS rate, toString(funding_rate_long) AS rateLong,
       toString(oracle_price_twap) AS oracleTwap
     FROM {db:Identifier}.funding_rate FINAL
     ORDER BY market_index, ts DESC, record_id DESC LIMIT {records:UInt32} BY market_index`,
    { records: FUNDING_RECORDS },
  );
  const byMarket = new Map<number, FundingRow[]>();
  for (const { marketIndex, rate, rateLong, oracleTwap } of rows) {
    const list = byMarket.get(marketIndex) ?? [];
    byMarket.set(marketIndex, list);
    list.push({ rate: BigInt(rate), rateLong: BigInt(rateLong), oracleTwap: BigInt(oracleTwap) });
  }
  return byMarket;
}
