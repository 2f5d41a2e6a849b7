// Records of a market with the few numbers that candles depend on.

import { type CandleFilter, NO_FILTER } from '../../../../processors/candles/candle-filter.ts';
import { CandleError } from '../../../../processors/candles/fill.ts';
import { type Reread, recount } from '../../../../processors/candles/recount.ts';
import { Candles } from '../../../../processors/candles/reducer.ts';
import {
  type CandleView,
  encodeEvent,
  encodeMessage,
  type MarketSample,
  type MarketSummary,
  type WithdrawnCandle,
} from '../../../../schemas/index.ts';
import { fillEvent, signatureOf } from '../history/events.ts';
import type { NaiveCandle, NaiveFill, NaiveSample } from './naive.ts';

export type TestRecord = { readonly fill: NaiveFill } | { readonly sample: NaiveSample };

export function fillBytes(fill: NaiveFill, marketIndex = 0): Buffer {
  const { ts, slot, id, base, quote, oracle, explanation, transaction = id } = fill;
  const event = fillEvent(id);
  return encodeEvent({
    ...event,
    signature: signatureOf(transaction),
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
  readonly views = new Map<string, CandleView | WithdrawnCandle>();
  readonly summaries = new Map<number, MarketSummary>();
  readonly parked: CandleError[] = [];
  #candles: Candles;
  readonly #state = new Map<string, Uint8Array>();
  readonly #log: TestRecord[] = [];
  readonly #filter: CandleFilter;

  constructor(filter: CandleFilter = NO_FILTER) {
    this.#filter = filter;
    this.#candles = new Candles(filter);
  }

  /** Applies a batch, and stores its views and state like a commit. */
  batch(records: readonly TestRecord[]): CandleView[] {
    this.#log.push(...records);
    for (const record of records) {
      try {
        applyRecord(this.#candles, record);
      } catch (error) {
        if (!(error instanceof CandleError)) throw error;
        this.parked.push(error);
      }
    }
    return this.#commit();
  }

  /**
   * Applies a retraction of one transaction. `isKilled`: the process dies before the commit. False when the records so far do
   * not prove the rows.
   */
  async retract(slot: number, transaction: number, isKilled = false): Promise<boolean> {
    const retraction = { slot, signatures: [signatureOf(transaction)] };
    const recounts = await recount(retraction, this.#candles, this.#reread());
    const isProven = this.#candles.withdraw(retraction, recounts);
    if (isKilled) this.restart();
    else this.#commit();
    return isProven;
  }

  /** The log loses a record. */
  forget(number: number): void {
    this.#log.splice(number, 1);
  }

  #reread(): Reread {
    const [candles, log] = [this.#candles, this.#log];
    return {
      async *fills() {
        for (const record of log) {
          const placed = 'fill' in record ? candles.fillIn(fillBytes(record.fill)) : null;
          if (placed !== null) yield placed;
        }
      },
      async *samples() {
        for (const record of log) if ('sample' in record) yield sampleOf(record.sample);
      },
    };
  }

  #commit(): CandleView[] {
    const candles = [...this.#candles.takeCandles()];
    for (const candle of candles) this.views.set(`${candle.resolution}|${candle.ts}`, candle);
    for (const summary of this.#candles.takeSummaries()) this.summaries.set(summary.marketIndex, summary);
    for (const { name, bytes } of this.#candles.takeChanges()) {
      if (bytes === null) this.#state.delete(name);
      else this.#state.set(name, bytes);
    }
    return candles.filter(isKept);
  }

  /** Restarts as after SIGKILL, from stored state alone. */
  restart(): void {
    this.#candles = new Candles(this.#filter);
    this.#candles.restore([...this.#state].map(([name, bytes]) => ({ name, bytes })));
  }

  /** Candles of one resolution, oldest first, without members that depend on arrival. */
  candlesOf(resolution: string): NaiveCandle[] {
    return [...this.views.values()]
      .filter(isKept)
      .filter((candle) => candle.resolution === resolution)
      .sort((left, right) => left.ts - right.ts)
      .map(({ marketType: _type, marketIndex: _index, slot: _slot, version: _version, ...rest }) => rest);
  }
}

function isKept(candle: CandleView | WithdrawnCandle): candle is CandleView {
  return candle.fillClose !== null;
}
