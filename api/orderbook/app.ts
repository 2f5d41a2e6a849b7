// The order-book server's HTTP layer: rules of every route (docs/internals/order-book-server.md, "HTTP conventions"), and
// the routes.

import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { edgeErrorHandler, HTTP_OPTIONS, ignoreUnreadBodies, lacksHost } from '../http/edge-errors.ts';
import { compressAnswers } from '../http/encodings.ts';
import { ORDERBOOK_ERRORS, OrderbookError } from '../http/errors.ts';
import { LENIENT_PATHS, stripPrefix } from '../http/paths.ts';
import { inScope } from '../http/scope.ts';
import { pageRoutes } from '../page/routes.ts';
import { auctionParamsRoute } from './auction/route.ts';
import { bookRoutes } from './routes/books.ts';
import { documentRoutes, orderbookOpenApi } from './routes/documents.ts';
import { guaranteesRoute } from './routes/guarantees.ts';
import { healthRoutes } from './routes/health.ts';
import { oracleLazerRoute } from './routes/oracle-lazer.ts';
import { priorityFeesRoutes } from './routes/priority-fees.ts';
import { qualityRoute } from './routes/quality.ts';
import { unsettledPnlUsersRoute } from './routes/unsettled-pnl-users.ts';
import type { OrderbookServices } from './services.ts';
import { addWeakEtag } from './weak-etag.ts';

/** Both exceed the usual 60 s idle timeout of load balancers. */
const KEEP_ALIVE_MS = 61_000;
const HEADERS_TIMEOUT_MS = 65_000;
const TRUSTED_HOPS = 1;
const PAGE_PATH = '/ui';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const MALFORMED_HEADERS = { 'content-type': TEXT_TYPE, 'access-control-allow-origin': '*', vary: 'accept-encoding' };
const NO_CONTENT_TYPE = 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE';
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

export async function orderbookApp(services: OrderbookServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    trustProxy: (_address, hop) => hop < TRUSTED_HOPS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: HTTP_OPTIONS,
    routerOptions: LENIENT_PATHS,
    rewriteUrl: (request) => stripPrefix(request.url ?? '/'),
    // No hook runs for a path that the router refuses, so this handler sets the common headers itself.
    frameworkErrors: (_error, _request, reply) => {
      const { status, text } = ORDERBOOK_ERRORS.malformedPath;
      // The type of this reply allows no status code at all.
      const plain = reply as unknown as FastifyReply;
      void plain.code(status).headers(MALFORMED_HEADERS).send(text);
    },
    clientErrorHandler: edgeErrorHandler((fault) => {
      const { status, text } = ORDERBOOK_ERRORS[fault];
      return { status, contentType: TEXT_TYPE, body: text };
    }),
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  services.metrics?.requests.watch(app);
  ignoreUnreadBodies(app);
  // Runs before the compressor, so the tag belongs to the uncompressed body.
  app.addHook('onSend', addWeakEtag);
  await app.register(cors, { origin: '*', methods: METHODS, strictPreflight: false });
  await compressAnswers(app);
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    done(lacksHost(raw) ? new OrderbookError('malformedHttp') : undefined);
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const known = error instanceof OrderbookError ? ORDERBOOK_ERRORS[error.code] : null;
    reply.type(TEXT_TYPE);
    if (known) return reply.code(known.status).send(error.message);
    // Method QUERY without a content type: no path has the method, as for every other one.
    if (error.code === NO_CONTENT_TYPE) return reply.callNotFound();
    logger.error({ error }, 'request failed');
    return reply.code(ORDERBOOK_ERRORS.internal.status).send(ORDERBOOK_ERRORS.internal.text);
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(ORDERBOOK_ERRORS.notFound.status).type(TEXT_TYPE).send(ORDERBOOK_ERRORS.notFound.text),
  );
  const openApi = orderbookOpenApi(app);
  for (const route of [
    bookRoutes,
    auctionParamsRoute,
    priorityFeesRoutes,
    unsettledPnlUsersRoute,
    oracleLazerRoute,
    healthRoutes,
    qualityRoute,
    guaranteesRoute,
  ]) {
    await inScope(app, (scope) => route(scope, services));
  }
  documentRoutes(app, openApi);
  const { page } = services;
  if (page) await inScope(app, (scope) => pageRoutes(scope, page, PAGE_PATH));
  return app;
}
