// The channels `markets` and `pricing`: every market at once, whenever one of them changed.

import type { MarketRef, MarketSummary } from '../../../schemas/index.ts';
import { wholeUnits } from '../../units.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { Hub } from './hub.ts';
import type { SummaryChannel } from './requests.ts';

const PRICE_DECIMALS = 6;
const price = (value: bigint | null): number | null => (value === null ? null : wholeUnits(value, PRICE_DECIMALS));

/** The newest summary of each market, and the bodies of `/stats/markets` made of them. */
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
  #told = -1;

  constructor(sources: SummarySources) {
    this.#sources = sources;
  }

  init({ channelType, channel }: SummaryChannel): object {
    return { type: 'init', channelType, channel, data: this.#data(channelType) };
  }

  flush(): void {
    const { hub, summaries } = this.#sources;
    if (summaries.changes === this.#told) return;
    this.#told = summaries.changes;
    this.#tell({ channelType: 'markets', channel: 'markets:summary' }, hub);
    this.#tell({ channelType: 'pricing', channel: 'pricing' }, hub);
  }

  #tell({ channelType, channel }: SummaryChannel, hub: Hub): void {
    if (!hub.has(channel)) return;
    hub.send(channel, { type: 'update', channelType, channel, data: this.#data(channelType) });
  }

  #data(channelType: SummaryChannel['channelType']): readonly object[] {
    return channelType === 'markets' ? this.#sources.summaries.list() : this.#prices();
  }

  /** Numbers in human units; bid and ask are the AMM's own, null where a market has none. */
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
        oraclePrice: price(market.oraclePrice ?? summary?.oraclePrice ?? null),
        markPrice: price(mark),
        bestBid: price(bid),
        bestAsk: price(ask),
        ts: summary?.ts ?? null,
      };
    });
  }
}
