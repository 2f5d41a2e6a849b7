// Retries an action at ClickHouse until it succeeds.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import type { SinkMetrics } from './metrics.ts';

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

export interface Persisting {
  readonly logger: Logger;
  readonly metrics: SinkMetrics;
  readonly signal: AbortSignal;
  /** Rejects once another process stores into the database. */
  readonly mayWrite?: () => Promise<void>;
}

/** Retries after each failure with growing pauses and logs `what`. Rejects when the signal aborts, or with `mayWrite`. */
export async function persist(
  { logger, metrics, signal, mayWrite }: Persisting,
  what: Readonly<Record<string, unknown>>,
  action: () => Promise<unknown>,
): Promise<void> {
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
    signal.throwIfAborted();
    await mayWrite?.();
    try {
      await action();
      return;
    } catch (error) {
      metrics.retries.inc();
      logger.warn({ err: error, ...what, waitMs }, 'insert failed; trying again');
      await sleep(waitMs, undefined, { signal });
    }
  }
}
