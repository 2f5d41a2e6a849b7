// Records of a market made from the few numbers that candles depend on, as the log carries them.

import {
  type CandleView,
  encodeEvent,
  encodeMessage,
  type MarketSample,
  type MarketSummary,
} from '../../../schemas/index.ts';
import { fillEvent } from '../../history/testing/events.ts';
import { CandleError } from '../fill.ts';
import { NO_NOISE, type NoiseRules } from '../noise.ts';
import { Candles } from '../reducer.ts';
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

/** A reducer with what it told and saved, as the log would keep them. */
export class Run {
  readonly views = new Map<string, CandleView>();
  readonly summaries = new Map<number, MarketSummary>();
  readonly parked: CandleError[] = [];
  private candles: Candles;
  private readonly state = new Map<string, Uint8Array>();
  private readonly noise: NoiseRules;

  constructor(noise: NoiseRules = NO_NOISE) {
    this.noise = noise;
    this.candles = new Candles(noise);
  }

  /** Applies a batch and leaves behind what a commit would. */
  batch(records: readonly TestRecord[]): CandleView[] {
    for (const record of records) {
      try {
        applyRecord(this.candles, record);
      } catch (error) {
        if (!(error instanceof CandleError)) throw error;
        this.parked.push(error);
      }
    }
    const told = [...this.candles.takeCandles()];
    for (const candle of told) this.views.set(`${candle.resolution}|${candle.ts}`, candle);
    for (const summary of this.candles.takeSummaries()) this.summaries.set(summary.marketIndex, summary);
    for (const { name, bytes } of this.candles.takeChanges()) {
      if (bytes === null) this.state.delete(name);
      else this.state.set(name, bytes);
    }
    return told;
  }

  /** As after SIGKILL: only what was left behind is there. */
  restart(): void {
    this.candles = new Candles(this.noise);
    this.candles.restore([...this.state].map(([name, bytes]) => ({ name, bytes })));
  }

  /** Candles of one resolution, oldest first, without what depends on arrival. */
  candlesOf(resolution: string): NaiveCandle[] {
    return [...this.views.values()]
      .filter((candle) => candle.resolution === resolution)
      .sort((left, right) => left.ts - right.ts)
      .map(({ marketType: _type, marketIndex: _index, slot: _slot, version: _version, ...rest }) => rest);
  }
}
