// Messages that came before any market was known, right after a start of everything together: they are heard once the
// markets are there, instead of being answered as if the market did not exist.

import type { MarketRegistry } from '../views/registry.ts';
import type { Connection } from './connection.ts';
import { waitingBytes } from './inbox.ts';
import {
  REGISTRY_LOOK_MS,
  REGISTRY_SETTLES_MS,
  REGISTRY_WAIT_MS,
  TURN_SLICE_MS,
  WAITING_BYTES_MAX,
  WAITING_MESSAGES_MAX,
} from './limits.ts';
import type { ClientRequest } from './requests.ts';

export interface EarlyMessagesOptions {
  readonly markets: MarketRegistry;
  /** Hears a message again. */
  readonly handle: (connection: Connection, text: string) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface Held {
  readonly texts: string[];
  bytes: number;
}

export class EarlyMessages {
  readonly #options: EarlyMessagesOptions;
  readonly #clock: () => number;
  readonly #startedMs: number;
  readonly #held = new Map<Connection, Held>();
  #bytes = 0;
  #isOver: boolean;
  #timer: NodeJS.Timeout | null = null;
  #turn: NodeJS.Immediate | null = null;
  #size = 0;
  #grewMs = Number.NaN;

  constructor(options: EarlyMessagesOptions) {
    const { markets, clock = () => performance.now() } = options;
    this.#options = options;
    this.#clock = clock;
    this.#startedMs = clock();
    this.#isOver = markets.size > 0;
  }

  /**
   * Keeps a message that cannot be understood yet, and what the same client says after it. True when it was kept, or the
   * client has said too much already.
   */
  keep(connection: Connection, text: string, request: ClientRequest): boolean {
    const held = this.#held.get(connection);
    if (!held && (this.#isOver || !needsMarkets(request))) return false;
    if (!held && this.#clock() - this.#startedMs >= REGISTRY_WAIT_MS) {
      this.#end();
      return false;
    }
    const kept = held ?? { texts: [], bytes: 0 };
    this.#held.set(connection, kept);
    const bytes = waitingBytes(text);
    const isFull = this.#bytes + bytes > WAITING_BYTES_MAX && kept.bytes + bytes > WAITING_BYTES_MAX / this.#held.size;
    if (kept.texts.length >= WAITING_MESSAGES_MAX || isFull) {
      this.forget(connection);
      connection.end('flood');
      return true;
    }
    kept.texts.push(text);
    kept.bytes += bytes;
    this.#bytes += bytes;
    if (!this.#isOver) this.#timer ??= setInterval(() => this.#look(), REGISTRY_LOOK_MS);
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
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
    this.#held.clear();
    this.#bytes = 0;
  }

  #look(): void {
    const nowMs = this.#clock();
    const { size } = this.#options.markets;
    if (size !== this.#size) {
      this.#size = size;
      this.#grewMs = nowMs;
    }
    const isThere = size > 0 && nowMs - this.#grewMs >= REGISTRY_SETTLES_MS;
    if (isThere || nowMs - this.#startedMs >= REGISTRY_WAIT_MS) this.#end();
  }

  #end(): void {
    this.#isOver = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#hear();
  }

  /** Client after client, for a moment in each turn of the loop. What a client says meanwhile comes behind what it said. */
  #hear(): void {
    this.#turn = null;
    const untilMs = this.#clock() + TURN_SLICE_MS;
    for (const [connection, { texts }] of this.#held) {
      this.forget(connection);
      for (const text of texts) this.#options.handle(connection, text);
      if (this.#clock() < untilMs) continue;
      if (this.#held.size > 0) this.#turn = setImmediate(() => this.#hear());
      return;
    }
  }
}

function needsMarkets(request: ClientRequest): boolean {
  if (request.is === 'unresolved') return request.action === 'subscribe';
  return request.is === 'book' && request.action === 'subscribe' && request.message.market !== '*';
}
