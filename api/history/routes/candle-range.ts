// GET /market/{symbol}/candles/{resolution}/bulk: a range of candles in one answer. ClickHouse writes it and this process
// streams it, so memory does not grow with the range.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ClickHouseSettings } from '../../../platform/index.ts';
import { type CandleResolution, type MarketView, PRICE_DECIMALS, QUOTE_DECIMALS } from '../../../schemas/index.ts';
import { PARQUET_TYPE } from '../../http/contract/openapi.ts';
import { HistoryError } from '../../http/errors.ts';
import { attachment } from '../attachment.ts';
import { DOWNLOAD_END, DOWNLOAD_SETTINGS, DOWNLOADS_AT_ONCE } from '../downloads.ts';
import { baseDecimals, marketParameters } from '../lists.ts';
import { STEP_S } from '../resolutions.ts';
import { described, errorResponses, TS } from '../route-schemas.ts';
import { type HistoryServices, marketOf } from '../services.ts';
import type { HistoryStore } from '../store.ts';
import { CANDLE_PARAMS, candleSchema } from './candles.ts';

/** A leap year of minutes. */
export const MAX_RANGE_CANDLES = 366 * 24 * 60;

const FORMATS = ['json', 'csv', 'parquet'] as const;
type Format = (typeof FORMATS)[number];

const SERVER_FORMATS = { json: 'JSONEachRow', csv: 'CSVWithNames', parquet: 'Parquet' } as const;
const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: PARQUET_TYPE,
};

const SETTINGS: ClickHouseSettings = {
  ...DOWNLOAD_SETTINGS,
  output_format_json_array_of_rows: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 0,
  output_format_parquet_row_group_size: '100000',
};

interface RangeQuery {
  readonly from: number;
  readonly to?: number;
  readonly format: Format;
}

export function candleRangeRoutes(app: FastifyInstance, services: HistoryServices): void {
  const { store, builtParts, downloads, now } = services;
  app.get<{ Params: { symbol: string; resolution: CandleResolution }; Querystring: RangeQuery }>(
    '/market/:symbol/candles/:resolution/bulk',
    {
      schema: described({
        summary: 'A range of candles of a market in one answer, as JSON, CSV or Parquet; in human units',
        description:
          'Unlike the list, the range goes forward in time, from `from` until before `to`, and the oldest candle comes first. ' +
          `A range holds at most ${MAX_RANGE_CANDLES} buckets (a leap year of minutes; of resolution M 31 days each), and ` +
          `${DOWNLOADS_AT_ONCE} downloads run at once, dated CSVs among them; one more is 503. ${DOWNLOAD_END}`,
        tags: ['Market'],
        params: CANDLE_PARAMS,
        querystring: {
          type: 'object',
          required: ['from'],
          properties: {
            from: { ...TS, description: 'oldest bucket, unix seconds, inclusive' },
            to: { ...TS, description: 'end of the range, unix seconds, exclusive; now when absent' },
            format: { type: 'string', enum: FORMATS, default: 'json' },
          },
        },
        response: {
          200: {
            description: 'candles, oldest first',
            csv: 'the members of a candle as columns, with a header line',
            parquet: 'the members of a candle as columns: ts an integer, all others decimals',
            type: 'object',
            required: ['success', 'records'],
            properties: { success: { type: 'boolean', const: true }, records: { type: 'array', items: candleSchema } },
          },
          ...errorResponses,
        },
      }),
    },
    async ({ params: { symbol, resolution }, query: { from, to = now() + 1, format }, signal }, reply) => {
      checkRange(resolution, from, to);
      const market = marketOf(services, symbol);
      await builtParts.require('candles');
      const query = () => candlesIn(store, market, { resolution, from, to }, format, signal);
      const candles = await downloads.take(query, 0, signal);
      const name = `market-${market.symbol}-candles-${resolution}-${from}-${to}.${format}`;
      return sendRange(reply, format, name, candles);
    },
  );
}

/** Throws a validation HistoryError for an empty or too long range. */
function checkRange(resolution: CandleResolution, from: number, to: number): void {
  if (from >= to) throw new HistoryError('validation', 'from must be before to: from is the oldest bucket, to the end');
  const longest = MAX_RANGE_CANDLES * STEP_S[resolution];
  if (to - from > longest) {
    throw new HistoryError('validation', `the range must be at most ${longest} seconds (${MAX_RANGE_CANDLES} buckets)`);
  }
}

interface CandleRange {
  readonly resolution: CandleResolution;
  /** Unix seconds, inclusive. */
  readonly from: number;
  /** Unix seconds, exclusive. */
  readonly to: number;
}

/** FINAL keeps the newest version of each candle, and a withdrawn one has no price. The store has the rows in this order. */
function candlesIn(
  store: HistoryStore,
  market: MarketView,
  range: CandleRange,
  format: Format,
  gone: AbortSignal,
): Promise<Readable> {
  return store.stream(
    `SELECT ${columns(market)} FROM {db:Identifier}.candle FINAL
     PREWHERE market_type = {marketType:String} AND market_index = {marketIndex:UInt16} AND resolution = {resolution:String}
       AND ts >= {from:Int64} AND ts < {to:Int64}
     WHERE isNotNull(fill_close)
     ORDER BY ts`,
    SERVER_FORMATS[format],
    { ...marketParameters(market), resolution: range.resolution, from: range.from, to: range.to },
    SETTINGS,
    gone,
  );
}

const PRICES = ['fill', 'oracle'].flatMap((price) => ['open', 'high', 'low', 'close'].map((part) => [price, part]));

/** Members of a candle in exact human units: a decimal divided by an integer keeps its places. */
function columns(market: MarketView): string {
  const human = (sql: string, decimals: number, name: string) =>
    `toDecimal128(${sql}, ${decimals}) / ${10n ** BigInt(decimals)} AS "${name}"`;
  const prices = PRICES.map(([price = '', part = '']) =>
    human(`assumeNotNull(${price}_${part})`, PRICE_DECIMALS, `${price}${part.charAt(0).toUpperCase()}${part.slice(1)}`),
  );
  return [
    'ts',
    ...prices,
    human('quote_volume', QUOTE_DECIMALS, 'quoteVolume'),
    human('base_volume', baseDecimals(market), 'baseVolume'),
  ].join(', ');
}

function sendRange(reply: FastifyReply, format: Format, name: string, candles: Readable): FastifyReply {
  reply.type(CONTENT_TYPES[format]);
  if (format === 'json') return reply.send(enveloped(candles));
  return reply.header('content-disposition', attachment(name)).send(candles);
}

/** Wraps a chunked list in `{"success":true,"records":[...]}`. */
function enveloped(list: Readable): Readable {
  const whole = Readable.from(envelopeParts(list), { objectMode: false });
  // A part destroys its source only after the first read.
  whole.once('close', () => list.destroy());
  return whole;
}

async function* envelopeParts(list: Readable): AsyncGenerator<Buffer> {
  yield Buffer.from('{"success":true,"records":');
  yield* list as AsyncIterable<Buffer>;
  yield Buffer.from('}');
}
