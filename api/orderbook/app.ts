// The order-book server's HTTP layer: what is common to every route (reference 1.1), and the routes.

import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { edgeErrorHandler, HTTP_OPTIONS, ignoreBodies, lacksHost } from '../edge-errors.ts';
import { ORDERBOOK_ERRORS, OrderbookError } from '../errors.ts';
import { COMPRESS_FROM_BYTES, ENCODINGS } from './limits.ts';
import { orderbookOpenApi } from './openapi.ts';
import { stripPrefix } from './paths.ts';
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
import { addWeakEtag } from './weak-etag.ts';

/** Both exceed the usual 60 s idle timeout of load balancers (reference 1.1). */
const KEEP_ALIVE_MS = 61_000;
const HEADERS_TIMEOUT_MS = 65_000;
const TRUSTED_HOPS = 1;
const TEXT_TYPE = 'text/plain; charset=utf-8';
const MALFORMED_HEADERS = { 'content-type': TEXT_TYPE, 'access-control-allow-origin': '*', vary: 'accept-encoding' };
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

export async function orderbookApp(services: OrderbookServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    trustProxy: (_address, hop) => hop < TRUSTED_HOPS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: HTTP_OPTIONS,
    // As the predecessor's framework takes paths.
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false },
    rewriteUrl: (request) => stripPrefix(request.url ?? '/'),
    // A path that the router refuses meets no hook, so the headers of every answer are set here.
    frameworkErrors: (_error, _request, reply) => {
      const { status, text } = ORDERBOOK_ERRORS.malformedPath;
      // The types give this reply the codes of every route at once, which are none.
      const plain = reply as unknown as FastifyReply;
      void plain.code(status).headers(MALFORMED_HEADERS).send(text);
    },
    clientErrorHandler: edgeErrorHandler((fault) => {
      const { status, text } = ORDERBOOK_ERRORS[fault];
      return { status, contentType: TEXT_TYPE, body: text };
    }),
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  const { metrics } = services;
  if (metrics) {
    metrics.served();
    app.addHook('onRoute', ({ url }) => metrics.served(url));
    app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) =>
      metrics.answered(routeOptions.url, statusCode, elapsedTime),
    );
  }
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('vary', 'accept-encoding');
  });
  ignoreBodies(app);
  // Before the compressor, so that the tag is that of the body.
  app.addHook('onSend', addWeakEtag);
  await app.register(cors, { origin: '*', methods: METHODS, strictPreflight: false });
  await app.register(compress, { threshold: COMPRESS_FROM_BYTES, encodings: [...ENCODINGS, 'identity'] });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    done(lacksHost(raw) ? new OrderbookError('malformedHttp') : undefined);
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const known = error instanceof OrderbookError ? ORDERBOOK_ERRORS[error.code] : null;
    reply.type(TEXT_TYPE);
    if (known) return reply.code(known.status).send(error.message);
    logger.error({ error }, 'request failed');
    return reply.code(ORDERBOOK_ERRORS.internal.status).send(ORDERBOOK_ERRORS.internal.text);
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(ORDERBOOK_ERRORS.notFound.status).type(TEXT_TYPE).send(ORDERBOOK_ERRORS.notFound.text),
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
