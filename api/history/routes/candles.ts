// GET /market/{symbol}/candles/{resolution}: candles as the reducer made them of the log.

import type { FastifyInstance } from 'fastify';
import type { CandleResolution } from '../../../schemas/index.ts';
import { HistoryError } from '../../errors.ts';
import { candleBody } from '../candle-body.ts';
import { marketParameters } from '../lists.ts';
import { RESOLUTIONS } from '../resolutions.ts';
import { described, errorResponses, limitSchema, SYMBOL, TS } from '../route-schemas.ts';
import { type HistoryServices, marketOf } from '../services.ts';
import type { HistoryStore, Parameters } from '../store.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

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
    baseVolume: { ...NUMBER, description: 'human base amount; 0 when nothing was traded' },
  },
};

export function candleRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { symbol: string; resolution: CandleResolution }; Querystring: CandleQuery }>(
    '/market/:symbol/candles/:resolution',
    {
      schema: described({
        summary: 'Candles of a market, of any age; unlike records, in human units',
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
    async ({ params: { symbol, resolution }, query: { startTs, endTs, limit } }) => {
      if (startTs !== undefined && endTs !== undefined && startTs <= endTs) {
        throw new HistoryError('validation', 'Start timestamp must be after end timestamp');
      }
      const market = marketOf(services, symbol);
      await services.projections.require('candles');
      const scope = {
        ...marketParameters(market),
        resolution,
        ...(startTs === undefined ? {} : { newest: startTs }),
        ...(endTs === undefined ? {} : { oldest: endTs }),
      };
      const rows = await readCandles(services.store, scope, limit);
      return { success: true, records: rows.map((row) => candleBody(candleOf(row), market)) };
    },
  );
}

interface CandleRow {
  readonly ts: string;
  /** Open, high, low, close, 1e6. */
  readonly fill: readonly string[];
  readonly oracle: readonly string[];
  readonly quoteVolume: string;
  readonly baseVolume: string;
}

const ohlc = (price: string): string =>
  `[${['open', 'high', 'low', 'close'].map((part) => `assumeNotNull(${price}_${part})`).join(', ')}]`;

/** Stored rows that are looked at for one page: enough where candles have no more than two versions on average. */
const probeRows = (limit: number): number => 2 * limit + 64;

/** Newest first; of a candle's versions the newest. A market without a fill has no candles. */
async function readCandles(store: HistoryStore, scope: Parameters, limit: number): Promise<readonly CandleRow[]> {
  const parameters = { ...scope, limit, probe: probeRows(limit) };
  const rows = `FROM {db:Identifier}.candle
    WHERE market_type = {marketType:String} AND market_index = {marketIndex:UInt16} AND resolution = {resolution:String}
      ${'newest' in scope ? 'AND ts <= {newest:Int64}' : ''} ${'oldest' in scope ? 'AND ts >= {oldest:Int64}' : ''}
      AND isNotNull(fill_close) AND isNotNull(oracle_close)`;
  const members = `ts, ${ohlc('fill')} AS fill, ${ohlc('oracle')} AS oracle,
    toString(quote_volume) AS quoteVolume, toString(base_volume) AS baseVolume`;
  const ordered = 'ORDER BY ts DESC, version DESC LIMIT 1 BY ts LIMIT {limit:UInt32}';
  // As for lists: times first, so that the server need not read whole blocks of every part.
  const found = await store.rows<CandleRow & { readonly probed: string }>(
    `WITH (SELECT (min(ts), count()) FROM (SELECT ts ${rows} ORDER BY ts DESC LIMIT {probe:UInt32})) AS bound
     SELECT ${members}, bound.2 AS probed ${rows} AND ts >= bound.1 ${ordered}`,
    parameters,
  );
  if (found.length >= limit || Number(found[0]?.probed ?? 0) < parameters.probe) return found;
  return store.rows<CandleRow>(`SELECT ${members} ${rows} ${ordered}`, parameters);
}

function candleOf({ ts, fill, oracle, quoteVolume, baseVolume }: CandleRow) {
  const [fillOpen = 0n, fillHigh = 0n, fillLow = 0n, fillClose = 0n] = fill.map(BigInt);
  const [oracleOpen = 0n, oracleHigh = 0n, oracleLow = 0n, oracleClose = 0n] = oracle.map(BigInt);
  return {
    ts: Number(ts),
    ...{ fillOpen, fillHigh, fillLow, fillClose, oracleOpen, oracleHigh, oracleLow, oracleClose },
    quoteVolume: BigInt(quoteVolume),
    baseVolume: BigInt(baseVolume),
  };
}
