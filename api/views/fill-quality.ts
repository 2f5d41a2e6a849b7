// The newest fill quality of each market, followed from its compacted topic; what /auctionParams weighs from version 2 on.

import type { EventLog, Logger } from '../../platform/index.ts';
import type { RecentFills } from '../../processors/book/index.ts';
import { decodeMessage, type FillQualityView, type MarketRef, marketKey, TOPICS } from '../../schemas/index.ts';
import { followAlways } from './follow.ts';

/** The cohort of every fill. */
const ALL = 'all';

export interface FillQualitySource {
  /** Means over the market's recent taker fills; null when nothing was published for it. */
  recent(market: MarketRef): RecentFills | null;
}

export class FillQualityFollower implements FillQualitySource {
  readonly #options: { readonly log: EventLog; readonly logger: Logger };
  readonly #abort = new AbortController();
  readonly #byKey = new Map<string, RecentFills>();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: { readonly log: EventLog; readonly logger: Logger }) {
    this.#options = options;
  }

  /** Begins to follow; older records are read in the background, and until then a market is as one without fills. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    const topic = TOPICS.fillQualityViews;
    await log.ensureTopics([topic]);
    const { earliest } = await log.bounds(topic, 0);
    this.#loop = followAlways({
      log,
      logger,
      topic,
      from: new Map([[0, earliest]]),
      signal: this.#abort.signal,
      take: ({ records }) => {
        for (const { value } of records) this.#take(value);
      },
    });
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

  recent(market: MarketRef): RecentFills | null {
    return this.#byKey.get(marketKey(market)) ?? null;
  }

  #take(bytes: Uint8Array): void {
    try {
      const message = decodeMessage(bytes);
      if (message.name === 'FillQualityView') this.#byKey.set(marketKey(message.value), recentFills(message.value));
    } catch (error) {
      this.#options.logger.warn(
        { topic: TOPICS.fillQualityViews.name, error: String(error) },
        'unreadable view record',
      );
    }
  }
}

function recentFills({ cohorts, updatedAtMs }: FillQualityView): RecentFills {
  const all = cohorts.find(({ cohort }) => cohort === ALL);
  return {
    takerBuyMicroBps: all?.takerBuyMicroBps ?? null,
    takerSellMicroBps: all?.takerSellMicroBps ?? null,
    updatedAtMs,
  };
}
