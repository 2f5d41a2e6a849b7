// The push port: one adapter for each way to reach a device. The contract suite is api/push/adapters.test.ts.

import { OutboundError } from '../../platform/index.ts';
import type { NotificationDevice } from '../../schemas/index.ts';
import type { NotificationRecord } from '../notifications/record.ts';

export interface Push {
  readonly device: NotificationDevice;
  readonly record: NotificationRecord;
  /** The same for every attempt of one notification to one device: a receiver that remembers it acts once. */
  readonly idempotencyKey: string;
}

export interface PushAdapter {
  readonly name: string;
  /** Resolves when the receiver has it. Throws PushError. */
  send(push: Push, signal: AbortSignal): Promise<void>;
}

/** Why a push failed. `gone`: the device does not exist any more. */
export type PushFailure = 'refused' | 'gone' | 'busy' | 'unreachable';

/** The message names no part of a token or URL. */
export class PushError extends Error {
  override readonly name = 'PushError';
  readonly failure: PushFailure;

  constructor(failure: PushFailure, detail: string) {
    super(`push failed: ${detail}`);
    this.failure = failure;
  }

  /** Whether another attempt may succeed. */
  get isTransient(): boolean {
    return this.failure === 'busy' || this.failure === 'unreachable';
  }
}

const GONE: ReadonlySet<number> = new Set([404, 410]);
/** Request timeout, too early, too many requests. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Throws the PushError of an answer that is no success. */
export function checkStatus(status: number): void {
  if (status >= 200 && status < 300) return;
  if (GONE.has(status)) throw new PushError('gone', `status ${status}`);
  throw new PushError(BUSY.has(status) || status >= 500 ? 'busy' : 'refused', `status ${status}`);
}

/** The PushError of a request that failed. */
export function pushErrorOf(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  return new PushError(error.isPermanent ? 'refused' : 'unreachable', error.failure);
}
