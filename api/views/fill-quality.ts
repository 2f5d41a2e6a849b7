// The newest fill quality of each market, followed from its compacted topic; what /auctionParams weighs from version 2 on.

import { Gauge } from 'prom-client';
import type { EventLog, Logger, Registry } from '../../platform/index.ts';
import type { RecentFills } from '../../processors/book/index.ts';
import { decodeMessage, type FillQualityView, type MarketRef, marketKey, TOPICS } from '../../schemas/index.ts';
import { CatchUp, followAlways } from './follow.ts';

/** The cohort of every fill. */
const ALL = 'all';
const MICRO = 1e6;

export interface FillQualitySource {
  /** True once what was published before the start was read. */
  readonly ready: boolean;
  /** Means over the market's recent taker fills; null when nothing was published for it. */
  recent(market: MarketRef): RecentFills | null;
}

interface Options {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Wall clock, milliseconds. */
  readonly clock?: () => number;
}

interface Taken {
  readonly view: FillQualityView;
  /** Wall-clock milliseconds at which it was taken in. */
  readonly atMs: number;
}

export class FillQualityFollower implements FillQualitySource {
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #abort = new AbortController();
  readonly #catchUp = new CatchUp();
  readonly #byKey = new Map<string, Taken>();
  /** Newest chain time told by a view of any market, milliseconds. */
  #chainMs = 0;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    const byKey = this.#byKey;
    new Gauge({
      name: 'taker_fill_bps_from_oracle',
      help: 'Mean distance of recent taker fills from the oracle, basis points, by side and notional cohort',
      labelNames: ['marketIndex', 'side', 'cohort', 'null'],
      registers: [options.metrics],
      collect() {
        this.reset();
        for (const { view } of byKey.values()) {
          for (const { cohort, takerBuyMicroBps, takerSellMicroBps } of view.cohorts) {
            for (const [side, mean] of [
              ['buy', takerBuyMicroBps],
              ['sell', takerSellMicroBps],
            ] as const) {
              const labels = { marketIndex: String(view.marketIndex), side, cohort, null: String(mean === null) };
              this.set(labels, Number(mean ?? 0n) / MICRO);
            }
          }
        }
      },
    });
  }

  /** Begins to follow; older records are read in the background, and until then a market is as one without fills. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    const topic = TOPICS.fillQualityViews;
    await log.ensureTopics([topic]);
    const { earliest, next } = await log.bounds(topic, 0);
    this.#catchUp.begin([{ partition: 0, from: earliest, next }]);
    this.#loop = followAlways({
      log,
      logger,
      topic,
      from: new Map([[0, earliest]]),
      signal: this.#abort.signal,
      take: (batch) => {
        for (const { value } of batch.records) this.#take(value);
        this.#catchUp.took(batch);
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

  get ready(): boolean {
    return this.#catchUp.isDone;
  }

  /**
   * The age is told by chain time against chain time, and by the wall clock since the view came in, whichever is more: the
   * two clocks are never compared, and views that nobody renews grow old too.
   */
  recent(market: MarketRef): RecentFills | null {
    const taken = this.#byKey.get(marketKey(market));
    if (!taken) return null;
    const { view, atMs } = taken;
    const all = view.cohorts.find(({ cohort }) => cohort === ALL);
    return {
      takerBuyMicroBps: all?.takerBuyMicroBps ?? null,
      takerSellMicroBps: all?.takerSellMicroBps ?? null,
      ageMs: Math.max(this.#chainMs - view.updatedAtMs, this.#clock() - atMs),
    };
  }

  #take(bytes: Uint8Array): void {
    try {
      const message = decodeMessage(bytes);
      if (message.name !== 'FillQualityView') return;
      const view = message.value;
      this.#byKey.set(marketKey(view), { view, atMs: this.#clock() });
      this.#chainMs = Math.max(this.#chainMs, view.updatedAtMs);
    } catch (error) {
      this.#options.logger.warn(
        { topic: TOPICS.fillQualityViews.name, error: String(error) },
        'unreadable view record',
      );
    }
  }
}
