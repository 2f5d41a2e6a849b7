// The stream at commitment processed, over PubSub or gRPC: account states, transactions and news of slots. Reconnects until it is stopped.

import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import type { ProcessedBooks } from './books.ts';
import type { ForkMetrics } from './metrics.ts';
import type { ProcessedTrades } from './trades.ts';

const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 10_000;

/** One connection. */
export interface ForkConnection {
  /** Runs until the connection is lost or stopped; resolves with the reason. Rejects when it cannot begin. */
  run(): Promise<string>;
}

export interface ConnectionParts {
  readonly books: Pick<ProcessedBooks, 'news' | 'account'>;
  readonly trades: Pick<ProcessedTrades, 'take'>;
  /** After this long without a slot, the connection ends. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** Opens connection number `attempt`, counted from 0. */
export type OpenConnection = (parts: ConnectionParts, attempt: number) => ForkConnection;

export interface ForkFeedParts extends ConnectionParts {
  readonly open: OpenConnection;
  readonly metrics: Pick<ForkMetrics, 'reconnects'>;
  readonly logger: Logger;
}

/** Resolves when the signal aborts. */
export async function followForks({ open, metrics, logger, ...parts }: ForkFeedParts): Promise<void> {
  const { signal } = parts;
  for (let attempt = 0, waitMs = BACKOFF_MIN_MS; !signal.aborted; attempt++) {
    const beganMs = performance.now();
    const reason = await open(parts, attempt).run().catch(String);
    if (signal.aborted) return;
    metrics.reconnects.inc();
    logger.warn({ reason, attempt }, 'connection to the stream at processed lost');
    // Nothing above the confirmed slot counts any more. The next connection says from where on it does.
    parts.books.news((forks) => forks.restart(Number.POSITIVE_INFINITY));
    waitMs = performance.now() - beganMs > BACKOFF_MAX_MS ? BACKOFF_MIN_MS : Math.min(BACKOFF_MAX_MS, waitMs * 2);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** Begins the books anew with the first slot of a connection: earlier data of it may have been sent before the subscription. */
export class FirstSlot {
  readonly #books: ConnectionParts['books'];
  #isKnown = false;

  constructor({ books }: ConnectionParts) {
    this.#books = books;
  }

  saw(slot: number): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#books.news((forks) => forks.restart(slot));
  }
}

/** Ends a connection that is silent, stopped or lost, with the first reason. */
export class ConnectionEnd {
  readonly ended: Promise<string>;
  end: (reason: string) => void = () => {};
  readonly #silenceMs: number;
  readonly #signal: AbortSignal;
  readonly #stop = (): void => this.end('stopped');
  #timer: NodeJS.Timeout | null = null;

  constructor({ silenceMs, signal }: ConnectionParts) {
    this.#silenceMs = silenceMs;
    this.#signal = signal;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    signal.addEventListener('abort', this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  /** News came, or the connection begins. */
  alive(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(`no slot for ${this.#silenceMs} ms`), this.#silenceMs);
  }

  release(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#stop);
  }
}
