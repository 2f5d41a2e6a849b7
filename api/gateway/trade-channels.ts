// Publishes each fill once as it enters `views.trades`, from the end of the log at start, without replay.

import type { EventLog, LogBatch, Logger } from '../../platform/index.ts';
import { decodeMessage, TOPICS, type TradeView } from '../../schemas/index.ts';
import { followAlways } from '../views/follow.ts';
import { envelope } from './book-channels.ts';
import type { Fanout } from './fanout.ts';
import type { FillMetrics } from './fill-metrics.ts';
import { REMEMBERED_FILLS } from './limits.ts';
import type { IndicativeKeys } from './quotes/indicative-keys.ts';
import { resolveChannel } from './requests.ts';
import { tradeJson } from './trade-body.ts';
import type { TradeFeed, TradeRecord } from './trade-feed/trade-feed.ts';

export interface TradeChannelsOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly fanout: Fanout;
  /** Recognises fills of known indicative quoters. */
  readonly indicativeKeys: IndicativeKeys;
  readonly fillMetrics: FillMetrics;
  /** The same fills with their numbers. */
  readonly numbered: TradeFeed;
}

export class TradeChannels {
  readonly #options: TradeChannelsOptions;
  readonly #abort = new AbortController();
  /** Ids of published fills; insertion order is age, and the oldest leaves at the bound. */
  readonly #seen = new Set<string>();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: TradeChannelsOptions) {
    this.#options = options;
  }

  /** Resolves once the end of every partition is known: later fills are published. */
  async start(): Promise<void> {
    const { log, numbered } = this.#options;
    await log.ensureTopics([TOPICS.tradeViews]);
    const from = new Map<number, bigint>();
    for (let partition = 0; partition < TOPICS.tradeViews.partitions; partition += 1) {
      from.set(partition, (await log.bounds(TOPICS.tradeViews, partition)).next);
    }
    await numbered.start(); // After the offsets are known: a later fill is followed, an earlier one is the newest of its market.
    this.#loop = this.#follow(from);
    this.#loop.catch(() => {}); // `done` reports the rejection.
  }

  /** Settles when following ends; rejects when a fill cannot be published. */
  get done(): Promise<void> {
    return this.#loop;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.catch(() => {});
  }

  #follow(from: ReadonlyMap<number, bigint>): Promise<void> {
    const { log, logger } = this.#options;
    const take = (batch: LogBatch): void => this.#publish(batch);
    return followAlways({ log, logger, topic: TOPICS.tradeViews, from, signal: this.#abort.signal, take });
  }

  #publish({ partition, records }: LogBatch): void {
    const { fanout, indicativeKeys, fillMetrics, numbered } = this.#options;
    const trades: TradeRecord[] = [];
    const frames: { name: string; frame: Buffer }[] = [];
    for (const { value, offset } of records) {
      const trade = this.#decode(value, `${TOPICS.tradeViews.name}/${partition}/${offset}`);
      if (!trade) continue;
      trades.push({ trade, bytes: value, offset });
      if (!this.#firstSighting(trade)) continue;
      const quoter = indicativeKeys.of(trade);
      fillMetrics.take(trade, quoter);
      const { name } = resolveChannel('trades', trade, 1);
      if (fanout.has(name)) frames.push({ name, frame: envelope(name, tradeJson(trade, quoter)) });
    }
    if (frames.length > 0) fanout.send(frames);
    numbered.take(trades);
  }

  #firstSighting({ txSig, fillRecordId, marketType, marketIndex }: TradeView): boolean {
    const id = `${txSig}:${marketType}:${marketIndex}:${fillRecordId}`;
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    if (this.#seen.size > REMEMBERED_FILLS) {
      const [oldest] = this.#seen;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    return true;
  }

  #decode(bytes: Uint8Array, origin: string): TradeView | null {
    try {
      const message = decodeMessage(bytes);
      return message.name === 'TradeView' ? message.value : null;
    } catch (error) {
      this.#options.logger.warn({ origin, error: String(error) }, 'unreadable view record');
      return null;
    }
  }
}
