// JSON Schemas shared by routes: the same objects validate requests and make `/openapi.json`.

import type { FastifySchema } from 'fastify';
import { HISTORY_ERRORS } from '../errors.ts';
import { type RowField, rowSchema } from './fields.ts';

export const SYMBOL = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'market symbol, for example SOL-PERP',
};

export const PAGE = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: 'meta.nextPage of the previous response',
};

/** Larger values are milliseconds by mistake. */
const MAX_TS = 100_000_000_000;
export const TS = { type: 'integer', minimum: 0, maximum: MAX_TS };
/** Filters of every rolling list: an interval in either order, both ends inclusive. */
export const TS_FILTERS = {
  startTs: { ...TS, description: 'one end of the interval, unix seconds, inclusive' },
  endTs: { ...TS, description: 'the other end of the interval, unix seconds, inclusive' },
};

/** First year of the archive (specification, Limits). */
const FIRST_YEAR = 2022;
const LAST_YEAR = 2200;
export const MONTH_PARAMS = {
  year: { type: 'integer', minimum: FIRST_YEAR, maximum: LAST_YEAR },
  month: { type: 'integer', minimum: 1, maximum: 12 },
};
export const DAY_PARAMS = { ...MONTH_PARAMS, day: { type: 'integer', minimum: 1, maximum: 31 } };
export const archiveQuery = {
  page: { ...PAGE, description: `${PAGE.description}, or a page number` },
  format: { type: 'string', enum: ['json', 'csv'], default: 'json', description: 'csv holds the whole slot' },
};

/** A public key in a path; checked by decoding it. */
export const PUBLIC_KEY = { type: 'string', description: 'public key, base58' };

/** A route schema with what the contract says about it beyond validation. */
export interface DescribedSchema extends FastifySchema {
  readonly summary: string;
  readonly tags: readonly string[];
}

/** For fastify a schema like any other, for `/openapi.json` a described one. */
export function described(schema: DescribedSchema): FastifySchema {
  return schema;
}

/** `limit` with its default and maximum. */
export function limitSchema(fallback: number, maximum: number) {
  return { type: 'integer', minimum: 1, maximum, default: fallback, description: 'rows per page' };
}

const errorBody = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' } },
};

/** Failure answers of every route. */
export const errorResponses = Object.fromEntries(
  [...new Set(Object.values(HISTORY_ERRORS).map(({ status }) => status))]
    .filter((status) => status !== HISTORY_ERRORS.notFound.status)
    .map((status) => [status, { ...errorBody, description: `status ${status}` }]),
);

/** Envelope of rolling lists: `{success, records, meta: {nextPage}}`. */
export function rollingResponse(fields: readonly RowField[]) {
  return {
    description: 'rows, newest first, of the last 31 days',
    type: 'object',
    required: ['success', 'records', 'meta'],
    properties: {
      success: { type: 'boolean', const: true },
      records: { type: 'array', items: rowSchema(fields) },
      meta: {
        type: 'object',
        required: ['nextPage'],
        properties: { nextPage: { type: ['string', 'null'], description: 'opaque cursor; null when no more rows' } },
      },
    },
  };
}

/** Envelope of dated archives. */
export function datedResponse(fields: readonly RowField[]) {
  return {
    description: 'rows of the slot, newest first',
    csv: 'the whole slot, with a header line',
    type: 'object',
    required: ['success', 'records', 'meta'],
    properties: {
      success: { type: 'boolean', const: true },
      records: { type: 'array', items: rowSchema(fields) },
      meta: {
        type: 'object',
        required: ['records', 'totalRecords', 'totalPages', 'currentPage', 'nextPage'],
        properties: {
          records: { type: 'integer', description: 'rows on this page' },
          totalRecords: { type: 'integer', description: 'rows of the whole slot' },
          totalPages: { type: 'integer', description: '0 when the slot is empty' },
          currentPage: { type: 'integer', description: 'starts at 1' },
          nextPage: { type: ['string', 'null'], description: 'pass back as page' },
          includesLatest: { type: 'boolean', description: 'true while the slot is not over' },
        },
      },
    },
  };
}
