// What the order-book REST counts, where there is one under the predecessor's names (reference 5.3).

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { HEALTH, judgeHealth } from '../../platform/index.ts';
import { ORDERBOOK_ERRORS } from '../errors.ts';
import type { BookReader } from '../views/book-reader.ts';
import { SlotHealth } from './health.ts';

/** Seconds. The client library gives up after 3. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];
/** `path` of requests that no route takes, so that a client cannot make label values. */
const NO_ROUTE = 'none';
const FAULTS = new Set(
  Object.values(ORDERBOOK_ERRORS).flatMap(({ status }) => (status >= 500 ? [String(status)] : [])),
);

export class RestMetrics {
  readonly #latency: Histogram<'path' | 'status'>;
  readonly #requests: Counter<'path' | 'status'>;
  readonly #lookups: Counter<'path' | 'miss'>;

  constructor(registry: Registry, reader: BookReader, slotStallMs: number) {
    const registers = [registry];
    this.#latency = new Histogram({
      name: 'slotbook_rest_request_seconds',
      help: 'Time from a request to the end of its answer, by route and status',
      labelNames: ['path', 'status'],
      buckets: LATENCY_BUCKETS,
      registers,
    });
    this.#requests = new Counter({
      name: 'incoming_requests_count_total',
      help: 'Requests answered, by route and status',
      labelNames: ['path', 'status'],
      registers,
    });
    this.#lookups = new Counter({
      name: 'cache_hit_count_total',
      help: 'Markets looked up in the views, by route, and whether nothing was published of them (miss)',
      labelNames: ['path', 'miss'],
      registers,
    });
    // From zero, so that the first one is an increase: alerts set it off against the 5xx of the route.
    this.#lookups.inc({ path: '/l3', miss: 'true' }, 0);
    // Of its own: a look at the health remembers the slot it saw.
    const health = new SlotHealth(slotStallMs);
    judgeHealth(registry, () => {
      const sight = { slot: reader.newestSlot, advancedAtMs: reader.slotAdvancedAtMs };
      return health.healthy(sight, reader.now()) ? HEALTH.ok : HEALTH.slotsStalled;
    });
    new Gauge({
      name: 'last_ws_message_received_ts',
      help: 'Unix milliseconds at which the newest slot came in, here from the log',
      registers,
      collect() {
        this.set(reader.slotAdvancedAtMs);
      },
    });
  }

  /** A route is served: what it may answer with 5xx is counted from zero, so that the first one is an increase. */
  served(path: string = NO_ROUTE): void {
    for (const status of FAULTS) this.#requests.inc({ path, status }, 0);
  }

  /** A request was answered; `path` is the route's, undefined when there is none. */
  answered(path: string | undefined, statusCode: number, elapsedMs: number): void {
    const labels = { path: path ?? NO_ROUTE, status: String(statusCode) };
    this.#requests.inc(labels);
    this.#latency.observe(labels, elapsedMs / 1000);
  }

  /** A market was looked up for a route; a miss when nothing was published of it. */
  lookedUp(path: string, isHit: boolean): void {
    this.#lookups.inc({ path, miss: isHit ? 'false' : 'true' });
  }
}
