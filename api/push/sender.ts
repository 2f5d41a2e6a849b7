// Sends the jobs of the queue and collects their outcomes.

import bs58 from 'bs58';
import type { Logger } from '../../platform/index.ts';
import type { NotificationDevice } from '../../schemas/index.ts';
import { type FindMarket, notificationRecord } from '../notifications/record.ts';
import type { FindAdapter } from './adapters.ts';
import type { Outcome, PushJobs, Send } from './jobs.ts';
import { ATTEMPTS_MAX } from './limits.ts';
import { type PushAdapter, PushError } from './port.ts';

/** Retries are due at most this much later. */
const TICK_MS = 50;

export interface SenderParts {
  readonly jobs: PushJobs;
  readonly adapterOf: FindAdapter;
  readonly findMarket: FindMarket;
  readonly logger: Logger;
  /** Rejects once another process is the writer of the role. */
  readonly mayWrite: () => Promise<void>;
  /** A job has an outcome. */
  readonly ended: (outcome: Outcome) => void;
  /** A device got its last attempt in vain. */
  readonly gaveUp: (send: Send, error: PushError) => void;
  /** A device does not exist any more. */
  readonly gone: (device: NotificationDevice) => void;
  readonly attempted: (adapter: string, result: string) => void;
  readonly failed: (error: unknown) => void;
}

export class PushSender {
  readonly #parts: SenderParts;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.pump(), TICK_MS);
  }

  /** Starts the jobs that may start now. */
  pump(): void {
    if (this.#isStopped) return;
    for (const send of this.#parts.jobs.take(Date.now())) {
      const running = this.#send(send)
        .catch((error: unknown) => this.#parts.failed(error))
        .finally(() => {
          this.#running.delete(running);
        });
      this.#running.add(running);
    }
  }

  /** Starts no more requests and waits for those under way, at most `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    clearInterval(this.#timer);
    const timer = setTimeout(() => this.#stopping.abort(), patienceMs);
    this.#isStopped = true;
    await Promise.allSettled([...this.#running]);
    clearTimeout(timer);
    this.#stopping.abort();
  }

  async #send(send: Send): Promise<void> {
    const { jobs, adapterOf, mayWrite, ended, gaveUp, gone, attempted } = this.#parts;
    const adapter = adapterOf(send.device);
    await mayWrite();
    const error = await this.#attempt(adapter, send);
    // A request cut by a stop has no outcome: the next start sends it again.
    if (this.#stopping.signal.aborted) return;
    attempted(adapter?.name ?? 'none', error?.failure ?? 'sent');
    if (error?.failure === 'gone') gone(send.device);
    const outcome = error === null ? jobs.sent(send) : jobs.failed(send, error.isTransient, Date.now());
    if (error !== null && (!error.isTransient || send.attempts >= ATTEMPTS_MAX)) gaveUp(send, error);
    if (outcome) ended(outcome);
    this.pump();
  }

  async #attempt(adapter: PushAdapter | null, send: Send): Promise<PushError | null> {
    try {
      if (!adapter) throw new PushError('refused', 'no adapter for this platform');
      await adapter.send(this.#pushOf(send), this.#stopping.signal);
      return null;
    } catch (error) {
      if (error instanceof PushError) return error;
      // A token that passed its checks and still breaks the adapter must not stop the pushes of others.
      if (!this.#stopping.signal.aborted) this.#parts.logger.warn({ error: String(error) }, 'push failed');
      return new PushError('refused', 'internal');
    }
  }

  #pushOf({ job, device }: Send) {
    const { notification, authority } = job;
    const state = { status: 'PENDING', isPushed: true, sentAt: null } as const;
    const record = notificationRecord(notification, authority, state, this.#parts.findMarket);
    return { device, record, idempotencyKey: `${notification.id}:${deviceKey(device)}` };
  }
}

/** Names a device among those of all wallets. */
const deviceKey = ({ authority, deviceId }: NotificationDevice): string => `${bs58.encode(authority)}:${deviceId}`;
