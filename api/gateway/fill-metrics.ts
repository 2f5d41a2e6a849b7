// Compares fills with the indicative quotes in force. Metric names are those of the predecessor's dashboards; the help text of
// each metric defines it. docs/internals/order-book-server.md, "Predecessor names".

import { Counter, Gauge, type Registry } from 'prom-client';
import type { IndicativeView } from '../../processors/book/index.ts';
import {
  BASE_DECIMALS,
  fillPriceFloor,
  type MarketRef,
  type MarketView,
  marketKey,
  QUOTE_DECIMALS,
  type TradeView,
} from '../../schemas/index.ts';
import { wholeUnits } from '../http/units.ts';
import type { ServedBook } from '../views/bodies.ts';
import type { BookReader } from '../views/book-reader.ts';

const MARKET_LABELS = ['marketIndex', 'marketType'] as const;
const SIDES = ['bids', 'asks'] as const;

type Side = (typeof SIDES)[number];
type Levels = ReturnType<IndicativeView['l2']>['bids'];

export interface FillMetricsOptions {
  readonly registry: Registry;
  readonly reader: Pick<BookReader, 'bookByKey' | 'indicative' | 'markets'>;
}

/** Best price and sizes of the indicative quotes on one side. */
interface Quoted {
  readonly best: number;
  readonly size: bigint;
  /** The part of `size` at the best price of the whole side. */
  readonly competitive: bigint;
}

export class FillMetrics {
  readonly #reader: FillMetricsOptions['reader'];
  readonly #fills: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #presence: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #opportunities: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #opportunityNotional: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #captured: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #capturedNotional: Counter<(typeof MARKET_LABELS)[number]>;
  readonly #outcomes: Counter<'marketIndex' | 'marketType' | 'bucket' | 'direction'>;

  constructor({ registry, reader }: FillMetricsOptions) {
    this.#reader = reader;
    const counter = (name: string, help: string) =>
      new Counter({ name, help, labelNames: MARKET_LABELS, registers: [registry] });
    this.#fills = counter('market_fill_count_total', 'Fills seen');
    this.#presence = counter(
      'indicative_presence_total',
      'Fills while the side that the taker met had indicative quotes',
    );
    this.#opportunities = counter(
      'indicative_competitive_opportunity_total',
      'Of these, fills at a price that the best indicative quote matched or beat',
    );
    this.#opportunityNotional = counter(
      'indicative_competitive_opportunity_notional_total',
      'Quote amount of these fills, whole units',
    );
    this.#captured = counter('indicative_competitive_fill_total', 'Of these, fills that an indicative quoter made');
    this.#capturedNotional = counter(
      'indicative_competitive_captured_notional_total',
      'Quote amount of these fills, whole units',
    );
    this.#outcomes = new Counter({
      name: 'indicative_fill_vs_quote_outcome_total',
      help:
        'Fills that an indicative quoter made, by the price for the taker compared with the best indicative quote (better, ' +
        'equal, worse, noQuote) and by the direction of the taker',
      labelNames: ['marketIndex', 'marketType', 'bucket', 'direction'],
      registers: [registry],
    });
    this.#sizeOnBook(registry, 'indicative_total_size_on_book', 'Size of indicative quotes, whole base units', 'size');
    this.#sizeOnBook(
      registry,
      'indicative_competitive_size_on_book',
      'Size of indicative quotes at the best price of their side, whole base units',
      'competitive',
    );
  }

  /** Counts a fill. `quoter`: key of the indicative quoter that made it; null when its maker is not one. */
  take(trade: TradeView, quoter: string | null): void {
    const labels = labelsOf(trade);
    this.#fills.inc(labels);
    const direction = takerDirection(trade);
    if (direction === null || trade.baseAssetAmountFilled === 0n) return;
    const quoted = this.#quoted(marketKey(trade), direction === 'long' ? 'asks' : 'bids');
    const price = fillPriceFloor(trade.quoteAssetAmountFilled, trade.baseAssetAmountFilled);
    const gain = quoted === null ? null : advantage(direction, price, BigInt(quoted.best));
    if (quoter !== null) this.#outcomes.inc({ ...labels, bucket: bucketOf(gain), direction });
    if (gain === null) return;
    this.#presence.inc(labels);
    if (gain > 0n) return;
    const notional = wholeUnits(trade.quoteAssetAmountFilled, QUOTE_DECIMALS);
    this.#opportunities.inc(labels);
    this.#opportunityNotional.inc(labels, notional);
    if (quoter === null) return;
    this.#captured.inc(labels);
    this.#capturedNotional.inc(labels, notional);
  }

  #sizeOnBook(registry: Registry, name: string, help: string, member: 'size' | 'competitive'): void {
    const listed = (): readonly MarketView[] => this.#reader.markets.list();
    const quoted = (key: string, side: Side): Quoted | null => this.#quoted(key, side);
    new Gauge({
      name,
      help,
      labelNames: [...MARKET_LABELS, 'side'],
      registers: [registry],
      collect() {
        this.reset();
        for (const market of listed()) {
          for (const side of SIDES) {
            const found = quoted(marketKey(market), side);
            if (found) this.set({ ...labelsOf(market), side }, wholeUnits(found[member], BASE_DECIMALS));
          }
        }
      },
    });
  }

  #quoted(key: string, side: Side): Quoted | null {
    const book = this.#reader.bookByKey(key);
    const served: ServedBook | null = book && this.#reader.indicative.over(key, book);
    return served && served !== book ? quotedOf(served.view.l2()[side]) : null;
  }
}

function quotedOf(levels: Levels): Quoted | null {
  const own = levels.filter(({ indicative = 0n }) => indicative > 0n);
  const [first] = own;
  if (!first) return null;
  const size = own.reduce((sum, { indicative = 0n }) => sum + indicative, 0n);
  return { best: first.price, size, competitive: levels[0] === first ? (first.indicative ?? 0n) : 0n };
}

function labelsOf({ marketIndex, marketType }: MarketRef): { marketIndex: number; marketType: string } {
  return { marketIndex, marketType };
}

function takerDirection({ takerOrderDirection, makerOrderDirection }: TradeView): 'long' | 'short' | null {
  if (takerOrderDirection !== null) return takerOrderDirection;
  if (makerOrderDirection === null) return null;
  return makerOrderDirection === 'long' ? 'short' : 'long';
}

/** By how much the fill price is better for the taker than a quote; 1e6, negative when worse. */
function advantage(direction: 'long' | 'short', price: bigint, quote: bigint): bigint {
  return direction === 'long' ? quote - price : price - quote;
}

function bucketOf(gain: bigint | null): 'better' | 'equal' | 'worse' | 'noQuote' {
  if (gain === null) return 'noQuote';
  if (gain === 0n) return 'equal';
  return gain > 0n ? 'better' : 'worse';
}
