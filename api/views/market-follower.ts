// Keeps a MarketRegistry at the newest of `views.markets`: read whole at start, then followed.

import type { EventLog, Logger, MarketFilter } from '../../platform/index.ts';
import { decodeMessage, TOPICS } from '../../schemas/index.ts';
import { followAlways } from './follow.ts';
import { MarketRegistry } from './registry.ts';

const PAGE_RECORDS = 1000;

export interface MarketFollowerOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Markets that it leaves out do not exist here. */
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

  /** Resolves when every market described so far is in the registry. */
  async start(): Promise<void> {
    await this.#options.log.ensureTopics([TOPICS.marketViews]);
    const next = await this.#readAll();
    this.#loop = this.#follow(next);
    this.#loop.catch(() => {}); // `done` reports it
  }

  /** Settles when following ended. */
  get done(): Promise<void> {
    return this.#loop;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.catch(() => {});
  }

  async #readAll(): Promise<bigint> {
    const { log } = this.#options;
    const { earliest, next } = await log.bounds(TOPICS.marketViews, 0);
    let position = earliest;
    while (position < next) {
      const records = await log.read(TOPICS.marketViews, 0, position, PAGE_RECORDS);
      const last = records.at(-1);
      if (!last) break;
      for (const { value } of records) this.#take(value);
      position = last.offset + 1n;
    }
    return position;
  }

  #follow(next: bigint): Promise<void> {
    return followAlways({
      ...this.#options,
      topic: TOPICS.marketViews,
      from: new Map([[0, next]]),
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
