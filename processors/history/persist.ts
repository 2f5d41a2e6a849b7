// Doing something at the store until it is done: it may be away.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import type { SinkMetrics } from './metrics.ts';

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

export interface Persisting {
  readonly logger: Logger;
  readonly metrics: SinkMetrics;
  readonly signal: AbortSignal;
}

/** Tries again after each failure, later each time; `what` says in the log what failed. Rejects when the signal aborts. */
export async function persist(
  { logger, metrics, signal }: Persisting,
  what: Readonly<Record<string, unknown>>,
  action: () => Promise<unknown>,
): Promise<void> {
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
    signal.throwIfAborted();
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
