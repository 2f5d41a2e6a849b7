// /hosted: the history paths with the shapes of the hosted data API, for connectors written against that API. It registers the
// other routes again and converts their answers, so queries and errors stay the same.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { collectOpenApi } from '../../http/contract/openapi.ts';
import { inScope } from '../../http/scope.ts';
import { decimalsOf, type Members } from '../amount-decimals.ts';
import { type Conversion, convertedSchema, converterOf, DECIMAL_TEXT, type MemberSchemas } from '../amount-view.ts';
import type { Schema } from '../answer-schemas.ts';
import { ammRoutes } from '../routes/amm.ts';
import { authorityRoutes } from '../routes/authority.ts';
import { hostedBoardRoutes } from '../routes/boards.ts';
import { candleRoutes } from '../routes/candles.ts';
import { percentListingRoutes } from '../routes/listing.ts';
import { marketListRoutes } from '../routes/market-lists.ts';
import { snapshotRoutes } from '../routes/snapshots.ts';
import { fundingStatsRoutes } from '../routes/stats-funding.ts';
import { fundRoutes } from '../routes/stats-funds.ts';
import { lossRoutes } from '../routes/stats-losses.ts';
import { marketStatsRoutes } from '../routes/stats-markets.ts';
import { userListRoutes } from '../routes/user-lists.ts';
import { userOrderRoutes } from '../routes/user-orders.ts';
import type { HistoryServices } from '../services.ts';
import { convertedCsv } from './csv.ts';
import { hostedMarketRoutes } from './markets.ts';
import { hostedMembers, hostedRow } from './rows.ts';
import { decimalPoints, SERIES } from './series.ts';

export const HOSTED_PREFIX = '/hosted';

const INFO = {
  title: 'Slotbook history in the shapes of the hosted data API',
  version: '1.0.0',
  description:
    'For connectors with a configurable address. Parameters, errors and rows are those of the paths without this prefix; amounts are ' +
    'decimal numbers as text, dated archives are paged by number, and a rebate has the sign of the fee it lowers. An amount ' +
    'of an unknown spot market is null.',
};

const ROUTES = [
  hostedMarketRoutes,
  marketListRoutes,
  candleRoutes,
  userListRoutes,
  userOrderRoutes,
  snapshotRoutes,
  authorityRoutes,
  marketStatsRoutes,
  fundingStatsRoutes,
  lossRoutes,
  fundRoutes,
  hostedBoardRoutes,
  ammRoutes,
  percentListingRoutes,
];

/** Registers the routes below a prefix and serves their own contract at `/openapi.json` there. */
export async function hostedRoutes(app: FastifyInstance, services: HistoryServices): Promise<void> {
  const contract = collectOpenApi(app, INFO);
  app.addHook('onRoute', (route) => convertRoute(route, services));
  for (const routes of ROUTES) await inScope(app, (scope) => routes(scope, services));
  app.get('/openapi.json', async () => contract());
}

interface ListEnvelope {
  readonly csv?: string;
  readonly properties?: {
    readonly records?: { readonly items: Schema & { readonly properties: MemberSchemas } };
    readonly meta?: { readonly properties: MemberSchemas };
  };
}

/** Adds the hooks that convert a route's answers, and replaces the schema of the answer. */
function convertRoute(route: RouteOptions, services: HistoryServices): void {
  const response = route.schema?.response as Readonly<Record<string, Schema>> | undefined;
  if (response?.[200] === undefined || route.method === 'HEAD') return;
  const answer = hostedMembers(response[200]);
  const convert = bodyConverter(route, answer, services);
  route.preSerialization = async (_request: FastifyRequest, { statusCode }: FastifyReply, body: unknown) =>
    statusCode === 200 ? convert(body as Members, _request.params as Members) : body;
  if ((answer as ListEnvelope).csv !== undefined) {
    // The compression is among the hooks already, so the conversion must precede it.
    route.onSend = [csvConverter(answer, services), ...[route.onSend ?? []].flat()];
  }
  route.schema = { ...route.schema, response: { ...response, 200: hostedSchema(route, answer) } };
}

const conversionOf = ({ markets }: HistoryServices): Conversion => ({
  format: DECIMAL_TEXT,
  decimalsOf: (unit, name, holder) => decimalsOf((market) => markets.get(market), unit, name, holder),
  prepare: hostedRow,
});

const pathOf = ({ url }: RouteOptions): string => url.slice(HOSTED_PREFIX.length);

type ConvertBody = (body: Members, params: Members) => unknown;

function bodyConverter(route: RouteOptions, answer: Schema, services: HistoryServices): ConvertBody {
  const series = SERIES[pathOf(route)];
  if (series) {
    const { member, decimals } = series;
    return (body, params) => ({
      ...body,
      [member]: decimalPoints(body[member] as readonly unknown[][], decimals(params, services)),
    });
  }
  const convert = converterOf(answer, conversionOf(services));
  const converted = (body: Members): unknown => (convert ? convert(body, '', {}) : body);
  return isDated(answer) ? (body) => numbered(converted(body) as DatedBody) : converted;
}

interface DatedBody {
  readonly meta: { readonly currentPage: number; readonly totalPages: number };
}

/** Archives give the number of the next page instead of a token. */
function numbered(body: DatedBody): object {
  const { currentPage, totalPages } = body.meta;
  return { ...body, meta: { ...body.meta, nextPage: currentPage < totalPages ? currentPage + 1 : null } };
}

const isDated = (answer: Schema): boolean =>
  (answer as ListEnvelope).properties?.meta?.properties.totalPages !== undefined;

function csvConverter(answer: Schema, services: HistoryServices) {
  const items = (answer as ListEnvelope).properties?.records?.items;
  const schemas = items?.properties ?? {};
  const convert = items && converterOf(items, conversionOf(services));
  return async (_request: FastifyRequest, _reply: FastifyReply, payload: unknown) =>
    convert && payload instanceof Readable
      ? convertedCsv(payload, schemas, (row) => convert(row, '', {}) as Members)
      : payload;
}

function hostedSchema(route: RouteOptions, answer: Schema): Schema {
  const series = SERIES[pathOf(route)];
  const converted = convertedSchema(answer, DECIMAL_TEXT) as Schema & { readonly properties?: MemberSchemas };
  const { properties } = converted;
  if (series) {
    const { member, description } = series;
    return { ...converted, properties: { ...properties, [member]: { ...properties?.[member], description } } };
  }
  if (!isDated(answer)) return converted;
  const meta = properties?.meta as Schema & { readonly properties: MemberSchemas };
  const nextPage = { type: ['integer', 'null'], description: 'pass back as page' };
  return {
    ...converted,
    properties: { ...properties, meta: { ...meta, properties: { ...meta.properties, nextPage } } },
  };
}
