// GET /market/{symbol}/candles/{resolution}: stored candles, newest first.

import type { FastifyInstance } from 'fastify';
import { CANDLE_RESOLUTIONS, type CandleResolution } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { type CandleAmounts, candleBody } from '../candle-body.ts';
import { marketParameters } from '../lists.ts';
import { STEP_S } from '../resolutions.ts';
import { described, errorResponses, limitSchema, SYMBOL, TS } from '../route-schemas.ts';
import { type HistoryServices, marketOf } from '../services.ts';
import { PAGE_SETTINGS, type Parameters } from '../store.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

interface CandleQuery {
  readonly limit: number;
  readonly startTs?: number;
  readonly endTs?: number;
}

/** Path parameters of candles. */
export const CANDLE_PARAMS = {
  type: 'object',
  required: ['symbol', 'resolution'],
  properties: { symbol: SYMBOL, resolution: { type: 'string', enum: CANDLE_RESOLUTIONS } },
};

const NUMBER = { type: 'number' };
const CANDLE_PROPERTIES = {
  ts: { type: 'integer', description: 'bucket start, unix seconds' },
  ...Object.fromEntries(
    ['fill', 'oracle'].flatMap((price) =>
      ['Open', 'High', 'Low', 'Close'].map((part) => [`${price}${part}`, { ...NUMBER, description: 'human price' }]),
    ),
  ),
  quoteVolume: { ...NUMBER, description: 'human quote amount' },
  baseVolume: { ...NUMBER, description: 'human base amount; 0 when nothing was traded' },
};
export const candleSchema = {
  type: 'object',
  required: Object.keys(CANDLE_PROPERTIES),
  properties: CANDLE_PROPERTIES,
};

