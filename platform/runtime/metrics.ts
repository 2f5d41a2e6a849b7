// One prom-client registry per process: text on /metrics. /startup says whether all roles run or stand by.

import { createServer } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type ListenPlace, listenEverywhere, listenPlaces, urlHost } from './hosts.ts';

/** Processor, memory, event loop and garbage of this process. prom-client measures them from then on, and never stops. */
let ofProcess: Registry | null = null;

/** A registry for `roles`, with the metrics of the process, which all registries share. */
export function createMetrics(roles: readonly string[]): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  const registry = Registry.merge([ofProcess]);
  registry.setDefaultLabels({ roles: roles.join(',') });
  return registry;
}

export interface MetricsServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface Startup {
  readonly isStarted: boolean;
  /** Printed after the first line. */
  readonly lines: readonly string[];
}

/** Serves `GET /metrics`, and `GET /startup`. Rejects when the port is taken. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  startup: () => Startup = () => ({ isStarted: true, lines: [] }),
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/startup') {
      const { isStarted, lines } = startup();
      const [status, text] = isStarted ? [200, 'OK'] : [500, 'Not ready'];
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end([text, ...lines].join('\n'));
      return;
    }
    if (path !== '/metrics') {
      response.writeHead(404).end('Not found');
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end('Internal error'),
    );
  });
  const places = await listenPlaces(host, port);
  const listen = (place: ListenPlace): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(place, resolve);
    });
  const listening = await listenEverywhere(server, places, listen).catch((error: unknown) => {
    server.close();
    throw error;
  });
  server.unref();
  return {
    url: `http://${urlHost(host)}:${listening.port}/metrics`,
    stop: () => {
      listening.close();
      return new Promise((resolve) => server.close(() => resolve()).closeAllConnections());
    },
  };
}

/** Sum over the label sets of a metric, 0 when it does not exist. For status lines. */
export async function metricTotal(registry: Registry, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}
