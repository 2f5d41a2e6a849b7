// Repeats work until the server that it needs answers, with few log lines.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

const RETRY_MS = 500;
/** Logs once when the wait begins, then at this interval. */
const REPORT_EVERY_MS = 30_000;

export interface RetryOptions {
  /** Name of the server in log lines. */
  readonly server: string;
  readonly isAway: (error: unknown) => boolean;
  readonly logger: Logger;
  /** Rejects when waiting has become pointless. */
  readonly failed?: Promise<never>;
}

/** Repeats `work`, which must be idempotent, until the server answers. Rejects with any other error, and with `failed`. */
export async function retryWhileAway<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { server, isAway, logger, failed } = options;
  const orFailed = <R>(promise: Promise<R>): Promise<R> => (failed ? Promise.race([promise, failed]) : promise);
  const beganMs = performance.now();
  let reportMs = beganMs;
  for (;;) {
    try {
      const result = await orFailed(work());
      if (reportMs > beganMs) logger.info({ waitedMs: Math.round(performance.now() - beganMs) }, `${server} answers`);
      return result;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (performance.now() >= reportMs) {
        logger.warn({ err: error }, `${server} does not answer; waiting`);
        reportMs = performance.now() + REPORT_EVERY_MS;
      }
      await orFailed(sleep(RETRY_MS));
    }
  }
}
