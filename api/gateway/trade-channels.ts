// Publishes fills as they enter `views.trades`, from the end of the log at start: no replay, each fill once.

import type { EventLog, LogBatch, Logger } from '../../platform/index.ts';
import { decodeMessage, TOPICS, type TradeView } from '../../schemas/index.ts';
import type { IndicativeKeys } from '../quotes/indicative-keys.ts';
import { followAlways } from '../views/follow.ts';
import { envelope } from './book-channels.ts';
import type { Fanout } from './fanout.ts';
import type { FillMetrics } from './fill-metrics.ts';
import { REMEMBERED_FILLS } from './limits.ts';
import { resolveChannel } from './requests.ts';
import { tradeJson } from './trade-body.ts';

export interface TradeChannelsOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly fanout: Fanout;
  /** Tells which fills a known indicative quoter made. */
  readonly indicativeKeys: IndicativeKeys;
  readonly fillMetrics: FillMetrics;
}

export class TradeChannels {
  readonly #options: TradeChannelsOptions;
  readonly #abort = new AbortController();
  /** Insertion order is age: the oldest leaves when the bound is reached. */
  readonly #seen = new Set<string>();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: TradeChannelsOptions) {
    this.#options = options;
  }

  /** Resolves once the end of every partition is known: fills appended after that are published. */
  async start(): Promise<void> {
    const { log } = this.#options;
    await log.ensureTopics([TOPICS.tradeViews]);
    const from = new Map<number, bigint>();
    for (let partition = 0; partition < TOPICS.tradeViews.partitions; partition += 1) {
      from.set(partition, (await log.bounds(TOPICS.tradeViews, partition)).next);
    }
    this.#loop = this.#follow(from);
    this.#loop.catch(() => {}); // `done` reports it
  }

  /** Settles when following ended; rejects when a fill could not be published. */
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
    const { fanout, indicativeKeys, fillMetrics } = this.#options;
    const frames: { name: string; frame: Buffer }[] = [];
    for (const { value, offset } of records) {
      const trade = this.#decode(value, `${TOPICS.tradeViews.name}/${partition}/${offset}`);
      if (!trade || !this.#firstSighting(trade)) continue;
      const quoter = indicativeKeys.of(trade);
      fillMetrics.take(trade, quoter);
      const { name } = resolveChannel('trades', trade, 1);
      if (fanout.has(name)) frames.push({ name, frame: envelope(name, tradeJson(trade, quoter)) });
    }
    if (frames.length > 0) fanout.send(frames);
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
