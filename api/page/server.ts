// Starts the page server on config.pagePort.

import Fastify from 'fastify';
import { type RoleContext, type RunningRole, urlHost } from '../../platform/index.ts';
import { HTTP_OPTIONS } from '../http/edge-errors.ts';
import { listenRest } from '../http/listen-rest.ts';
import { pageRoutes } from './routes.ts';

/** Serves until stopped. Rejects when the port is taken. */
export async function startPage({ config, metrics, logger }: RoleContext): Promise<RunningRole> {
  const app = Fastify({ logger: false, forceCloseConnections: true, http: HTTP_OPTIONS });
  app.setErrorHandler((error, _request, reply) => {
    logger.error({ err: error }, 'request failed');
    return reply.code(500).type('text/plain; charset=utf-8').send('Internal error');
  });
  pageRoutes(app, { config, metrics });
  const listening = await listenRest(app, config.host, config.pagePort);
  let stopping: Promise<void> | null = null;
  return {
    name: 'page',
    endpoints: { page: `http://${urlHost(config.host)}:${listening.port}/` },
    done: new Promise(() => {}),
    stop: () => {
      stopping ??= (async () => {
        listening.close();
        await app.close();
      })();
      return stopping;
    },
  };
}
