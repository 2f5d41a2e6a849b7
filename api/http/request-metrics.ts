// Request metrics of a REST server: count and duration by route and status.

import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';

/** `path` of requests without a route, so that clients cannot create label values. */
const NO_ROUTE = 'none';
const MS_PER_SECOND = 1000;

export interface RequestMetricsOptions {
  /** Names of the counter and of the histogram. */
  readonly count: string;
  readonly seconds: string;
  /** Upper bounds of the histogram, seconds. */
  readonly buckets: readonly number[];
  /** The server's table of errors. */
  readonly errors: Readonly<Record<string, { readonly status: number }>>;
}

export class RequestMetrics {
  readonly #latency: Histogram<'path' | 'status'>;
  readonly #requests: Counter<'path' | 'status'>;
  readonly #faults: ReadonlySet<string>;

  constructor(registry: Registry, { count, seconds, buckets, errors }: RequestMetricsOptions) {
    const registers = [registry];
    this.#latency = new Histogram({
      name: seconds,
      help: 'Time from a request to the end of its answer, by route and status',
      labelNames: ['path', 'status'],
      buckets: [...buckets],
      registers,
    });
    this.#requests = new Counter({
      name: count,
      help: 'Requests answered, by route and status',
      labelNames: ['path', 'status'],
      registers,
    });
    this.#faults = new Set(Object.values(errors).flatMap(({ status }) => (status >= 500 ? [String(status)] : [])));
  }

  /** Counts the requests of a server. Call it before registering routes. */
  watch(app: FastifyInstance): void {
    this.#served(NO_ROUTE);
    app.addHook('onRoute', ({ url }) => this.#served(url));
    app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) => {
      const labels = { path: routeOptions.url ?? NO_ROUTE, status: String(statusCode) };
      this.#requests.inc(labels);
      this.#latency.observe(labels, elapsedTime / MS_PER_SECOND);
    });
  }

  /** Starts every 5xx of a route at zero, so that the first one is an increase. */
  #served(path: string): void {
    for (const status of this.#faults) this.#requests.inc({ path, status }, 0);
  }
}
