// Follows `views.trades` of one commitment, from the end of the log at start.

import type { EventLog, LogBatch, Logger } from '../../../platform/index.ts';
import { TOPICS } from '../../../schemas/index.ts';
import { followAlways } from '../../views/follow.ts';
import type { TradeFeed } from './trade-feed.ts';
import { numberedRecord } from './trade-stream.ts';

export interface TradeFollowingOptions {
  /** The log at the commitment of the feed. */
  readonly log: EventLog;
  readonly logger: Logger;
  readonly feed: TradeFeed;
  /** Gets each batch; default: its numbered records go to the feed. */
  readonly take?: (batch: LogBatch) => void;
}

export class TradeFollowing {
  readonly #options: TradeFollowingOptions;
  readonly #abort = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: TradeFollowingOptions) {
    this.#options = options;
  }

  get feed(): TradeFeed {
    return this.#options.feed;
  }

  /** Resolves once the end of every partition is known: later records are published. */
  async start(): Promise<void> {
    const { log, logger, feed, take = (batch) => this.#publish(batch) } = this.#options;
    const topic = TOPICS.tradeViews;
    await log.ensureTopics([topic]);
    const from = new Map<number, bigint>();
    for (let partition = 0; partition < topic.partitions; partition += 1) {
      from.set(partition, (await log.bounds(topic, partition)).next);
    }
    await feed.start(); // After the offsets are known: a later record is followed, an earlier one is the newest of its market.
    this.#loop = followAlways({ log, logger, topic, from, signal: this.#abort.signal, take });
    this.#loop.catch(() => {}); // `done` reports the rejection.
  }

  /** Settles when following ends; rejects when a record cannot be published. */
  get done(): Promise<void> {
    return this.#loop;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.catch(() => {});
  }

  #publish({ partition, records }: LogBatch): void {
    const { feed, logger } = this.#options;
    feed.take(
      records.flatMap(({ value, offset }) => {
        try {
          const record = numberedRecord(value);
          return record ? [{ record, bytes: value, offset }] : [];
        } catch (error) {
          const origin = `${TOPICS.tradeViews.name}/${partition}/${offset}`;
          logger.warn({ origin, error: String(error) }, 'unreadable view record');
          return [];
        }
      }),
    );
  }
}
