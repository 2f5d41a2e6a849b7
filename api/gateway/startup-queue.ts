// Holds subscribes that arrive before the gateway knows any market, which happens when all roles start together. It replays them
// once the registry is filled, so that clients get no error for a market that exists.

import type { MarketRegistry } from '../views/registry.ts';
import type { Connection } from './connection.ts';
import { queuedBytes } from './inbox.ts';
import {
  MESSAGE_SLICE_MS,
  QUEUED_BYTES_MAX,
  QUEUED_MESSAGES_MAX,
  REGISTRY_CHECK_MS,
  REGISTRY_SETTLES_MS,
  REGISTRY_WAIT_MS,
} from './limits.ts';
import type { ClientRequest } from './requests.ts';

export interface StartupQueueOptions {
  readonly markets: MarketRegistry;
  /** Handles a held message again. */
  readonly handle: (connection: Connection, text: string) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface HeldMessages {
  readonly texts: string[];
  bytes: number;
}

export class StartupQueue {
  readonly #options: StartupQueueOptions;
  readonly #clock: () => number;
  readonly #startedMs: number;
  readonly #held = new Map<Connection, HeldMessages>();
  #bytes = 0;
  #isOver: boolean;
  #timer: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;
  #marketCount = 0;
  #grewMs = Number.NaN;

  constructor(options: StartupQueueOptions) {
    const { markets, clock = () => performance.now() } = options;
    this.#options = options;
    this.#clock = clock;
    this.#startedMs = clock();
    this.#isOver = markets.size > 0;
  }

  /**
   * Holds a message that needs markets, and all later messages of that client. Returns true when the message is held, or when the
   * client was closed for holding too many.
   */
  hold(connection: Connection, text: string, request: ClientRequest): boolean {
    const held = this.#held.get(connection);
    if (!held && (this.#isOver || !needsMarkets(request))) return false;
    if (!held && this.#clock() - this.#startedMs >= REGISTRY_WAIT_MS) {
      this.#end();
      return false;
    }
    const target = held ?? { texts: [], bytes: 0 };
    this.#held.set(connection, target);
    const bytes = queuedBytes(text);
    const isFull = this.#bytes + bytes > QUEUED_BYTES_MAX && target.bytes + bytes > QUEUED_BYTES_MAX / this.#held.size;
    if (target.texts.length >= QUEUED_MESSAGES_MAX || isFull) {
      this.forget(connection);
      connection.end('flood');
      return true;
    }
    target.texts.push(text);
    target.bytes += bytes;
    this.#bytes += bytes;
    if (!this.#isOver) this.#timer ??= setInterval(() => this.#checkRegistry(), REGISTRY_CHECK_MS);
    return true;
  }

  forget(connection: Connection): void {
    this.#bytes -= this.#held.get(connection)?.bytes ?? 0;
    this.#held.delete(connection);
  }

  stop(): void {
    this.#isOver = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#immediate) clearImmediate(this.#immediate);
    this.#immediate = null;
    this.#held.clear();
    this.#bytes = 0;
  }

  #checkRegistry(): void {
    const nowMs = this.#clock();
    const { size } = this.#options.markets;
    if (size !== this.#marketCount) {
      this.#marketCount = size;
      this.#grewMs = nowMs;
    }
    const isSettled = size > 0 && nowMs - this.#grewMs >= REGISTRY_SETTLES_MS;
    if (isSettled || nowMs - this.#startedMs >= REGISTRY_WAIT_MS) this.#end();
  }

  #end(): void {
    this.#isOver = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#replay();
  }

  /** Replays client after client, one slice per turn of the loop. New messages of a client queue behind its held ones. */
  #replay(): void {
    this.#immediate = null;
    const untilMs = this.#clock() + MESSAGE_SLICE_MS;
    for (const [connection, { texts }] of this.#held) {
      this.forget(connection);
      for (const text of texts) this.#options.handle(connection, text);
      if (this.#clock() < untilMs) continue;
      if (this.#held.size > 0) this.#immediate = setImmediate(() => this.#replay());
      return;
    }
  }
}

function needsMarkets(request: ClientRequest): boolean {
  if (request.is === 'unresolved') return request.action === 'subscribe';
  return (
    (request.is === 'book' || request.is === 'trades.v2') &&
    request.action === 'subscribe' &&
    request.message.market !== '*'
  );
}
