// The order-book server's HTTP layer: what is common to every route (reference 1.1), and the routes.

import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { ORDERBOOK_ERRORS, OrderbookError } from '../errors.ts';
import { orderbookOpenApi } from './openapi.ts';
import { auctionParamsRoute } from './routes/auction-params.ts';
import { batchL2Routes } from './routes/batch-l2.ts';
import { contractRoutes } from './routes/contracts.ts';
import { healthRoutes } from './routes/health.ts';
import { l2Route } from './routes/l2.ts';
import { l3Route } from './routes/l3.ts';
import { oracleLazerRoute } from './routes/oracle-lazer.ts';
import { priorityFeesRoutes } from './routes/priority-fees.ts';
import { qualityRoute } from './routes/quality.ts';
import { topMakersRoute } from './routes/top-makers.ts';
import { unsettledPnlUsersRoute } from './routes/unsettled-pnl-users.ts';
import type { OrderbookServices } from './services.ts';

/** Both exceed the usual 60 s idle timeout of load balancers (reference 1.1). */
const KEEP_ALIVE_MS = 61_000;
const HEADERS_TIMEOUT_MS = 65_000;
const COMPRESS_FROM_BYTES = 1024;
const TRUSTED_HOPS = 1;
const PATH_PREFIX = '/dlob';
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

/** Removes a leading `/dlob` path segment; what becomes empty is `/`. */
export function stripPrefix(url: string): string {
  if (!url.startsWith(PATH_PREFIX)) return url;
  const rest = url.slice(PATH_PREFIX.length);
  if (rest === '') return '/';
  if (rest.startsWith('/')) return rest;
  return rest.startsWith('?') ? `/${rest}` : url;
}

export async function orderbookApp(services: OrderbookServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    trustProxy: (_address, hop) => hop < TRUSTED_HOPS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    rewriteUrl: (request) => stripPrefix(request.url ?? '/'),
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  await app.register(cors, { origin: '*', methods: METHODS, strictPreflight: false });
  await app.register(compress, { threshold: COMPRESS_FROM_BYTES, encodings: ['gzip', 'deflate'] });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const known = error instanceof OrderbookError ? ORDERBOOK_ERRORS[error.code] : null;
    const fault = error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : null;
    reply.type('text/plain; charset=utf-8');
    if (known) return reply.code(known.status).send(error.message);
    if (fault !== null) return reply.code(fault).send(`Bad Request: ${error.message}`);
    logger.error({ error }, 'request failed');
    return reply.code(ORDERBOOK_ERRORS.internal.status).send(ORDERBOOK_ERRORS.internal.text);
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(ORDERBOOK_ERRORS.notFound.status).type('text/plain; charset=utf-8').send(ORDERBOOK_ERRORS.notFound.text),
  );
  const openApi = orderbookOpenApi(app);
  for (const route of [
    l2Route,
    batchL2Routes,
    l3Route,
    topMakersRoute,
    auctionParamsRoute,
    priorityFeesRoutes,
    unsettledPnlUsersRoute,
    oracleLazerRoute,
    healthRoutes,
    qualityRoute,
  ]) {
    await app.register(async (scope) => route(scope, services));
  }
  contractRoutes(app, openApi);
  return app;
}
