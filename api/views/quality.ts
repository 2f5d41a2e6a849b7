// Follows `views.quality`: the state of each source of each market, as ingest and the book role report it.

import type { EventLog, Logger } from '../../platform/index.ts';
import {
  decodeMessage,
  type FeedQuality,
  type LiveSources,
  type MarketRef,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { CatchUp, followAlways } from './follow.ts';

export class QualityFollower {
  readonly #log: EventLog;
  readonly #logger: Logger;
  #liveSources: LiveSources = { atMs: 0, sources: [] };
  readonly #rows = new Map<string, Map<string, FeedQuality>>();
  readonly #abort = new AbortController();
  readonly #catchUp = new CatchUp();
  #loop: Promise<void> = Promise.resolve();

  constructor({ log, logger }: { readonly log: EventLog; readonly logger: Logger }) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Starts to follow at the oldest row in the log. */
  async start(): Promise<void> {
    await this.#log.ensureTopics([TOPICS.qualityViews]);
    const { earliest, next } = await this.#log.bounds(TOPICS.qualityViews, 0);
    this.#catchUp.begin([{ partition: 0, from: earliest, next }]);
    this.#loop = followAlways({
      log: this.#log,
      logger: this.#logger,
      topic: TOPICS.qualityViews,
      from: new Map([[0, earliest]]),
      signal: this.#abort.signal,
      take: (batch) => {
        for (const { value } of batch.records) this.#take(value);
        this.#catchUp.advance(batch);
      },
    });
    this.#loop.catch(() => {});
  }

  /** True once every row written before the start is read. */
  get ready(): boolean {
    return this.#catchUp.isDone;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.catch(() => {});
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
