// The history service's HTTP layer: what is common to every route (history reference 2), and the routes.

import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { collectOpenApi } from '../contract/openapi.ts';
import { edgeErrorHandler, HTTP_OPTIONS, ignoreBodies, lacksHost } from '../edge-errors.ts';
import { HISTORY_ERRORS, HistoryError, type HistoryErrorCode, type JsonError } from '../errors.ts';
import { ammRoutes } from './routes/amm.ts';
import { authorityRoutes } from './routes/authority.ts';
import { boardRoutes } from './routes/boards.ts';
import { candleRoutes } from './routes/candles.ts';
import { freshnessRoutes } from './routes/freshness.ts';
import { legacyRoutes } from './routes/legacy.ts';
import { listingRoutes } from './routes/listing.ts';
import { marketListRoutes } from './routes/market-lists.ts';
import { publicRoutes } from './routes/public.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { fundingStatsRoutes } from './routes/stats-funding.ts';
import { fundRoutes } from './routes/stats-funds.ts';
import { lossRoutes } from './routes/stats-losses.ts';
import { marketStatsRoutes } from './routes/stats-markets.ts';
import { userListRoutes } from './routes/user-lists.ts';
import { userOrderRoutes } from './routes/user-orders.ts';
import type { HistoryServices } from './services.ts';
import { historyAsyncApi } from './socket/asyncapi.ts';

const INFO = {
  title: 'Slotbook history',
  version: '1.0.0',
  description:
    'Indexed history of protocol events. Amounts in records are raw integers as decimal strings (base 1e9, quote 1e6, ' +
    'price 1e6, funding 1e9); candles and market summaries are JSON numbers in human units. A path that does not decode is ' +
    '400, and request line and headers of more than 64 KiB are 431, with the error body of any other fault.',
};

const ROUTES = [
  marketListRoutes,
  candleRoutes,
  legacyRoutes,
  userListRoutes,
  userOrderRoutes,
  snapshotRoutes,
  authorityRoutes,
  marketStatsRoutes,
  fundingStatsRoutes,
  lossRoutes,
  fundRoutes,
  boardRoutes,
  ammRoutes,
  publicRoutes,
  listingRoutes,
  freshnessRoutes,
];

/** Longer names are refused before they reach a route. */
const MAX_PARAM_LENGTH = 1_024;
const MAX_MESSAGE_CHARS = 200;

export async function historyApp(services: HistoryServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    // Names that are too long are refused like any others that mean nothing.
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // A path that the router itself refuses: a name that is too long, or an escape that means nothing.
    frameworkErrors: (error, _request, reply) => {
      const { status, error: name } = HISTORY_ERRORS.validation;
      // The types give this reply the codes of every route at once, which are none.
      const plain = reply as unknown as FastifyReply;
      plain.code(status).header('access-control-allow-origin', '*');
      void plain.send({ error: name, message: error.message.slice(0, MAX_MESSAGE_CHARS) });
    },
    http: HTTP_OPTIONS,
    clientErrorHandler: edgeErrorHandler((fault) => {
      const { status, error, message } = HISTORY_ERRORS[fault];
      return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify({ error, message }) };
    }),
  });
  // Response schemas describe; they do not filter what is sent.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  ignoreBodies(app);
  await app.register(cors, { origin: '*', methods: '*', strictPreflight: false });
  await app.register(compress, { encodings: ['br', 'gzip', 'deflate', 'identity'] });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    done(lacksHost(raw) ? new HistoryError('malformedHttp') : undefined);
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const { code, message } = failure(error);
    const entry: JsonError = HISTORY_ERRORS[code];
    if (code === 'internal') logger.error({ error }, 'request failed');
    else if (entry.status >= 500) logger.warn({ error: String(error.cause ?? error) }, 'request could not be answered');
    const { status, error: name, bare } = entry;
    return reply
      .code(status)
      .send(bare ? { success: false, error: name } : { error: name, message: entry.message ?? message });
  });
  app.setNotFoundHandler(({ method, url }, reply) =>
    reply
      .code(HISTORY_ERRORS.notFound.status)
      .send({ error: HISTORY_ERRORS.notFound.error, message: `Route ${method}:${url.split('?', 1)[0]} not found` }),
  );
  const contract = collectOpenApi(app, INFO);
  for (const routes of ROUTES) {
    await app.register(async (scope) => routes(scope, services));
  }
  app.get('/openapi.json', async () => contract());
  const socketContract = historyAsyncApi();
  app.get('/asyncapi.json', async () => socketContract);
  return app;
}

/** Which entry of the table a thrown error is. */
function failure(error: FastifyError): { code: HistoryErrorCode; message: string } {
  if (error instanceof HistoryError) return { code: error.code, message: error.message };
  const clientFault = error.validation || (error.statusCode !== undefined && error.statusCode < 500);
  return { code: clientFault ? 'validation' : 'internal', message: error.message };
}
