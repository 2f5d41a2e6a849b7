// Keeps a MarketRegistry up to date with `views.markets`: reads all of it at the start, then follows.

import { type EventLog, type Logger, type LogRecord, type MarketFilter, TopicFollower } from '../../platform/index.ts';
import { decodeMessage, TOPICS } from '../../schemas/index.ts';
import { readAndFollow } from './follow.ts';
import { MarketRegistry } from './registry.ts';

export interface MarketFollowerOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** The registry ignores markets for which it is false. */
  readonly isServed?: MarketFilter;
}

export class MarketFollower {
  readonly registry = new MarketRegistry();
  readonly #options: MarketFollowerOptions;
  readonly #follower = new TopicFollower();

  constructor(options: MarketFollowerOptions) {
    this.#options = options;
  }

  /** Resolves when the registry contains every market described so far. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    const take = ({ value }: LogRecord): void => this.#take(value);
    await readAndFollow(this.#follower, { log, logger, topic: TOPICS.marketViews, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
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
