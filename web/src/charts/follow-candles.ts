// The candles of a chart: live ones, or those of an earlier slot. An earlier load never replaces the newest one.

import { effect } from '@preact/signals';
import { historyFeed, isHistoryOpen } from '../state/history-feed.ts';
import { parametersOf } from '../state/markets.ts';
import { isTravelling, travelOracle, travelSlot, travelTs } from '../travel/travel.ts';
import { type Candle, candlePage, type Resolution } from './candle-data.ts';

export interface CandleView {
  /** Replaces all candles. */
  take(page: readonly Candle[]): void;
  update(candle: Candle): void;
  fail(reason: unknown): void;
}

/** Shows the candles of a market until the returned function is called. */
export function followCandles(market: string, resolution: Resolution, view: CandleView): () => void {
  return effect(() => {
    const abort = new AbortController();
    let stopFollowing = () => {};
    pageOf(market, resolution, abort.signal)?.then(
      (page) => {
        if (abort.signal.aborted) return;
        view.take(page);
        if (!isTravelling.peek())
          stopFollowing = historyFeed?.candles(market, resolution, view.update) ?? stopFollowing;
      },
      (reason) => {
        if (!abort.signal.aborted) view.fail(reason);
      },
    );
    return () => {
      abort.abort();
      stopFollowing();
    };
  });
}

/** Null while the moment of an earlier slot is unknown. */
function pageOf(market: string, resolution: Resolution, signal: AbortSignal): Promise<readonly Candle[]> | null {
  if (!isTravelling.value) {
    // Each new connection may have missed candles.
    void isHistoryOpen.value;
    return candlePage(market, resolution, undefined, signal);
  }
  const [slot, ts, oracle] = [travelSlot.value, travelTs.value, travelOracle.value];
  if (slot === null || ts === null) return null;
  const { baseDecimals } = parametersOf(market);
  return import('./candles-at.ts').then(({ candlesAt }) =>
    candlesAt(market, resolution, { slot, ts, oracle, baseDecimals }, signal),
  );
}
