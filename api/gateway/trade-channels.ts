// Publishes each confirmed fill once as it enters `views.trades`, from the end of the log at start, without replay.

import { LRUCache } from 'lru-cache';
import type { EventLog, LogBatch, Logger } from '../../platform/index.ts';
import { decodeMessage, TOPICS, type TradeView } from '../../schemas/index.ts';
import { envelope } from './envelope.ts';
import type { Fanout } from './fanout.ts';
import type { FillMetrics } from './fill-metrics.ts';
import { REMEMBERED_FILLS } from './limits.ts';
import type { IndicativeKeys } from './quotes/indicative-keys.ts';
import { resolveChannel } from './requests.ts';
import { tradeJson } from './trade-body.ts';
import { TradeFollowing } from './trade-feed/following.ts';
import type { TradeFeed, TradeRecord } from './trade-feed/trade-feed.ts';
import { isNumbered } from './trade-feed/trade-stream.ts';

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
  readonly #following: TradeFollowing;
  /** Ids of published fills; the oldest leaves first. */
  readonly #seen = new LRUCache<string, true>({ max: REMEMBERED_FILLS });

  constructor(options: TradeChannelsOptions) {
    const { log, logger, numbered: feed } = options;
    this.#options = options;
    this.#following = new TradeFollowing({ log, logger, feed, take: (batch) => this.#publish(batch) });
  }

  /** Resolves once the end of every partition is known: later fills are published. */
  start(): Promise<void> {
    return this.#following.start();
  }

  /** Settles when following ends; rejects when a fill cannot be published. */
  get done(): Promise<void> {
    return this.#following.done;
  }

  stop(): Promise<void> {
    return this.#following.stop();
  }

  #publish({ partition, records }: LogBatch): void {
    const { fanout, indicativeKeys, fillMetrics, numbered } = this.#options;
    const trades: TradeRecord[] = [];
    const frames: { name: string; frame: Buffer }[] = [];
    for (const { value, offset } of records) {
      const trade = this.#decode(value, `${TOPICS.tradeViews.name}/${partition}/${offset}`);
      if (!trade) continue;
      if (isNumbered(trade)) trades.push({ record: trade, bytes: value, offset });
      if (!this.#isFirst(trade)) continue;
      const quoter = indicativeKeys.of(trade);
      fillMetrics.take(trade, quoter);
      const { name } = resolveChannel('trades', trade, 1);
      if (fanout.has(name)) frames.push({ name, frame: envelope(name, tradeJson(trade, quoter)) });
    }
    if (frames.length > 0) fanout.send(frames);
    numbered.take(trades);
  }

  #isFirst({ txSig, fillRecordId, marketType, marketIndex }: TradeView): boolean {
    const id = `${txSig}:${marketType}:${marketIndex}:${fillRecordId}`;
    if (this.#seen.has(id)) return false;
    this.#seen.set(id, true);
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
