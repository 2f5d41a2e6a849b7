// The candles of a chart: whichever load answers last, the chart shows those of the newest state of the page.

import type { Signal } from '@preact/signals';
import { afterEach, expect, it, vi } from 'vitest';
import { historyFeed, isHistoryOpen } from '../state/history-feed.ts';
import { travelSlot, travelTs } from '../travel/travel.ts';
import { type Candle, candlePage } from './candle-data.ts';
import { candlesAt } from './candles-at.ts';
import { followCandles } from './follow-candles.ts';

vi.mock('../state/history-feed.ts', async () => {
  const { signal } = await import('@preact/signals');
  return { isHistoryOpen: signal(false), historyFeed: { candles: vi.fn() } };
});
vi.mock('../travel/travel.ts', async () => {
  const { computed, signal } = await import('@preact/signals');
  const travelSlot = signal<number | null>(null);
  const isTravelling = computed(() => travelSlot.value !== null);
  return { travelSlot, isTravelling, travelTs: signal(null), travelOracle: signal(null) };
});
vi.mock('../state/markets.ts', () => ({ parametersOf: () => ({ baseDecimals: 9 }) }));
vi.mock('./candle-data.ts', () => ({ candlePage: vi.fn() }));
vi.mock('./candles-at.ts', () => ({ candlesAt: vi.fn() }));

const candle = (ts: number): Candle => ({
  ...{ ts, fillOpen: 1, fillHigh: 1, fillLow: 1, fillClose: 1, quoteVolume: 1, baseVolume: 1 },
  ...{ oracleOpen: 1, oracleHigh: 1, oracleLow: 1, oracleClose: 1 },
});

/** An answer that comes when the test says so. */
function answer() {
  let resolve = (_page: readonly Candle[]): void => {};
  let reject = (_reason: unknown): void => {};
  const promise = new Promise<readonly Candle[]>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve: (page: readonly Candle[]) => resolve(page), reject: (reason: unknown) => reject(reason) };
}

/** State of the chart: the last bucket of each page, and each failure. */
const displayed: unknown[] = [];
const view = {
  take: (page: readonly Candle[]) => displayed.push(page.at(-1)?.ts),
  update: () => {},
  fail: (reason: unknown) => displayed.push(reason),
};
let followers = 0;

function start(): () => void {
  vi.mocked(historyFeed?.candles ?? vi.fn()).mockImplementation(() => {
    followers += 1;
    return () => {
      followers -= 1;
    };
  });
  return followCandles('SOL-PERP', '1', view);
}

function travelTo(slot: number | null): void {
  (travelTs as Signal<number | null>).value = slot;
  (travelSlot as Signal<number | null>).value = slot;
}

afterEach(() => {
  travelTo(null);
  displayed.splice(0);
});

it('are the live ones after time travel has ended, though its load answers later', async () => {
  const [earlier, live] = [answer(), answer()];
  vi.mocked(candlesAt).mockReturnValueOnce(earlier.promise);
  vi.mocked(candlePage).mockReturnValueOnce(live.promise);
  travelTo(5);
  const stop = start();
  await vi.waitFor(() => expect(candlesAt).toHaveBeenCalled());
  travelTo(null);
  live.resolve([candle(60)]);
  await vi.waitFor(() => expect(displayed).toEqual([60]));
  earlier.resolve([candle(5)]);
  await new Promise(setImmediate);
  expect([displayed, followers]).toEqual([[60], 1]);
  stop();
  expect(followers).toBe(0);
});

it('are followed once after several connections, and a load of an earlier one may fail', async () => {
  const loads = [60, 120, 180].map(answer);
  for (const { promise } of loads) vi.mocked(candlePage).mockReturnValueOnce(promise);
  const stop = start();
  for (const isOpen of [true, false]) isHistoryOpen.value = isOpen;
  loads[2]?.resolve([candle(180)]);
  await vi.waitFor(() => expect(displayed).toEqual([180]));
  loads[0]?.resolve([candle(60)]);
  loads[1]?.reject(new Error('no answer'));
  await new Promise(setImmediate);
  expect([displayed, followers]).toEqual([[180], 1]);
  stop();
});
