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

export const symbolParams = { type: 'object', required: ['symbol'], properties: { symbol: SYMBOL } };

export const PAGE = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: 'meta.nextPage of the previous response',
};

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
    description: 'rows of the day, newest first; with format=csv the whole day as text/csv',
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
          totalRecords: { type: 'integer', description: 'rows of the whole day' },
          totalPages: { type: 'integer', description: '0 when the day is empty' },
          currentPage: { type: 'integer', description: 'starts at 1' },
          nextPage: { type: ['string', 'null'], description: 'pass back as page' },
          includesLatest: { type: 'boolean', description: 'true while the day is not over' },
        },
      },
    },
  };
}
