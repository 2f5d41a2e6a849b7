// GET /market/{symbol}/candles/{resolution}: candles computed from the stored fills.

import type { FastifyInstance } from 'fastify';
import type { MarketView } from '../../../schemas/index.ts';
import { HistoryError } from '../../errors.ts';
import { bucketSql, bucketStart, RESOLUTIONS, type Resolution, shiftBucket } from '../buckets.ts';
import { buildCandles, type Ohlc, type PreviousClose, type TradedBucket } from '../candles.ts';
import { baseDecimals, marketParameters } from '../lists.ts';
import { described, errorResponses, limitSchema, SYMBOL, TS } from '../route-schemas.ts';
import { priceSql } from '../rows/market.ts';
import { type HistoryServices, marketOf } from '../services.ts';
import type { HistoryStore, Parameters } from '../store.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** Fills that make candles: liquidations and transfers between accounts are no market prices (reference 7.2). */
const CANDLE_FILLS = `action = 'fill' AND market_type = {marketType:String} AND market_index = {marketIndex:UInt16}
  AND action_explanation NOT IN ('liquidation', 'transferPerpPosition') AND ifNull(base_asset_amount_filled, 0) > 0`;

/** `{baseScale:UInt64}` is ten to the market's base decimals. */
const PRICE_SQL = priceSql('{baseScale:UInt64}');

const candleParameters = (market: MarketView): Parameters => ({
  ...marketParameters(market),
  baseScale: String(10n ** BigInt(baseDecimals(market))),
});

interface CandleQuery {
  readonly limit: number;
  readonly startTs?: number;
  readonly endTs?: number;
}

const NUMBER = { type: 'number' };
const candleSchema = {
  type: 'object',
  properties: {
    ts: { type: 'integer', description: 'bucket start, unix seconds' },
    ...Object.fromEntries(
      ['fill', 'oracle'].flatMap((price) =>
        ['Open', 'High', 'Low', 'Close'].map((part) => [`${price}${part}`, { ...NUMBER, description: 'human price' }]),
      ),
    ),
    quoteVolume: { ...NUMBER, description: 'human quote amount' },
    baseVolume: { ...NUMBER, description: 'human base amount' },
  },
};

export function candleRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { symbol: string; resolution: Resolution }; Querystring: CandleQuery }>(
    '/market/:symbol/candles/:resolution',
    {
      schema: described({
        summary: 'Candles of a market; unlike records, in human units',
        tags: ['Market'],
        params: {
          type: 'object',
          required: ['symbol', 'resolution'],
          properties: { symbol: SYMBOL, resolution: { type: 'string', enum: RESOLUTIONS } },
        },
        querystring: {
          type: 'object',
          properties: {
            limit: limitSchema(DEFAULT_LIMIT, MAX_LIMIT),
            startTs: { ...TS, description: 'newest bucket wanted, unix seconds, inclusive' },
            endTs: { ...TS, description: 'oldest bucket wanted, unix seconds, inclusive' },
          },
        },
        response: {
          200: {
            description: 'candles, newest first',
            type: 'object',
            required: ['success', 'records'],
            properties: { success: { type: 'boolean', const: true }, records: { type: 'array', items: candleSchema } },
          },
          ...errorResponses,
        },
      }),
    },
    async ({ params, query }) => {
      const { startTs, endTs, limit } = query;
      if (startTs !== undefined && endTs !== undefined && startTs <= endTs) {
        throw new HistoryError('validation', 'Start timestamp must be after end timestamp');
      }
      const market = marketOf(services, params.symbol);
      const { resolution } = params;
      const open = await newestBucket(services, market, resolution);
      if (open === null) return { success: true, records: [] };
      const newest = Math.min(open, bucketStart(resolution, startTs ?? open));
      const byLimit = shiftBucket(resolution, newest, 1 - limit);
      const oldest = endTs === undefined ? byLimit : Math.max(byLimit, firstBucketFrom(resolution, endTs));
      const request = { market, resolution, oldest, end: shiftBucket(resolution, newest, 1) };
      const [traded, previous] = await Promise.all([
        tradedBuckets(services.store, request),
        previousClose(services.store, market, oldest),
      ]);
      const range = { resolution, oldest, newest, baseDecimals: baseDecimals(market) };
      return { success: true, records: buildCandles(range, traded, previous) };
    },
  );
}

