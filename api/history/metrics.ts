// Metrics of the history service without its socket: requests and failed queries.

import { Counter, type Registry } from 'prom-client';
import { HISTORY_ERRORS } from '../http/errors.ts';
import { RequestMetrics } from '../http/request-metrics.ts';
import { QUERY_FAILURES, type QueryFailure } from './store.ts';

/** Seconds. A page takes milliseconds, a leaderboard seconds; the store ends a query after a minute. */
const LATENCY_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30];

export class HistoryMetrics {
  readonly requests: RequestMetrics;
  readonly #failures: Counter<'reason'>;

  constructor(registry: Registry) {
    this.requests = new RequestMetrics(registry, {
      count: 'slotbook_history_requests_total',
      seconds: 'slotbook_history_request_seconds',
      buckets: LATENCY_BUCKETS,
      errors: HISTORY_ERRORS,
    });
    this.#failures = new Counter({
      name: 'slotbook_history_query_failures_total',
      help: `Queries that ClickHouse did not answer, by reason: ${QUERY_FAILURES.join(', ')}`,
      labelNames: ['reason'],
      registers: [registry],
    });
    // Starts at zero, so the first failure is an increase.
    for (const reason of QUERY_FAILURES) this.#failures.inc({ reason }, 0);
  }

  /** Callback for `HistoryStoreOptions.failed`. */
  readonly queryFailed = (reason: QueryFailure): void => {
    this.#failures.inc({ reason });
  };
}
