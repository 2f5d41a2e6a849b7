// The history service's HTTP layer: settings common to every route, and the list of routes.

import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { collectOpenApi } from '../http/contract/openapi.ts';
import { edgeErrorHandler, HTTP_OPTIONS, ignoreUnreadBodies, lacksHost } from '../http/edge-errors.ts';
import { compressAnswers } from '../http/encodings.ts';
import { HISTORY_ERRORS, HistoryError, type HistoryErrorCode, type JsonError } from '../http/errors.ts';
import { LENIENT_PATHS, originForm } from '../http/paths.ts';
import { convertingValidator } from '../http/request-validators.ts';
import { inScope } from '../http/scope.ts';
import { exportRoutes } from './exports/routes.ts';
import { HOSTED_PREFIX, hostedRoutes } from './hosted/routes.ts';
import { FINAL_HEADER, WALLET_SCHEMES } from './route-schemas.ts';
import { ammRoutes } from './routes/amm.ts';
import { authorityRoutes } from './routes/authority.ts';
import { boardRoutes } from './routes/boards.ts';
import { candleRangeRoutes } from './routes/candle-range.ts';
import { candleRoutes } from './routes/candles.ts';
import { documentRoutes, TAGS } from './routes/documents.ts';
import { freshnessRoutes } from './routes/freshness.ts';
import { legacyRoutes } from './routes/legacy.ts';
import { listingRoutes } from './routes/listing.ts';
import { marketListRoutes } from './routes/market-lists.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { publicRoutes } from './routes/public.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { fundingStatsRoutes } from './routes/stats-funding.ts';
import { fundRoutes } from './routes/stats-funds.ts';
import { lossRoutes } from './routes/stats-losses.ts';
import { marketStatsRoutes, summaryRoute } from './routes/stats-markets.ts';
import { userListRoutes } from './routes/user-lists.ts';
import { userOrderRoutes } from './routes/user-orders.ts';
import type { HistoryServices } from './services.ts';
import { historyAsyncApi } from './socket/asyncapi.ts';
import { transactionRoutes } from './transactions/routes.ts';

const INFO = {
  title: 'Slotbook history',
  version: '1.0.0',
  description:
    'Indexed history of protocol events. Amounts in records are raw integers as decimal strings (base 1e9, quote 1e6, ' +
    'price 1e6, funding 1e9); candles and market summaries are JSON numbers in human units. A path that does not decode is ' +
    '400, and request line and headers of more than 64 KiB are 431, with the error body of any other fault. A client or ' +
    'wallet with too many requests is answered 429 with `Retry-After`. Connectors written against the hosted data API find ' +
    'its decimals and envelopes below `/hosted` (`/hosted/openapi.json`).',
};

const ROUTES = [
  marketListRoutes,
  candleRoutes,
  candleRangeRoutes,
  legacyRoutes,
  userListRoutes,
  userOrderRoutes,
  snapshotRoutes,
  authorityRoutes,
  exportRoutes,
  summaryRoute,
  marketStatsRoutes,
  fundingStatsRoutes,
  lossRoutes,
  fundRoutes,
  boardRoutes,
  ammRoutes,
  publicRoutes,
  notificationRoutes,
  listingRoutes,
  freshnessRoutes,
  transactionRoutes,
];

/** Longer names are refused before they reach a route. */
const MAX_PARAM_LENGTH = 1_024;
const MAX_MESSAGE_CHARS = 200;
/** Longest time for a client to send a request with its body. */
const REQUEST_TIMEOUT_MS = 30_000;

export async function historyApp(services: HistoryServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    // The schema, not the router, refuses a name that is too long.
    routerOptions: { ...LENIENT_PATHS, maxParamLength: MAX_PARAM_LENGTH },
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    // The router itself refuses a name that is too long and an invalid escape.
    frameworkErrors: (error, _request, reply) => {
      const { status, error: name } = HISTORY_ERRORS.validation;
      // The reply's type allows the status codes of every route at once, and no code is in all of them.
      const plain = reply as unknown as FastifyReply;
      plain.code(status).header('access-control-allow-origin', '*');
      void plain.send({ error: name, message: error.message.slice(0, MAX_MESSAGE_CHARS) });
    },
    ...(services.limits?.trustedProxies ? { trustProxy: services.limits.trustedProxies } : {}),
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: HTTP_OPTIONS,
    clientErrorHandler: edgeErrorHandler((fault) => {
      const { status, error, message } = HISTORY_ERRORS[fault];
      return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify({ error, message }) };
    }),
  });
  services.metrics?.requests.watch(app);
  app.setValidatorCompiler(convertingValidator);
  // Response schemas only describe answers; they remove nothing from them.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  ignoreUnreadBodies(app);
  await app.register(cors, {
    origin: '*',
    methods: '*',
    exposedHeaders: ['retry-after', FINAL_HEADER],
    strictPreflight: false,
  });
  await compressAnswers(app);
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    done(lacksHost(raw) ? new HistoryError('malformedHttp') : undefined);
  });
  services.limits?.watch(app);
  app.addHook('preHandler', ({ params, query }, _reply, done) =>
    done(infinite('params', params) ?? infinite('querystring', query)),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const { code, message } = failure(error);
    const entry: JsonError = HISTORY_ERRORS[code];
    if (code === 'internal') logger.error({ error }, 'request failed');
    else if (entry.status >= 500) logger.warn({ error: String(error.cause ?? error) }, 'request could not be answered');
    const { status, error: name, bare } = entry;
    if (error instanceof HistoryError && error.retryAfterS !== null) reply.header('retry-after', error.retryAfterS);
    return reply
      .code(status)
      .send(bare ? { success: false, error: name } : { error: name, message: entry.message ?? message });
  });
  app.setNotFoundHandler(({ method, url }, reply) =>
    reply
      .code(HISTORY_ERRORS.notFound.status)
      .send({ error: HISTORY_ERRORS.notFound.error, message: `Route ${method}:${url.split('?', 1)[0]} not found` }),
  );
  await inScope(app, (scope) => rawRoutes(scope, services));
  await inScope(app, (scope) => hostedRoutes(scope, services), { prefix: HOSTED_PREFIX });
  const socketContract = historyAsyncApi();
  app.get('/asyncapi.json', async () => socketContract);
  return app;
}

/** All paths except those below /hosted, with a contract that covers these paths only. */
async function rawRoutes(app: FastifyInstance, services: HistoryServices): Promise<void> {
  const contract = collectOpenApi(app, INFO, { tags: TAGS, components: { securitySchemes: WALLET_SCHEMES } });
  for (const routes of ROUTES) await inScope(app, (scope) => routes(scope, services));
  documentRoutes(app, contract);
}

/** The validator accepts `Infinity` and `1e309` as integers and checks no bounds on them, so this check refuses them. */
function infinite(part: 'params' | 'querystring', values: unknown): HistoryError | undefined {
  const found = Object.entries(values ?? {}).find(([, value]) => typeof value === 'number' && !Number.isFinite(value));
  return found && new HistoryError('validation', `${part}/${found[0]} must be integer`);
}

/** Maps a thrown error to an entry of the error table. */
function failure(error: FastifyError): { code: HistoryErrorCode; message: string } {
  if (error instanceof HistoryError) return { code: error.code, message: error.message };
  if (error.statusCode === HISTORY_ERRORS.bodyTooLarge.status) return { code: 'bodyTooLarge', message: error.message };
  const clientFault = error.validation || (error.statusCode !== undefined && error.statusCode < 500);
  return { code: clientFault ? 'validation' : 'internal', message: error.message };
}