export function candleRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { symbol: string; resolution: CandleResolution }; Querystring: CandleQuery }>(
    '/market/:symbol/candles/:resolution',
    {
      schema: described({
        summary: 'Candles of a market, of any age; unlike records, in human units',
        description:
          'Pages go back in time: `startTs` is the newest bucket and `endTs` the oldest, and the newest candle comes ' +
          'first. For the next page ask with the oldest `ts` seen as `startTs`; that candle comes again. Longer ranges come ' +
          'in one answer from `/market/{symbol}/candles/{resolution}/bulk`.',
        tags: ['Market'],
        params: CANDLE_PARAMS,
        querystring: {
          type: 'object',
          properties: {
            limit: limitSchema(DEFAULT_LIMIT, MAX_LIMIT),
            startTs: { ...TS, description: 'newest bucket, unix seconds, inclusive; must be after endTs' },
            endTs: { ...TS, description: 'oldest bucket, unix seconds, inclusive; must be before startTs' },
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
    async ({ params: { symbol, resolution }, query: { startTs, endTs, limit } }) => {
      if (startTs !== undefined && endTs !== undefined && startTs <= endTs) {
        throw new HistoryError('validation', 'Start timestamp must be after end timestamp');
      }
      const market = marketOf(services, symbol);
      await services.builtParts.require('candles');
      const parameters = marketParameters(market);
      const rows = await readCandles(services, { resolution, parameters, newest: startTs, oldest: endTs, limit });
      return { success: true, records: rows.map((row) => candleBody(row, market)) };
    },
  );
}

const COLUMNS =
  'ts, fill_open, fill_high, fill_low, fill_close, oracle_open, oracle_high, oracle_low, oracle_close, quote_volume, base_volume';

/** Stored rows behind one page: enough for two versions per candle on average. */
const probeRows = (limit: number): number => 2 * limit + 64;

interface CandleScope {
  readonly resolution: CandleResolution;
  readonly parameters: Parameters;
  /** Bounds of the bucket's start, unix seconds, inclusive. */
  readonly newest: number | undefined;
  readonly oldest: number | undefined;
  readonly limit: number;
}

/**
 * Candles newest first, each in its newest version; a market without a fill has none. The query has a lower time bound, because
 * without one the server reads whole blocks of every part. The first bound assumes that no bucket is missing. When it finds too
 * few candles, the second query takes its bound from the times of the stored rows.
 */
async function readCandles(
  { store, now }: HistoryServices,
  scope: CandleScope,
): Promise<readonly CandleAmounts<string>[]> {
  const { resolution, newest, oldest, limit } = scope;
  const probe = probeRows(limit);
  const bound = Math.min(newest ?? Number.POSITIVE_INFINITY, now()) - (limit + 1) * STEP_S[resolution];
  // PREWHERE, because the older planner reads all columns of a granule before a plain WHERE filters.
  const rows = (since = '') => `FROM {db:Identifier}.candle
    PREWHERE market_type = {marketType:String} AND market_index = {marketIndex:UInt16} AND resolution = {resolution:String}
      ${newest === undefined ? '' : 'AND ts <= {newest:Int64}'} ${oldest === undefined ? '' : 'AND ts >= {oldest:Int64}'}
      ${since === '' ? '' : `AND ts >= ${since}`}`;
  const ordered = 'ORDER BY ts DESC, version DESC LIMIT 1 BY ts LIMIT {limit:UInt32}';
  const ask = async (query: string): Promise<Found> => {
    const parameters = {
      ...scope.parameters,
      ...{ resolution, limit, probe, bound },
      ...(newest === undefined ? {} : { newest }),
      ...(oldest === undefined ? {} : { oldest }),
    };
    return candlesOf(await store.columns<string | null>(query, parameters, PAGE_SETTINGS));
  };
  const near = await ask(`SELECT ${COLUMNS} ${rows('{bound:Int64}')} ${ordered}`);
  if (near.candles.length >= limit || (oldest !== undefined && bound <= oldest)) return near.candles;
  const stored = await ask(
    `WITH (SELECT (min(ts), count()) FROM (SELECT ts ${rows()} ORDER BY ts DESC LIMIT {probe:UInt32})) AS stored
     SELECT ${COLUMNS}, stored.2 AS probed ${rows('stored.1')} ${ordered}`,
  );
  if (stored.candles.length >= limit || stored.probed < probe) return stored.candles;
  return (await ask(`SELECT ${COLUMNS} ${rows()} ${ordered}`)).candles;
}

interface Found {
  readonly candles: readonly CandleAmounts<string>[];
  /** Stored rows behind the bound, where the query counts them. */
  readonly probed: number;
}

/**
 * Columns by name, with or without the row count `probed`. Withdrawn candles have no prices. They are older than all others of their
 * market, so a page without them lacks none.
 */
function candlesOf(columns: Readonly<Record<string, readonly (string | null)[]>>): Found {
  const column = (name: string) => columns[name] ?? [];
  const [fillOpen, fillHigh, fillLow, fillClose] = ['open', 'high', 'low', 'close'].map((part) =>
    column(`fill_${part}`),
  );
  const [oracleOpen, oracleHigh, oracleLow, oracleClose] = ['open', 'high', 'low', 'close'].map((part) =>
    column(`oracle_${part}`),
  );
  const [quoteVolume, baseVolume] = [column('quote_volume'), column('base_volume')];
  const candles = column('ts').flatMap((ts, row) => {
    if (fillClose?.[row] == null) return [];
    const cell = (cells: readonly (string | null)[] | undefined): string => cells?.[row] ?? '0';
    return {
      ts: Number(ts),
      fillOpen: cell(fillOpen),
      fillHigh: cell(fillHigh),
      fillLow: cell(fillLow),
      fillClose: cell(fillClose),
      oracleOpen: cell(oracleOpen),
      oracleHigh: cell(oracleHigh),
      oracleLow: cell(oracleLow),
      oracleClose: cell(oracleClose),
      quoteVolume: cell(quoteVolume),
      baseVolume: cell(baseVolume),
    };
  });
  return { candles, probed: Number(column('probed')[0] ?? 0) };
}