/** The oldest bucket whose start is not before `ts`. */
function firstBucketFrom(resolution: Resolution, ts: number): number {
  const start = bucketStart(resolution, ts);
  return start === ts ? start : shiftBucket(resolution, start, 1);
}

/** The bucket of now, or of the newest fill where the chain's clock is ahead; null when the market never traded. */
async function newestBucket(
  { store, now }: HistoryServices,
  market: MarketView,
  resolution: Resolution,
): Promise<number | null> {
  // In the order of the table's key, so that only its end is read.
  const [row] = await store.rows<{ ts: string }>(
    `SELECT ts FROM {db:Identifier}.order_action WHERE ${CANDLE_FILLS} ORDER BY ts DESC LIMIT 1`,
    marketParameters(market),
  );
  return row ? bucketStart(resolution, Math.max(now(), Number(row.ts))) : null;
}

interface BucketRow {
  readonly bucket: string;
  readonly fill: readonly string[];
  readonly oracle: readonly string[];
  readonly quoteVolume: string;
  readonly baseVolume: string;
}

interface BucketRequest {
  readonly market: MarketView;
  readonly resolution: Resolution;
  readonly oldest: number;
  /** End of the newest bucket, exclusive. */
  readonly end: number;
}

const OHLC = (value: string): string =>
  `[toString(argMin(${value}, fid)), toString(max(${value})), toString(min(${value})), toString(argMax(${value}, fid))]`;

/** Open and close follow the fill record id, so that a fill that arrives late changes volumes and extremes only. */
async function tradedBuckets(
  store: HistoryStore,
  { market, resolution, oldest, end }: BucketRequest,
): Promise<readonly TradedBucket[]> {
  const parameters: Parameters = { ...candleParameters(market), oldest, end };
  const rows = await store.rows<BucketRow>(
    `SELECT bucket, ${OHLC('price')} AS fill, ${OHLC('oracle')} AS oracle,
       toString(sum(quote)) AS quoteVolume, toString(sum(base)) AS baseVolume
     FROM (
       SELECT ${bucketSql(resolution, 'toInt64(ts)')} AS bucket, assumeNotNull(fill_record_id) AS fid,
         ${PRICE_SQL} AS price, toInt64(oracle_price) AS oracle,
         toUInt128(assumeNotNull(quote_asset_amount_filled)) AS quote,
         toUInt128(assumeNotNull(base_asset_amount_filled)) AS base
       FROM {db:Identifier}.order_action FINAL
       WHERE ${CANDLE_FILLS} AND ts >= {oldest:Int64} AND ts < {end:Int64}
     ) GROUP BY bucket ORDER BY bucket`,
    parameters,
  );
  return rows.map((row) => ({
    ts: Number(row.bucket),
    fill: ohlc(row.fill),
    oracle: ohlc(row.oracle),
    quoteVolume: BigInt(row.quoteVolume),
    baseVolume: BigInt(row.baseVolume),
  }));
}

function ohlc(values: readonly string[]): Ohlc {
  const [open = '0', high = '0', low = '0', close = '0'] = values;
  return { open: BigInt(open), high: BigInt(high), low: BigInt(low), close: BigInt(close) };
}

/** Fill price and oracle price of the last fill before `ts`; null when there was none. */
async function previousClose(store: HistoryStore, market: MarketView, ts: number): Promise<PreviousClose | null> {
  const rows = await store.rows<{ fill: string; oracle: string }>(
    `SELECT toString(${PRICE_SQL}) AS fill, toString(oracle_price) AS oracle
     FROM {db:Identifier}.order_action WHERE ${CANDLE_FILLS} AND ts < {before:Int64}
     ORDER BY ts DESC, fill_record_id DESC LIMIT 1`,
    { ...candleParameters(market), before: ts },
  );
  const [row] = rows;
  return row ? { fill: BigInt(row.fill), oracle: BigInt(row.oracle) } : null;
}
