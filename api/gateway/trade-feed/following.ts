// Follows `views.trades` of one commitment, from the end of the log at start.

import { type EventLog, type LogBatch, type Logger, TopicFollower } from '../../../platform/index.ts';
import { TOPICS } from '../../../schemas/index.ts';
import { followAlways, nextOffsets } from '../../views/follow.ts';
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
  readonly #follower = new TopicFollower();

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
    const from = await nextOffsets(log, topic);
    await feed.start(); // After the offsets are known: a later record is followed, an earlier one is the newest of its market.
    followAlways(this.#follower, { log, logger, topic, from, take });
  }

  /** Settles when following ends; rejects when a record cannot be published. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
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
