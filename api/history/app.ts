// The history service's HTTP layer: what is common to every route (history reference 2), and the routes.

import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Logger } from '../../platform/index.ts';
import { collectOpenApi } from '../contract/openapi.ts';
import { HISTORY_ERRORS, HistoryError, type HistoryErrorCode } from '../errors.ts';
import { candleRoutes } from './routes/candles.ts';
import { marketListRoutes } from './routes/market-lists.ts';
import { marketStatsRoutes } from './routes/market-stats.ts';
import type { HistoryServices } from './services.ts';
import { historyAsyncApi } from './socket/asyncapi.ts';

const INFO = {
  title: 'Slotbook history',
  version: '1.0.0',
  description:
    'Indexed history of protocol events. Amounts in records are raw integers as decimal strings (base 1e9, quote 1e6, ' +
    'price 1e6, funding 1e9); candles and market summaries are JSON numbers in human units.',
};

export async function historyApp(services: HistoryServices, logger: Logger): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  // Response schemas describe; they do not filter what is sent.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  await app.register(cors, { origin: '*', methods: '*', strictPreflight: false });
  await app.register(compress, { encodings: ['br', 'gzip', 'deflate'] });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const { code, message } = failure(error);
    const entry = HISTORY_ERRORS[code];
    if (code === 'internal') logger.error({ error }, 'request failed');
    else if (entry.status >= 500) logger.warn({ error: String(error.cause ?? error) }, 'request could not be answered');
    return reply.code(entry.status).send({ error: entry.error, message: entry.message ?? message });
  });
  app.setNotFoundHandler(({ method, url }, reply) =>
    reply
      .code(HISTORY_ERRORS.notFound.status)
      .send({ error: HISTORY_ERRORS.notFound.error, message: `Route ${method}:${url.split('?', 1)[0]} not found` }),
  );
  const contract = collectOpenApi(app, INFO);
  for (const routes of [marketListRoutes, candleRoutes, marketStatsRoutes]) {
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
