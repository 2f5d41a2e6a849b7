// The candle chart: fills as candles, the oracle as a line, volume below. Older pages load while the reader scrolls.

import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
} from 'lightweight-charts';
import type { Palette } from '../parts/palette.ts';
import type { Candle } from './candle-data.ts';
import { chartOptions, timeOfChart } from './chart-base.ts';

/** Buckets left of the screen below which an older page is loaded. */
const PREFETCH = 30;
const VOLUME_TOP = 0.82;

export class CandleChart {
  readonly #chart: IChartApi;
  readonly #candles: ISeriesApi<'Candlestick'>;
  readonly #oracle: ISeriesApi<'Line'>;
  readonly #volume: ISeriesApi<'Histogram'>;
  #palette: Palette;
  #data: Candle[] = [];

  /** `needOlder` is called when the oldest candle comes near the screen. */
  constructor(element: HTMLElement, palette: Palette, needOlder: () => void) {
    this.#palette = palette;
    this.#chart = createChart(element, chartOptions(palette));
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#chart.priceScale('volume').applyOptions({ scaleMargins: { top: VOLUME_TOP, bottom: 0 } });
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: false });
    this.#oracle = this.#chart.addSeries(LineSeries, {
      lineWidth: 1,
      lastValueVisible: false,
      priceLineVisible: false,
      crosshairMarkerVisible: false,
    });
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range && range.from < PREFETCH && this.#data.length > 0) needOlder();
    });
    this.paint(palette);
  }

  get oldest(): number | null {
    return this.#data[0]?.ts ?? null;
  }

  get length(): number {
    return this.#data.length;
  }

  paint(palette: Palette): void {
    this.#palette = palette;
    this.#chart.applyOptions(chartOptions(palette));
    this.#candles.applyOptions({
      ...{ upColor: palette.bid, downColor: palette.ask, wickUpColor: palette.bid, wickDownColor: palette.ask },
    });
    this.#oracle.applyOptions({ color: palette.accent });
    if (this.#data.length > 0) this.set(this.#data);
  }

  set(candles: readonly Candle[]): void {
    this.#data = [...candles];
    this.#candles.setData(this.#data.map(candleOf));
    this.#oracle.setData(this.#data.filter(hasOracle).map(oracleOf));
    this.#volume.setData(this.#data.map((candle) => this.#volumeOf(candle)));
  }

  /** Puts an older page before the known candles. */
  prepend(page: readonly Candle[]): void {
    const oldest = this.oldest ?? Number.POSITIVE_INFINITY;
    this.set([...page.filter(({ ts }) => ts < oldest), ...this.#data]);
  }

  /** Changes the newest candle, or begins one. */
  update(candle: Candle): void {
    const last = this.#data.at(-1);
    if (last && candle.ts < last.ts) return;
    if (last?.ts === candle.ts) this.#data.pop();
    this.#data.push(candle);
    this.#candles.update(candleOf(candle));
    if (hasOracle(candle)) this.#oracle.update(oracleOf(candle));
    this.#volume.update(this.#volumeOf(candle));
  }

  remove(): void {
    this.#chart.remove();
  }

  #volumeOf({ ts, quoteVolume, fillOpen, fillClose }: Candle) {
    const { bidBarStrong, askBarStrong } = this.#palette;
    return { time: timeOfChart(ts), value: quoteVolume, color: fillClose < fillOpen ? askBarStrong : bidBarStrong };
  }
}

const candleOf = ({ ts, fillOpen, fillHigh, fillLow, fillClose }: Candle) => ({
  ...{ time: timeOfChart(ts), open: fillOpen, high: fillHigh, low: fillLow, close: fillClose },
});
const oracleOf = ({ ts, oracleClose }: Candle) => ({ time: timeOfChart(ts), value: oracleClose });
const hasOracle = ({ oracleClose }: Candle) => oracleClose > 0;
