// The channels `markets` and `pricing`: all markets at once, whenever one changes.

import { type MarketRef, type MarketSummary, PRICE_DECIMALS } from '../../../schemas/index.ts';
import { wholeUnits } from '../../http/units.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { oraclePriceOf } from '../summaries.ts';
import type { Hub } from './hub.ts';
import type { SummaryChannel } from './requests.ts';

const price = (value: bigint | null): number | null => (value === null ? null : wholeUnits(value, PRICE_DECIMALS));

/** The newest summary of each market, and the bodies of `/stats/markets`. */
export interface MarketSummaries {
  /** Grows with every change. */
  readonly changes: number;
  of(market: MarketRef): MarketSummary | null;
  list(): readonly object[];
}

export interface SummarySources {
  readonly hub: Hub;
  readonly markets: MarketRegistry;
  readonly summaries: MarketSummaries;
}

export class SummaryChannels {
  readonly #sources: SummarySources;
  #published = -1;

  constructor(sources: SummarySources) {
    this.#sources = sources;
  }

  init({ channelType, channel }: SummaryChannel): object {
    return { type: 'init', channelType, channel, data: this.#data(channelType) };
  }

  flush(): void {
    const { hub, summaries } = this.#sources;
    if (summaries.changes === this.#published) return;
    this.#published = summaries.changes;
    this.#publish({ channelType: 'markets', channel: 'markets:summary' }, hub);
    this.#publish({ channelType: 'pricing', channel: 'pricing' }, hub);
  }

  #publish({ channelType, channel }: SummaryChannel, hub: Hub): void {
    if (!hub.has(channel)) return;
    hub.send(channel, { type: 'update', channelType, channel, data: this.#data(channelType) });
  }

  #data(channelType: SummaryChannel['channelType']): readonly object[] {
    return channelType === 'markets' ? this.#sources.summaries.list() : this.#prices();
  }

  /** Numbers in human units. Bid and ask are AMM quotes, null for a market without AMM. */
  #prices(): readonly object[] {
    const { markets, summaries } = this.#sources;
    return markets.list().map((market) => {
      const summary = summaries.of(market);
      const [bid, ask] = [summary?.bidPrice ?? null, summary?.askPrice ?? null];
      const mark = bid === null || ask === null ? (summary?.lastFillPrice ?? null) : (bid + ask) / 2n;
      return {
        symbol: market.symbol,
        marketIndex: market.marketIndex,
        marketType: market.marketType,
        oraclePrice: price(oraclePriceOf(market, summary)),
        markPrice: price(mark),
        bestBid: price(bid),
        bestAsk: price(ask),
        ts: summary?.ts ?? null,
      };
    });
  }
}
