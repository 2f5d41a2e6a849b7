// The feed of the history: candles and market summaries as they change, over one connection that repairs itself.

import { Connection, type ConnectionOptions } from '../feed/connection.ts';
import { callAll, Events } from '../feed/events.ts';
import type { HistoryAnswer } from './reader.ts';

/** Whole units; `ts` is the start of the bucket, Unix seconds. */
export interface HistoryCandle {
  readonly ts: number;
  readonly symbol: string;
  readonly resolution: string;
  readonly fillOpen: number;
  readonly fillHigh: number;
  readonly fillLow: number;
  readonly fillClose: number;
  readonly oracleOpen: number;
  readonly oracleHigh: number;
  readonly oracleLow: number;
  readonly oracleClose: number;
  readonly quoteVolume: number;
  readonly baseVolume: number;
}

/** A market as `/stats/markets` serves it. */
export type MarketSummary = HistoryAnswer<'/stats/markets'>[number];

export type HistoryFeedEvents = {
  connected: { readonly attempt: number };
  /** Changes until the next `connected` are not sent again. */
  disconnected: { readonly code: number; readonly reason: string };
};

interface Following {
  readonly request: object;
  readonly listeners: Set<(data: never) => void>;
}

/** Connects at the first subscription, and reconnects until `close`. */
export class HistoryFeed extends Events<HistoryFeedEvents> {
  readonly #connection: Connection;
  /** By channel name. */
  readonly #following = new Map<string, Following>();

  constructor(options: ConnectionOptions) {
    super();
    // Pings of the server stay below what a browser shows, so silence says nothing.
    this.#connection = new Connection(
      { silenceMs: 0, ...options },
      {
        opened: (attempt) => {
          for (const { request } of this.#following.values()) this.#send(request, 'subscribe');
          this.emit('connected', { attempt });
        },
        received: (message) => this.#received(message),
        lost: (code, reason) => this.emit('disconnected', { code, reason }),
      },
    );
  }

  /** Calls `listener` with each change of the newest candle. Returns a function that ends it. `resolution` as in the REST. */
  candles(symbol: string, resolution: string, listener: (candle: HistoryCandle) => void): () => void {
    const request = { channelType: 'candle', symbol, resolution };
    return this.#follow(`candle:${symbol.toUpperCase()}:${resolution}`, request, listener);
  }

  /** Calls `listener` with all market summaries whenever one changes. Returns a function that ends it. */
  markets(listener: (markets: readonly MarketSummary[]) => void): () => void {
    return this.#follow('markets:summary', { channelType: 'markets' }, listener);
  }

  /** Closes the connection. It does not reconnect. */
  close(): void {
    this.#connection.close();
  }

  #follow(channel: string, request: object, listener: (data: never) => void): () => void {
    const following = this.#following.get(channel) ?? { request, listeners: new Set() };
    following.listeners.add(listener);
    if (!this.#following.has(channel)) {
      this.#following.set(channel, following);
      if (this.#connection.isOpen) this.#send(request, 'subscribe');
    }
    this.#connection.connect();
    return () => {
      if (!following.listeners.delete(listener) || following.listeners.size > 0) return;
      this.#following.delete(channel);
      if (this.#connection.isOpen) this.#send(request, 'unsubscribe');
    };
  }

  #send(request: object, type: 'subscribe' | 'unsubscribe'): void {
    this.#connection.send({ ...request, type });
  }

  #received(message: object): void {
    const { channel, candle, data } = message as {
      readonly channel?: unknown;
      readonly candle?: HistoryCandle;
      readonly data?: unknown;
    };
    // Changes of candles name no channel, but their candle names market and resolution.
    const name = candle ? `candle:${candle.symbol}:${candle.resolution}` : channel;
    const content = candle ?? data;
    if (content === undefined) return;
    callAll(this.#following.get(String(name))?.listeners ?? [], content as never);
  }
}
