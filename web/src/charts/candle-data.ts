// Candles of a market as pages of the history.

import type { HistoryCandle, HistoryParams } from '../../../client/index.ts';
import { history } from '../services.ts';

export const RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const;
export type Resolution = HistoryParams<'/market/{symbol}/candles/{resolution}'>['resolution'];

export const RESOLUTION_LABELS: Readonly<Record<Resolution, string>> = {
  ...{ 1: '1m', 5: '5m', 15: '15m', 60: '1h', 240: '4h' },
  ...{ D: '1D', W: '1W', M: '1M' },
};

/** Whole units; `ts` is the start of the bucket, Unix seconds. */
export type Candle = Omit<HistoryCandle, 'symbol' | 'resolution'>;

const PAGE = 300;

/** One page, oldest first. `newest` is the newest bucket's start; without it the page ends now. */
export async function candlePage(
  symbol: string,
  resolution: Resolution,
  newest: number | undefined,
  signal: AbortSignal,
): Promise<readonly Candle[]> {
  const interval = newest === undefined ? {} : { startTs: newest, endTs: 0 };
  const params = { symbol, resolution, limit: PAGE, ...interval };
  return (await history.get('/market/{symbol}/candles/{resolution}', params, { signal })).records.toReversed();
}
