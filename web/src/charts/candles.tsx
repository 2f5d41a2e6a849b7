// The candle view: resolution choice, chart, funding strip.

import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { palette } from '../parts/palette.ts';
import { wordsOf } from '../services.ts';
import { stored } from '../state/stored.ts';
import { Attribution } from './attribution.tsx';
import { CandleChart } from './candle-chart.ts';
import { candlePage, RESOLUTION_LABELS, RESOLUTIONS, type Resolution } from './candle-data.ts';
import { followCandles } from './follow-candles.ts';
import { FundingStrip } from './funding-strip.tsx';

const resolution = stored<Resolution>('resolution', '1');

export function Candles({ market }: { readonly market: string }) {
  const element = useRef<HTMLDivElement>(null);
  const error = useSignal<string | null>(null);
  const length = useSignal(0);
  const chosen = resolution.value;
  useEffect(() => {
    if (!element.current) return;
    const abort = new AbortController();
    let isLoading = true;
    let hasOlder = true;
    const fail = (reason: unknown) => {
      if (!abort.signal.aborted) error.value = wordsOf(reason);
    };
    const loadOlder = () => {
      const oldest = chart.oldest;
      if (isLoading || !hasOlder || oldest === null) return;
      isLoading = true;
      candlePage(market, chosen, oldest, abort.signal)
        .then((page) => {
          // The chart may have other candles by then.
          if (chart.oldest !== oldest) return;
          const before = chart.length;
          chart.prepend(page);
          hasOlder = chart.length > before;
          length.value = chart.length;
        }, fail)
        .finally(() => {
          isLoading = false;
        });
    };
    const chart = new CandleChart(element.current, palette.peek(), loadOlder);
    const stopPainting = effect(() => chart.paint(palette.value));
    const stopFollowing = followCandles(market, chosen, {
      take: (page) => {
        chart.set(page);
        isLoading = false;
        length.value = chart.length;
        error.value = null;
      },
      update: (candle) => chart.update(candle),
      fail,
    });
    return () => {
      abort.abort();
      stopPainting();
      stopFollowing();
      chart.remove();
    };
  }, [market, chosen]);
  return (
    <div class="candles" data-testid="candles" data-candles={length.value}>
      <div class="chart-bar">
        <fieldset class="choices">
          <legend class="hidden">Length of a candle</legend>
          {RESOLUTIONS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === chosen}
              onClick={() => {
                resolution.value = name;
              }}
            >
              {RESOLUTION_LABELS[name]}
            </button>
          ))}
        </fieldset>
        <span class="legend">
          <span class="swatch fill" /> fills <span class="swatch oracle" /> oracle
        </span>
      </div>
      {error.value === null ? null : <p class="problem">{error.value}</p>}
      <div class="chart" ref={element} role="img" aria-label={`Candles of ${market}, ${RESOLUTION_LABELS[chosen]}`} />
      <FundingStrip market={market} />
      <Attribution />
    </div>
  );
}
