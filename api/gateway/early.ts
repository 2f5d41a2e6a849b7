// Messages that came before any market was known, right after a start of everything together: they are heard once the
// markets are there, instead of being answered as if the market did not exist.

import type { MarketRegistry } from '../views/registry.ts';
import type { Connection } from './connection.ts';
import { REGISTRY_LOOK_MS, REGISTRY_SETTLES_MS, REGISTRY_WAIT_MS, WAITING_MESSAGES_MAX } from './limits.ts';
import type { ClientRequest } from './requests.ts';

export interface EarlyMessagesOptions {
  readonly markets: MarketRegistry;
  /** Hears a message again. */
  readonly handle: (connection: Connection, text: string) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

export class EarlyMessages {
  readonly #options: EarlyMessagesOptions;
  readonly #clock: () => number;
  readonly #startedMs: number;
  readonly #held = new Map<Connection, string[]>();
  #isOver: boolean;
  #timer: NodeJS.Timeout | null = null;
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
    if (this.#isOver) return false;
    const held = this.#held.get(connection);
    if (!held && !needsMarkets(request)) return false;
    if (!held && this.#clock() - this.#startedMs >= REGISTRY_WAIT_MS) {
      this.#end();
      return false;
    }
    if (held && held.length >= WAITING_MESSAGES_MAX) {
      connection.end('flood');
      return true;
    }
    if (held) held.push(text);
    else this.#held.set(connection, [text]);
    this.#timer ??= setInterval(() => this.#look(), REGISTRY_LOOK_MS);
    return true;
  }

  forget(connection: Connection): void {
    this.#held.delete(connection);
  }

  stop(): void {
    this.#isOver = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#held.clear();
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
    const held = [...this.#held];
    this.stop();
    for (const [connection, texts] of held) for (const text of texts) this.#options.handle(connection, text);
  }
}

function needsMarkets(request: ClientRequest): boolean {
  if (request.is === 'unresolved') return request.action === 'subscribe';
  return request.is === 'book' && request.action === 'subscribe' && request.message.market !== '*';
}
