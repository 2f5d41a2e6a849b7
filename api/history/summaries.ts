// The newest summary of each market and the body of /stats/markets, both built on change, so requests cost nothing.

import type { EventLog, Logger } from '../../platform/index.ts';
import {
  fundingPercent1e9,
  type MarketRef,
  type MarketSummary,
  type MarketView,
  marketKey,
  PRICE_DECIMALS,
  QUOTE_DECIMALS,
  TOPICS,
} from '../../schemas/index.ts';
import { divideRounded, greatest, wholeUnits } from '../http/units.ts';
import { NewestFollower } from '../views/newest.ts';
import type { MarketRegistry } from '../views/registry.ts';
import { baseDecimals } from './lists.ts';
import { meanFunding } from './queries/funding.ts';

/** Decimals of percentages from funding rates. */
export const PERCENT_DECIMALS = 9;

const number = (description: string) => ({ type: 'number', description });
const optional = (description: string) => ({ type: ['number', 'null'], description });

/** Members of a summary, all in human units. The required ones are this service's, the others the predecessor's. */
export const SUMMARY_SCHEMA = {
  type: 'object',
  required: [
    'marketIndex',
    'symbol',
    'marketType',
    'oraclePrice',
    'volume24h',
    'openInterest',
    'fundingRate',
    'fundingRate24hAvg',
    'status',
  ],
  properties: {
    marketIndex: { type: 'integer' },
    symbol: { type: 'string' },
    marketType: { type: 'string', enum: ['perp', 'spot'] },
    oraclePrice: number('newest oracle price; 0 before the first'),
    volume24h: number('quote; liquidation fills count, position transfers do not'),
    openInterest: number('base; the larger side; 0 for spot'),
    fundingRate: number('percent per hour; positive = longs pay'),
    fundingRate24hAvg: number('percent per hour, mean of the last 24 records'),
    status: { type: 'string', description: 'lower case' },
    ts: { type: ['integer', 'null'], description: 'chain time of the summary, unix seconds' },
    baseVolume24h: number('base'),
    trades24h: { type: 'integer', description: 'fills behind the volume' },
    price: optional('last fill'),
    price24hAgo: optional('last fill before the 24 hours'),
    priceChange24h: optional('price - price24hAgo'),
    priceChange24hPercent: optional('percent of price24hAgo'),
    priceHigh24h: optional('of fills; liquidations and position transfers left out'),
    priceLow24h: optional('of fills; liquidations and position transfers left out'),
    oracleHigh24h: optional('of oracle prices'),
    oracleLow24h: optional('of oracle prices'),
    markPrice: optional('mean of the AMM bid and ask; null without AMM'),
    openInterestLong: number('base'),
    openInterestShort: number('base; zero or negative'),
    fundingRateLong: number('percent per hour that longs receive; negative = they pay'),
    fundingRateShort: number('percent per hour that shorts receive; negative = they pay'),
    fundingRateUpdateTs: { type: ['integer', 'null'], description: 'unix seconds' },
  },
};

export type SummaryBody = ReturnType<typeof summaryBody>;

/** One record of /stats/markets. A market without a summary has no fills, funding or samples yet. */
export function summaryBody(market: MarketView, summary: MarketSummary | null) {
  const { marketIndex, marketType, symbol, status } = market;
  const decimals = baseDecimals(market);
  const base = (value: bigint) => (marketType === 'perp' ? wholeUnits(value, decimals) : 0);
  const { openInterestLong: long, openInterestShort: short } = openInterest(market, summary);
  const funding = summary?.funding ?? null;
  const rate = (value: bigint | undefined) =>
    wholeUnits(
      funding && value !== undefined ? fundingPercent1e9(value, funding.oraclePriceTwap) : 0n,
      PERCENT_DECIMALS,
    );
  return {
    marketIndex,
    symbol,
    marketType,
    oraclePrice: wholeUnits(oraclePriceOf(market, summary) ?? 0n, PRICE_DECIMALS),
    volume24h: wholeUnits(summary?.quoteVolume24h ?? 0n, QUOTE_DECIMALS),
    openInterest: base(largerOpenInterest(market, summary)),
    fundingRate: rate(funding?.fundingRate),
    fundingRate24hAvg: wholeUnits(averageFunding(summary), PERCENT_DECIMALS),
    status: status.toLowerCase(),
    ts: summary?.ts ?? null,
    baseVolume24h: wholeUnits(summary?.baseVolume24h ?? 0n, decimals),
    trades24h: summary?.trades24h ?? 0,
    ...priceMembers(summary),
    openInterestLong: base(long),
    openInterestShort: base(short),
    fundingRateLong: rate(negated(funding?.fundingRateLong)),
    fundingRateShort: rate(funding?.fundingRateShort),
    fundingRateUpdateTs: funding?.ts ?? null,
  };
}

