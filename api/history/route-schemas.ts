// JSON Schemas shared by routes. The same objects validate requests and form `/openapi.json`.

import type { FastifySchema } from 'fastify';
import type { SecurityRequirement } from '../http/contract/openapi.ts';
import { HISTORY_ERRORS, type JsonError } from '../http/errors.ts';
import { type RowField, rowSchema } from './fields.ts';
import { MESSAGE_HEADER, SIGNATURE_HEADER, WALLET_HEADER } from './wallet/signed-headers.ts';

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

/** A larger value is in milliseconds by mistake. */
const MAX_TS = 100_000_000_000;
export const TS = { type: 'integer', minimum: 0, maximum: MAX_TS };
/** Filters of every rolling list: an interval in either order, both ends inclusive. */
export const TS_FILTERS = {
  startTs: { ...TS, description: 'one end of the interval, unix seconds, inclusive' },
  endTs: { ...TS, description: 'the other end of the interval, unix seconds, inclusive' },
};

/** First year of the archive (docs/reference/history-rest.md). */
const FIRST_YEAR = 2022;
const LAST_YEAR = 2200;
export const MONTH_PARAMS = {
  year: { type: 'integer', minimum: FIRST_YEAR, maximum: LAST_YEAR },
  month: { type: 'integer', minimum: 1, maximum: 12 },
};
export const DAY_PARAMS = { ...MONTH_PARAMS, day: { type: 'integer', minimum: 1, maximum: 31 } };
export const archiveQuery = {
  page: { ...PAGE, description: `${PAGE.description}, or a page number` },
  format: { type: 'string', enum: ['json', 'csv'], default: 'json', description: 'csv holds the whole period' },
};

/** A public key in a path. The route decodes it to validate it. */
export const PUBLIC_KEY = { type: 'string', description: 'public key, base58' };

/** A route schema with texts for the contract. */
export interface DescribedSchema extends FastifySchema {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Schema of a JSON body that the route checks itself. */
  readonly requestBody?: object;
  /** Of routes that read wallet headers: `WALLET_SIGNED`, or `WALLET_OR_OPEN`. */
  readonly security?: readonly SecurityRequirement[];
}

/** Types a described schema as a fastify schema. */
export function described(schema: DescribedSchema): FastifySchema {
  return schema;
}

/** The three headers of a signed request, as security schemes of the contract: one scheme for each header. */
export const WALLET_SCHEMES = {
  walletAddress: headerScheme(WALLET_HEADER, 'public key of the wallet, base58'),
  walletSignature: headerScheme(
    SIGNATURE_HEADER,
    'Ed25519 signature of that wallet over the bytes of x-signed-message, base58',
  ),
  walletMessage: headerScheme(
    MESSAGE_HEADER,
    'JSON object with `action` (text), `ts` (unix seconds, at most an hour old), `walletAddress` (as in ' +
      'x-wallet-address), and for a delegate `isDelegate` (true) and `velocityUserAccount` (the account). Other members ' +
      'are allowed. A write takes each signature once, so add a `nonce`.',
  ),
};

function headerScheme(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description };
}

const ALL_WALLET_HEADERS: SecurityRequirement = Object.fromEntries(
  Object.keys(WALLET_SCHEMES).map((scheme) => [scheme, []]),
);
/** A route that refuses requests without wallet headers. */
export const WALLET_SIGNED: readonly SecurityRequirement[] = [ALL_WALLET_HEADERS];
/** A route that also answers without wallet headers. */
export const WALLET_OR_OPEN: readonly SecurityRequirement[] = [ALL_WALLET_HEADERS, {}];

/** `limit` with its default and maximum. */
export function limitSchema(fallback: number, maximum: number) {
  return { type: 'integer', minimum: 1, maximum, default: fallback, description: 'rows per page' };
}

const errorBody = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' } },
};

const bareBody = {
  type: 'object',
  required: ['success', 'error'],
  properties: { success: { type: 'boolean', const: false }, error: { type: 'string' } },
};

