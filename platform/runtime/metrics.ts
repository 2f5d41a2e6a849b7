// One prom-client registry per process, served as text on /metrics; /startup beside it says whether all roles run.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

export function createMetrics(roles: readonly string[]): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ roles: roles.join(',') });
  collectDefaultMetrics({ register: registry });
  return registry;
}

export interface MetricsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves `GET /metrics`, and `GET /startup` by `isStarted`. Rejects when the port is taken. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  isStarted: () => boolean = () => true,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/startup') {
      const [status, text] = isStarted() ? [200, 'OK'] : [500, 'Not ready'];
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.unref();
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${bound}/metrics`,
    stop: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

/** Sum over the label sets of a metric, 0 when it does not exist. For status lines. */
export async function metricTotal(registry: Registry, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}
