// An order-book server with its gateway and quote socket on a log in memory.

import { vi } from 'vitest';
import { startOrderBook } from '../../../api/orderbook/start.ts';
import type { RunningRole } from '../../../platform/index.ts';
import { decodeMessage, type MakerQuotes, TOPICS } from '../../../schemas/index.ts';
import { FeedClient } from '../api/feed-client.ts';
import { QuoteMaker, TestKey } from '../api/quote-maker.ts';
import { Stage, snapshot, until } from '../api/stage.ts';

/**
 * Quotes age by the wall clock, which moves only by `pass`, so that none lapses on a busy machine. Timers and monotonic
 * clocks run.
 */
export class QuoteStage extends Stage {
  readonly makers: QuoteMaker[] = [];
  readonly #clients: FeedClient[] = [];
  #role: RunningRole | null = null;

  async start(overrides: Parameters<Stage['context']>[0] = {}): Promise<void> {
    vi.useFakeTimers({ toFake: ['Date'] });
    await this.markets();
    await this.books(snapshot());
    this.#role = await startOrderBook(this.context({ bookTickMs: 0, ...overrides }));
    await until(async () => (await fetch(`${this.role.endpoints.orderbook}/startup`)).status === 200);
  }

  async stop(): Promise<void> {
    for (const { socket } of [...this.makers, ...this.#clients]) socket.terminate();
    await this.#role?.stop();
    vi.useRealTimers();
  }

  /** Moves the wall clock. */
  pass(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  get role(): RunningRole {
    if (!this.#role) throw new Error('not started yet');
    return this.#role;
  }

  get quotesUrl(): string {
    return this.role.endpoints.quotes ?? '';
  }

  /** An authenticated maker. */
  async maker(key?: TestKey): Promise<QuoteMaker> {
    const connected = await QuoteMaker.authenticated(this.quotesUrl, key);
    this.makers.push(connected);
    return connected;
  }

  /** A maker that has a nonce and has sent nothing. */
  async stranger(key = new TestKey(), name = key.name): Promise<QuoteMaker> {
    const connected = await QuoteMaker.connect(this.quotesUrl, key, name);
    this.makers.push(connected);
    return connected;
  }

  async feed(): Promise<FeedClient> {
    const client = await FeedClient.connect(this.role.endpoints.gateway ?? '');
    this.#clients.push(client);
    return client;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.role.endpoints.orderbook}${path}`)).json()) as T;
  }

  async loggedQuotes(): Promise<MakerQuotes[]> {
    const found: MakerQuotes[] = [];
    for (let partition = 0; partition < TOPICS.quotes.partitions; partition += 1) {
      for (const { value } of await this.log.read(TOPICS.quotes, partition, 0n, 1000)) {
        const message = decodeMessage(value);
        if (message.name === 'MakerQuotes') found.push(message.value);
      }
    }
    return found;
  }
}
