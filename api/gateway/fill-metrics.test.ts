import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Level } from '../../processors/book/index.ts';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { trade } from '../../test/support/api/stage.ts';
import type { BookReader } from '../views/book-reader.ts';
import { MarketRegistry } from '../views/registry.ts';
import { FillMetrics } from './fill-metrics.ts';

const BASE = 1_000_000_000n;
const level = (price: number, dlob: bigint, indicative?: bigint): Level =>
  indicative === undefined ? { price, dlob, vamm: 0n } : { price, dlob, vamm: 0n, indicative };
/** Indicative asks at 150.2 behind a firm one at 150.1; an indicative bid at the firm best bid of 150. */
const QUOTED = {
  asks: [level(150_100_000, BASE), level(150_200_000, 0n, 2n * BASE), level(150_300_000, BASE, BASE)],
  bids: [level(150_000_000, BASE, 5n * BASE)],
};

let metrics: FillMetrics;
let registry: Registry;
let levels: { asks: Level[]; bids: Level[] } | null;

beforeEach(() => {
  registry = new Registry();
  levels = QUOTED;
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  const book = {};
  const reader = {
    markets,
    bookByKey: (key: string) => (key === 'perp-0' ? book : null),
    indicative: { over: () => (levels ? { view: { l2: () => levels } } : book) },
  };
  metrics = new FillMetrics({ registry, reader: reader as unknown as BookReader });
});

/** A taker buys one base unit at a price. */
const bought = (price: bigint) => trade(1n, { baseAssetAmountFilled: BASE, quoteAssetAmountFilled: price });

async function values(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const line of (await registry.metrics()).split('\n')) {
    const [, name, labels, value] = /^(\w+)\{(.*)\} (.*)$/.exec(line) ?? [];
    if (!name) continue;
    const rest = (labels ?? '').replace(/marketIndex="0",marketType="perp",?/, '').replaceAll('"', '');
    found[rest ? `${name} ${rest}` : name] = Number(value);
  }
  return found;
}

describe('metrics of fills beside indicative quotes', () => {
  it('count a fill without quotes only as a fill', async () => {
    levels = null;
    metrics.take(bought(150_100_000n), null);
    metrics.take(bought(150_100_000n), 'quoter');
    expect(await values()).toEqual({
      market_fill_count_total: 2,
      'indicative_fill_vs_quote_outcome_total bucket=noQuote,direction=long': 1,
    });
  });

  it('count a fill at a better price than any quote as presence only', async () => {
    metrics.take(bought(150_100_000n), null);
    const counted = await values();
    expect(counted.indicative_presence_total).toBe(1);
    expect(counted.indicative_competitive_opportunity_total).toBeUndefined();
  });

  it('count a fill that a quote matched or beat as an opportunity, captured when a quoter made it', async () => {
    metrics.take(bought(150_200_000n), null);
    metrics.take(bought(151_000_000n), 'quoter');
    expect(await values()).toMatchObject({
      indicative_presence_total: 2,
      indicative_competitive_opportunity_total: 2,
      indicative_competitive_opportunity_notional_total: 301.2,
      indicative_competitive_fill_total: 1,
      indicative_competitive_captured_notional_total: 151,
      'indicative_fill_vs_quote_outcome_total bucket=worse,direction=long': 1,
    });
  });

  it('compare with bids for a selling taker, also when only the direction of the maker is known', async () => {
    const sold = { ...bought(150_000_000n), takerOrderDirection: null, makerOrderDirection: 'long' } as const;
    metrics.take(sold, 'quoter');
    metrics.take({ ...sold, makerOrderDirection: null }, 'quoter');
    expect(await values()).toMatchObject({
      market_fill_count_total: 2,
      indicative_competitive_fill_total: 1,
      'indicative_fill_vs_quote_outcome_total bucket=equal,direction=short': 1,
    });
  });

  it('report the current sizes on the book, without lapsed quotes', async () => {
    expect(await values()).toEqual({
      'indicative_total_size_on_book side=bids': 5,
      'indicative_total_size_on_book side=asks': 3,
      'indicative_competitive_size_on_book side=bids': 5,
      'indicative_competitive_size_on_book side=asks': 0,
    });
    levels = null;
    expect(await values()).toEqual({});
  });
});
