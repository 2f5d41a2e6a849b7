// Follows `views.quality`: the state of each source of each market, as ingest and the book role report it.

import { type EventLog, type LogBatch, type Logger, TopicFollower } from '../../platform/index.ts';
import {
  decodeMessage,
  type FeedQuality,
  type LiveSources,
  type MarketRef,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { CatchUp, followFromOldest } from './follow.ts';

export class QualityFollower {
  readonly #log: EventLog;
  readonly #logger: Logger;
  #liveSources: LiveSources = { atMs: 0, sources: [] };
  readonly #rows = new Map<string, Map<string, FeedQuality>>();
  readonly #follower = new TopicFollower();
  readonly #catchUp = new CatchUp();

  constructor({ log, logger }: { readonly log: EventLog; readonly logger: Logger }) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Starts to follow at the oldest row in the log. */
  async start(): Promise<void> {
    const [log, logger, topic] = [this.#log, this.#logger, TOPICS.qualityViews];
    const take = ({ records }: LogBatch): void => {
      for (const { value } of records) this.#take(value);
    };
    await followFromOldest(this.#follower, this.#catchUp, { log, logger, topic, take });
  }

  /** True once every row written before the start is read. */
  get ready(): boolean {
    return this.#catchUp.isDone;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  /** The live sources that run at once; none before the first report, or while one runs alone. */
  get liveSources(): LiveSources {
    return this.#liveSources;
  }

  /** Rows of a market by source; empty before the first. */
  of(market: MarketRef): ReadonlyMap<string, FeedQuality> {
    return this.#rows.get(marketKey(market)) ?? new Map();
  }

  #take(bytes: Uint8Array): void {
    try {
      const message = decodeMessage(bytes);
      if (message.name === 'LiveSources') this.#liveSources = message.value;
      if (message.name !== 'FeedQuality') return;
      const key = marketKey(message.value);
      const rows = this.#rows.get(key) ?? new Map<string, FeedQuality>();
      this.#rows.set(key, rows.set(message.value.source, message.value));
    } catch (error) {
      this.#logger.warn({ topic: TOPICS.qualityViews.name, error: String(error) }, 'unreadable view record');
    }
  }
}
