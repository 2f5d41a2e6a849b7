// Shared by all time charts: the library's options in the page's colours and the reader's formats.

import { type ChartOptions, ColorType, CrosshairMode, type DeepPartial, type UTCTimestamp } from 'lightweight-charts';
import { dateTimeOf, price } from '../format.ts';
import type { Palette } from '../parts/palette.ts';

export function chartOptions(palette: Palette): DeepPartial<ChartOptions> {
  return {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: palette.panel },
      textColor: palette.muted,
      fontFamily: 'system-ui, sans-serif',
      fontSize: 11,
      // Its style element would need an exception in the content security policy; `Attribution` says the same.
      attributionLogo: false,
      panes: { separatorColor: palette.line, enableResize: false },
    },
    grid: { vertLines: { color: palette.line }, horzLines: { color: palette.line } },
    crosshair: { mode: CrosshairMode.Normal },
    rightPriceScale: { borderColor: palette.line },
    timeScale: { borderColor: palette.line, timeVisible: true, secondsVisible: false, rightOffset: 4 },
    localization: {
      locale: navigator.language,
      priceFormatter: (value: number) => price(value),
      timeFormatter: (time: unknown) => dateTimeOf(Number(time)),
    },
  };
}

/** Unix seconds as the library's type. */
export function timeOfChart(ts: number): UTCTimestamp {
  return ts as UTCTimestamp;
}
