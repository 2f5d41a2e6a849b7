// Keeps a MarketRegistry up to date with `views.markets`: reads all of it at the start, then follows.

import type { EventLog, Logger, MarketFilter } from '../../platform/index.ts';
import { decodeMessage, TOPICS } from '../../schemas/index.ts';
import { followAlways } from './follow.ts';
import { readToEnd } from './read-to-end.ts';
import { MarketRegistry } from './registry.ts';

const PARTITION = 0;

export interface MarketFollowerOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** The registry ignores markets for which it is false. */
  readonly isServed?: MarketFilter;
}

export class MarketFollower {
  readonly registry = new MarketRegistry();
  readonly #options: MarketFollowerOptions;
  readonly #abort = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: MarketFollowerOptions) {
    this.#options = options;
  }

  /** Resolves when the registry contains every market described so far. */
  async start(): Promise<void> {
    const { log } = this.#options;
    const topic = TOPICS.marketViews;
    await log.ensureTopics([topic]);
    const next = await readToEnd({ log, topic, partition: PARTITION }, ({ value }) => this.#take(value));
    this.#loop = this.#follow(next);
    this.#loop.catch(() => {}); // `done` reports it
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#loop;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.catch(() => {});
  }

  #follow(next: bigint): Promise<void> {
    return followAlways({
      ...this.#options,
      topic: TOPICS.marketViews,
      from: new Map([[PARTITION, next]]),
      signal: this.#abort.signal,
      take: ({ records }) => {
        for (const { value } of records) this.#take(value);
      },
    });
  }

  #take(bytes: Uint8Array): void {
    try {
      const message = decodeMessage(bytes);
      if (message.name !== 'MarketView') return;
      if (this.#options.isServed?.(message.value) ?? true) this.registry.put(message.value);
    } catch (error) {
      this.#options.logger.warn({ topic: TOPICS.marketViews.name, error: String(error) }, 'unreadable view record');
    }
  }
}
