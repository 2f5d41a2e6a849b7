// Follows the newest fill quality of each market. /auctionParams uses it from version 2 on.

import { Gauge } from 'prom-client';
import { type EventLog, type LogBatch, type Logger, type Registry, TopicFollower } from '../../platform/index.ts';
import type { RecentFills } from '../../processors/book/index.ts';
import { decodeMessage, type FillQualityView, type MarketRef, marketKey, TOPICS } from '../../schemas/index.ts';
import { followFinality, type RunningFinality } from './chain-finality.ts';
import { CatchUp, followFromOldest } from './follow.ts';

/** The cohort that contains every fill. */
const ALL = 'all';
const MICRO = 1e6;
const MS_PER_SECOND = 1_000;

export interface FillQualitySource {
  /** True once everything published before the start is read. */
  readonly ready: boolean;
  /** Means over the market's recent taker fills; null before the first publication. */
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
  /** Wall-clock milliseconds of receipt. */
  readonly atMs: number;
}

export class FillQualityFollower implements FillQualitySource {
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #follower = new TopicFollower();
  readonly #catchUp = new CatchUp();
  readonly #byKey = new Map<string, Taken>();
  /** Newest chain time in a view of any market, milliseconds. */
  #viewsMs = 0;
  /** Gives the chain's time while no fill comes, and while the writer of the views is away. */
  #finality: RunningFinality | null = null;

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

  /** Starts to follow. Reads older views in the background; until then `recent` returns null. Rejects when the log cannot be read. */
  async start(): Promise<void> {
    const { log, logger } = this.#options;
    this.#finality = await followFinality({ log, logger });
    const topic = TOPICS.fillQualityViews;
    const take = ({ records }: LogBatch): void => {
      for (const { value } of records) this.#take(value);
    };
    await followFromOldest(this.#follower, this.#catchUp, { log, logger, topic, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return Promise.all([this.#follower.done, this.#finality?.done]).then(() => {});
  }

  async stop(): Promise<void> {
    await Promise.all([this.#follower.stop(), this.#finality?.stop()]);
  }

  get ready(): boolean {
    return this.#catchUp.isDone;
  }

  /**
   * The age is the larger of two: the chain's time minus that of this view, and wall-clock time since receipt. The two clocks
   * are never mixed. So a view from before the start is as old as the chain says, and a view ages while the chain's time is
   * unknown.
   */
  recent(market: MarketRef): RecentFills | null {
    const taken = this.#byKey.get(marketKey(market));
    if (!taken) return null;
    const { view, atMs } = taken;
    const all = view.cohorts.find(({ cohort }) => cohort === ALL);
    return {
      takerBuyMicroBps: all?.takerBuyMicroBps ?? null,
      takerSellMicroBps: all?.takerSellMicroBps ?? null,
      ageMs: Math.max(this.#chainMs() - view.updatedAtMs, this.#clock() - atMs),
    };
  }

  /** The newest time of the chain in the log, milliseconds. */
  #chainMs(): number {
    return Math.max(this.#viewsMs, (this.#finality?.newest()?.ts ?? 0) * MS_PER_SECOND);
  }

  #take(bytes: Uint8Array): void {
    try {
      const message = decodeMessage(bytes);
      if (message.name !== 'FillQualityView') return;
      const view = message.value;
      this.#byKey.set(marketKey(view), { view, atMs: this.#clock() });
      this.#viewsMs = Math.max(this.#viewsMs, view.updatedAtMs);
    } catch (error) {
      this.#options.logger.warn(
        { topic: TOPICS.fillQualityViews.name, error: String(error) },
        'unreadable view record',
      );
    }
  }
}