/** Every route counts its requests by client, before it reads anything else of them. */
const tooManyResponse = {
  ...bareBody,
  description: `status ${HISTORY_ERRORS.tooManyRequests.status}`,
  headers: {
    'Retry-After': {
      required: true,
      description: 'whole seconds after which a request is allowed again',
      schema: { type: 'integer', minimum: 1 },
    },
  },
};

const ALL_ERRORS: readonly JsonError[] = Object.values(HISTORY_ERRORS);
const statusesOf = (errors: readonly JsonError[]) => [...new Set(errors.map(({ status }) => status))];

/** Schemas of answers by status. */
type Responses = Readonly<Record<number, Readonly<Record<string, unknown>>>>;

/** Failure answers of every route. */
export const errorResponses: Responses = {
  ...Object.fromEntries(
    statusesOf(
      ALL_ERRORS.filter(({ signed, hasBody, socket, ofExports }) => !signed && !hasBody && !socket && !ofExports),
    )
      .filter((status) => status !== HISTORY_ERRORS.notFound.status)
      .map((status) => [status, { ...errorBody, description: `status ${status}` }]),
  ),
  [HISTORY_ERRORS.tooManyRequests.status]: tooManyResponse,
};

/** Failure answers of dated archives, beside the others. */
export const archiveResponses: Responses = {
  [HISTORY_ERRORS.downloadsBusy.status]: {
    ...errorResponses[HISTORY_ERRORS.downloadsBusy.status],
    headers: {
      'Retry-After': {
        description: 'whole seconds after which to ask again: too many downloads run and wait',
        schema: { type: 'integer', minimum: 1 },
      },
    },
  },
};

/** Failure answers of routes that read wallet signatures. */
export const signedResponses: Responses = {
  ...errorResponses,
  ...Object.fromEntries(
    statusesOf(ALL_ERRORS.filter(({ signed }) => signed === true)).map((status) => [
      status,
      { description: `status ${status}`, ...(errorResponses[status] ? { anyOf: [errorBody, bareBody] } : bareBody) },
    ]),
  ),
};

/** Failure answers of routes with a body, beside the others. */
export const bodyResponses = {
  [HISTORY_ERRORS.bodyTooLarge.status]: { ...errorBody, description: 'the body is too large' },
};

/** `meta.finalBefore` of rolling lists. */
export const FINAL_BEFORE = {
  type: ['integer', 'null'],
  description:
    'unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not ' +
    'said what is final',
};

/** Envelope of rolling lists: `{success, records, meta: {nextPage, finalBefore}}`. */
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
        required: ['nextPage', 'finalBefore'],
        properties: {
          nextPage: { type: ['string', 'null'], description: 'opaque cursor; null when no more rows' },
          finalBefore: FINAL_BEFORE,
        },
      },
    },
  };
}

/** `meta.isFinal` of an answer without an envelope. */
export const FINAL_HEADER = 'x-final';

/** Envelope of dated archives. */
export function datedResponse(fields: readonly RowField[]) {
  return {
    description: 'rows of the period, newest first',
    csv: 'the whole period, with a header line',
    headers: {
      [FINAL_HEADER]: {
        description: 'of a CSV: `true` once the chain has finalized the period, else `false`',
        schema: { type: 'string', enum: ['true', 'false'] },
      },
    },
    type: 'object',
    required: ['success', 'records', 'meta'],
    properties: {
      success: { type: 'boolean', const: true },
      records: { type: 'array', items: rowSchema(fields) },
      meta: {
        type: 'object',
        required: ['records', 'totalRecords', 'totalPages', 'currentPage', 'nextPage', 'isFinal'],
        properties: {
          records: { type: 'integer', description: 'rows on this page' },
          totalRecords: { type: 'integer', description: 'rows of the whole period' },
          totalPages: { type: 'integer', description: '0 when the period is empty' },
          currentPage: { type: 'integer', description: 'starts at 1' },
          nextPage: { type: ['string', 'null'], description: 'pass back as page' },
          isFinal: {
            type: 'boolean',
            description: 'true once the chain has finalized the period, so that it takes no row back',
          },
          includesLatest: { type: 'boolean', description: 'true while the period is not over' },
        },
      },
    },
  };
}
