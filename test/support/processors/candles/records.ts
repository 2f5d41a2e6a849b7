// Records of a market with the few numbers that candles depend on.

import { type CandleFilter, NO_FILTER } from '../../../../processors/candles/candle-filter.ts';
import { CandleError } from '../../../../processors/candles/fill.ts';
import { Candles } from '../../../../processors/candles/reducer.ts';
import {
  type CandleView,
  encodeEvent,
  encodeMessage,
  type MarketSample,
  type MarketSummary,
} from '../../../../schemas/index.ts';
import { fillEvent } from '../history/events.ts';
import type { NaiveCandle, NaiveFill, NaiveSample } from './naive.ts';

export type TestRecord = { readonly fill: NaiveFill } | { readonly sample: NaiveSample };

export function fillBytes({ ts, slot, id, base, quote, oracle, explanation }: NaiveFill, marketIndex = 0): Buffer {
  const event = fillEvent(id);
  return encodeEvent({
    ...event,
    slot,
    data: {
      ...event.data,
      ts: BigInt(ts),
      market_type: 'perp',
      market_index: marketIndex,
      action_explanation: explanation,
      fill_record_id: BigInt(id),
      base_asset_amount_filled: base,
      quote_asset_amount_filled: quote,
      oracle_price: oracle,
    },
  });
}

export function sampleOf({ ts, slot, price, high, low }: NaiveSample, marketIndex = 0): MarketSample {
  return {
    marketType: 'perp',
    marketIndex,
    slot,
    ts,
    oraclePrice: price,
    oracleHigh: high,
    oracleLow: low,
    bidPrice: price - 1n,
    askPrice: price + 1n,
    longSpread: 1,
    shortSpread: 1,
    baseAssetAmountWithAmm: 5n,
    openInterestLong: 7n,
    openInterestShort: -2n,
  };
}

function applyRecord(candles: Candles, record: TestRecord): void {
  if ('fill' in record) candles.applyEvent(fillBytes(record.fill));
  else candles.applySample(encodeMessage('MarketSample', sampleOf(record.sample)));
}

/** A reducer with its published views and its saved state, as the log keeps them. */
export class Run {
  readonly views = new Map<string, CandleView>();
  readonly summaries = new Map<number, MarketSummary>();
  readonly parked: CandleError[] = [];
  #candles: Candles;
  readonly #state = new Map<string, Uint8Array>();
  readonly #filter: CandleFilter;

  constructor(filter: CandleFilter = NO_FILTER) {
    this.#filter = filter;
    this.#candles = new Candles(filter);
  }

  /** Applies a batch, and stores its views and state like a commit. */
  batch(records: readonly TestRecord[]): CandleView[] {
    for (const record of records) {
      try {
        applyRecord(this.#candles, record);
      } catch (error) {
        if (!(error instanceof CandleError)) throw error;
        this.parked.push(error);
      }
    }
    const candles = [...this.#candles.takeCandles()];
    for (const candle of candles) this.views.set(`${candle.resolution}|${candle.ts}`, candle);
    for (const summary of this.#candles.takeSummaries()) this.summaries.set(summary.marketIndex, summary);
    for (const { name, bytes } of this.#candles.takeChanges()) {
      if (bytes === null) this.#state.delete(name);
      else this.#state.set(name, bytes);
    }
    return candles;
  }

  /** Restarts as after SIGKILL, from stored state alone. */
  restart(): void {
    this.#candles = new Candles(this.#filter);
    this.#candles.restore([...this.#state].map(([name, bytes]) => ({ name, bytes })));
  }

  /** Candles of one resolution, oldest first, without members that depend on arrival. */
  candlesOf(resolution: string): NaiveCandle[] {
    return [...this.views.values()]
      .filter((candle) => candle.resolution === resolution)
      .sort((left, right) => left.ts - right.ts)
      .map(({ marketType: _type, marketIndex: _index, slot: _slot, version: _version, ...rest }) => rest);
  }
}
