// Open interest, funding and volume of a market over time, in one chart of three panes.

import { useSignal } from '@preact/signals';
import {
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef } from 'preact/hooks';
import { type Palette, palette } from '../parts/palette.ts';
import { history, wordsOf } from '../services.ts';
import { now } from '../state/clock.ts';
import { marketOf } from '../state/markets.ts';
import { travelTs } from '../travel/travel.ts';
import { Attribution } from './attribution.tsx';
import type { Candle, Resolution } from './candle-data.ts';
import { chartOptions, timeOfChart } from './chart-base.ts';
import { type FundingRecord, fundingPercent } from './funding-strip.tsx';

type Span = 'hour' | 'day' | 'month';
const SPANS: Readonly<
  Record<Span, { readonly seconds: number; readonly resolution: Resolution; readonly label: string }>
> = {
  hour: { seconds: 3600, resolution: '1', label: '1 hour' },
  day: { seconds: 86_400, resolution: '15', label: '1 day' },
  month: { seconds: 31 * 86_400, resolution: '240', label: '31 days' },
};
const REFRESH_MS = 30_000;
const FUNDING_PAGE = 50;
const POINTS = 500;
const BASE_UNITS = 1e9;

interface Series {
  readonly interest: readonly (readonly [number, string])[];
  readonly funding: readonly FundingRecord[];
  readonly volume: readonly Candle[];
}

async function load(market: string, span: Span, end: number, signal: AbortSignal): Promise<Series> {
  const { seconds, resolution } = SPANS[span];
  const start = end - seconds;
  const [interest, funding, volume] = await Promise.all([
    history.get('/amm/openInterest', { marketName: market, start, end, samples: POINTS }, { signal }),
    history.get(
      '/market/{symbol}/fundingRates',
      { symbol: market, limit: FUNDING_PAGE, startTs: start, endTs: end },
      { signal },
    ),
    history.get(
      '/market/{symbol}/candles/{resolution}/bulk',
      { symbol: market, resolution, from: start, to: end },
      { signal },
    ),
  ]);
  return {
    interest: interest.data as Series['interest'],
    funding: funding.records.toReversed(),
    volume: volume.records,
  };
}

/** The series of the chart. The library cannot lay out a pane whose series has no data, so a series waits for its first. */
function paneLines(chart: IChartApi, colours: Palette): { show(series: Series): void } {
  const percent = { type: 'custom' as const, formatter: (value: number) => `${value.toFixed(4)} %` };
  const volumeFormat = { type: 'volume' as const };
  const make = {
    interest: (pane: number) =>
      chart.addSeries(LineSeries, { color: colours.accent, lineWidth: 2, title: 'Open interest' }, pane),
    funding: (pane: number) => chart.addSeries(HistogramSeries, { priceFormat: percent, title: 'Funding / 1 h' }, pane),
    volume: (pane: number) =>
      chart.addSeries(HistogramSeries, { priceFormat: volumeFormat, color: colours.muted, title: 'Volume' }, pane),
  };
  const made = new Map<string, ISeriesApi<'Line'> | ISeriesApi<'Histogram'>>();
  const put = (name: keyof typeof make, data: readonly { time: UTCTimestamp; value: number; color?: string }[]) => {
    if (data.length === 0) return;
    const line = made.get(name) ?? make[name](made.size);
    made.set(name, line);
    line.setData([...data]);
  };
  return {
    show: ({ interest, funding, volume }) => {
      put(
        'interest',
        interest.map(([ts, value]) => ({ time: timeOfChart(ts), value: Number(value) / BASE_UNITS })),
      );
      put(
        'funding',
        funding.map((record) => ({
          ...{ time: timeOfChart(record.ts), value: fundingPercent(record) },
          color: fundingPercent(record) < 0 ? colours.ask : colours.bid,
        })),
      );
      put(
        'volume',
        volume.map(({ ts, quoteVolume }) => ({ time: timeOfChart(ts), value: quoteVolume })),
      );
    },
  };
}

export function OverTime({ market }: { readonly market: string }) {
  const element = useRef<HTMLDivElement>(null);
  const span = useSignal<Span>('day');
  const error = useSignal<string | null>(null);
  const chosen = span.value;
  const isPerp = marketOf(market)?.marketType === 'perp';
  const endTs = travelTs.value;
  const colours = palette.value;
  useEffect(() => {
    if (!element.current || !isPerp) return;
    const chart = createChart(element.current, chartOptions(colours));
    const lines = paneLines(chart, colours);
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      try {
        const end = endTs ?? Math.floor(now.peek() / 1000);
        const series = await load(market, chosen, end, abort.signal);
        lines.show(series);
        chart.timeScale().fitContent();
        error.value = null;
      } catch (reason) {
        if (!abort.signal.aborted) error.value = wordsOf(reason);
      }
      if (!abort.signal.aborted && endTs === null) timer = setTimeout(refresh, REFRESH_MS);
    };
    void refresh();
    return () => {
      abort.abort();
      clearTimeout(timer);
      chart.remove();
    };
  }, [market, chosen, isPerp, endTs, colours]);
  if (!isPerp) return <p class="note">Open interest and funding belong to perp markets.</p>;
  return (
    <div class="over-time">
      <fieldset class="choices">
        <legend class="hidden">Time span</legend>
        {(Object.keys(SPANS) as Span[]).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen}
            onClick={() => {
              span.value = name;
            }}
          >
            {SPANS[name].label}
          </button>
        ))}
      </fieldset>
      {error.value === null ? null : <p class="problem">{error.value}</p>}
      <div class="chart" ref={element} role="img" aria-label={`Open interest, funding and volume of ${market}`} />
      <Attribution />
    </div>
  );
}
