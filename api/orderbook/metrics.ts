// Metrics of the order-book REST server. Names without `slotbook_` are the predecessor's, kept for existing dashboards.

import { Counter, Gauge, type Registry } from 'prom-client';
import { HEALTH, judgeHealth } from '../../platform/index.ts';
import { ORDERBOOK_ERRORS } from '../http/errors.ts';
import { RequestMetrics } from '../http/request-metrics.ts';
import type { BookReader } from '../views/book-reader.ts';
import { type BookLag, SlotHealth } from './routes/health.ts';

/** Seconds. The client library gives up after 3. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];

export class RestMetrics {
  readonly requests: RequestMetrics;
  readonly #lookups: Counter<'path' | 'miss'>;

  constructor(
    registry: Registry,
    reader: BookReader,
    { slotStallMs, bookLag }: { readonly slotStallMs: number; readonly bookLag?: BookLag },
  ) {
    const registers = [registry];
    this.requests = new RequestMetrics(registry, {
      count: 'incoming_requests_count_total',
      seconds: 'slotbook_rest_request_seconds',
      buckets: LATENCY_BUCKETS,
      errors: ORDERBOOK_ERRORS,
    });
    this.#lookups = new Counter({
      name: 'cache_hit_count_total',
      help: 'Markets looked up in the views, by route, and whether nothing was published of them (miss)',
      labelNames: ['path', 'miss'],
      registers,
    });
    // Starts at zero, so the first miss is an increase. Alerts subtract it from the 5xx of the route.
    this.#lookups.inc({ path: '/l3', miss: 'true' }, 0);
    // Not shared with /health: each check stores the slot for its next one.
    const health = new SlotHealth(slotStallMs);
    judgeHealth(registry, () => {
      const sight = { slot: reader.newestSlot, advancedAtMs: reader.slotAdvancedAtMs };
      return health.healthy(sight, reader.now()) && !bookLag?.isBehind ? HEALTH.ok : HEALTH.slotsStalled;
    });
    if (bookLag) registerBookLag(registry, bookLag);
    new Gauge({
      name: 'last_ws_message_received_ts',
      help: 'Unix milliseconds at which the newest slot came in, here from the log',
      registers,
      collect() {
        this.set(reader.slotAdvancedAtMs);
      },
    });
  }

  /** Counts the lookup of a market by a route. It is a hit when a book or row of the market is published. */
  countLookup(path: string, isHit: boolean): void {
    this.#lookups.inc({ path, miss: isHit ? 'false' : 'true' });
  }
}

/** The gauges have no value while the chain head is unknown. */
function registerBookLag(registry: Registry, bookLag: BookLag): void {
  const gauges: readonly (readonly [name: string, help: string, read: () => number | null])[] = [
    ['slotbook_chain_slot', 'Newest slot of the chain, as the RPC node reports it', () => bookLag.headSlot],
    ['slotbook_books_behind_slots', 'Slots from the oldest served book to the chain head', () => bookLag.slotsBehind],
    ['slotbook_books_behind_slots_max', 'Slots beyond which /health answers NOK', () => bookLag.slotsMax],
  ];
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }
}
