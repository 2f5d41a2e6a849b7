// Waits for a ClickHouse that does not answer.

import type { Logger } from 'pino';
import { retryWhileAway } from '../runtime/retry-while-away.ts';
import { LockLostError } from './lock.ts';

const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The name server may not know a container before it starts.
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of client errors without a code: a request that broke off or took too long. */
const AWAY_TEXT = /^(Timeout error|socket hang up|Premature close|aborted)/i;

/** True when the server did not answer or broke off, so that the same request may succeed later. */
export function isAway(error: unknown): boolean {
  if (error instanceof LockLostError) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && AWAY_CODES.has(code)) || AWAY_TEXT.test(error.message) || isAway(error.cause);
}

/** Repeats `work`, which must be idempotent, until ClickHouse answers. Rejects with any other error, and with `failed`. */
export function whenReachable<T>(work: () => Promise<T>, logger: Logger, failed: Promise<never>): Promise<T> {
  return retryWhileAway(work, { server: 'ClickHouse', isAway, logger, failed });
}