const negated = (value: bigint | undefined): bigint | undefined => (value === undefined ? undefined : -value);

/**
 * Newest oracle price, 1e6: each change of the oracle publishes its market anew, while fills and samples have it at their own
 * times. Theirs counts for a market without a readable oracle.
 */
export function oraclePriceOf(market: MarketView, summary: MarketSummary | null): bigint | null {
  return market.oraclePrice ?? summary?.oraclePrice ?? null;
}

/**
 * Both sides as last sampled, base units of the market, shorts zero or negative. Before the first sample only the larger side is
 * known, from the market account.
 */
export function openInterest(market: MarketView, summary: MarketSummary | null) {
  if (summary && summary.sampleSlot > 0) return summary;
  return { openInterestLong: market.openInterestBase, openInterestShort: 0n };
}

/** The larger side, base units of the market. */
export function largerOpenInterest(market: MarketView, summary: MarketSummary | null): bigint {
  const { openInterestLong, openInterestShort } = openInterest(market, summary);
  return greatest(openInterestLong, -openInterestShort);
}

/** Percent 1e9 per hour, mean of the last 24 records; 0 without any. */
export function averageFunding(summary: MarketSummary | null): bigint {
  return summary ? meanFunding(summary.fundingPercentSum1e9, BigInt(summary.fundingRecords24h)) : 0n;
}

const PERCENT_OF_CHANGE_DECIMALS = 2;

/** Change of the fill price over 24 hours: price 1e6 and percent 1e2, rounded; null without a price to compare. */
export function priceChange(
  summary: MarketSummary | null,
): { readonly change: bigint; readonly percent: bigint } | null {
  const [now, ago] = [summary?.lastFillPrice ?? null, summary?.fillPrice24hAgo ?? null];
  if (now === null || ago === null || ago === 0n) return null;
  return { change: now - ago, percent: divideRounded((now - ago) * 10_000n, ago) };
}

function priceMembers(summary: MarketSummary | null) {
  const price = (value: bigint | null | undefined) =>
    value === null || value === undefined ? null : wholeUnits(value, PRICE_DECIMALS);
  const change = priceChange(summary);
  return {
    price: price(summary?.lastFillPrice),
    price24hAgo: price(summary?.fillPrice24hAgo),
    priceChange24h: price(change?.change),
    priceChange24hPercent: change ? wholeUnits(change.percent, PERCENT_OF_CHANGE_DECIMALS) : null,
    priceHigh24h: price(summary?.fillHigh24h),
    priceLow24h: price(summary?.fillLow24h),
    oracleHigh24h: price(summary?.oracleHigh24h),
    oracleLow24h: price(summary?.oracleLow24h),
    markPrice: price(markPrice(summary)),
  };
}

/** Mean of the AMM's bid and ask, 1e6; null for a market without AMM. */
export function markPrice(summary: MarketSummary | null): bigint | null {
  if (!summary || summary.bidPrice === null || summary.askPrice === null) return null;
  return (summary.bidPrice + summary.askPrice) / 2n;
}

export class MarketSummaries {
  readonly #markets: MarketRegistry;
  readonly #byKey = new Map<string, MarketSummary>();
  #changes = 0;
  #body: { readonly changes: number; readonly list: readonly SummaryBody[]; readonly text: string } | null = null;

  constructor(markets: MarketRegistry) {
    this.#markets = markets;
  }

  /** Grows with every change of a market or its summary. */
  get changes(): number {
    return this.#changes + this.#markets.changes;
  }

  /** True once any market has a summary. */
  get isBuilt(): boolean {
    return this.#byKey.size > 0;
  }

  put(summary: MarketSummary): void {
    this.#byKey.set(marketKey(summary), summary);
    this.#changes++;
  }

  of(market: MarketRef): MarketSummary | null {
    return this.#byKey.get(marketKey(market)) ?? null;
  }

  /** The records of /stats/markets, by type and index. */
  list(): readonly SummaryBody[] {
    return this.#current().list;
  }

  /** The same as JSON text. */
  text(): string {
    return this.#current().text;
  }

  #current() {
    if (this.#body?.changes !== this.changes) {
      const list = this.#markets.list().map((market) => summaryBody(market, this.of(market)));
      this.#body = { changes: this.changes, list, text: JSON.stringify(list) };
    }
    return this.#body;
  }
}

export interface SummaryFollower {
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Applies `views.summaries` to `summaries`; resolves after the records written so far. */
export async function followSummaries(
  summaries: MarketSummaries,
  options: { readonly log: EventLog; readonly logger: Logger },
): Promise<SummaryFollower> {
  const follower = new NewestFollower({
    log: options.log,
    logger: options.logger,
    topic: TOPICS.summaryViews,
    name: 'MarketSummary',
    onMessage: (summary) => summaries.put(summary),
  });
  await follower.start();
  for (const summary of follower.values()) summaries.put(summary);
  return follower;
}
