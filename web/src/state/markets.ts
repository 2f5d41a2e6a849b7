// Market summaries and parameters: a socket of the history service keeps the summaries new.

import { computed, signal } from '@preact/signals';
import type { HistoryAnswer, MarketSummary } from '../../../client/index.ts';
import { history, wordsOf } from '../services.ts';
import { historyFeed } from './history-feed.ts';

type Parameters = HistoryAnswer<'/params'>['params']['markets'][number];

export type MarketParameters = Pick<Parameters, 'symbol' | 'baseDecimals' | 'tickSize'>;

export const markets = signal<readonly MarketSummary[]>([]);
/** Unix milliseconds of the newest summaries. */
export const marketsAtMs = signal<number | null>(null);
export const marketsError = signal<string | null>(null);
const parameters = signal<ReadonlyMap<string, MarketParameters>>(new Map());

export const perpMarkets = computed(() => markets.value.filter(({ marketType }) => marketType === 'perp'));

export function marketOf(symbol: string): MarketSummary | undefined {
  return markets.value.find((one) => one.symbol === symbol);
}

const RETRY_MS = 3_000;
const DEFAULT_BASE_DECIMALS = 9;
const DEFAULT_TICK = '100';

export function parametersOf(symbol: string): MarketParameters {
  return (
    parameters.value.get(symbol) ?? {
      ...{ symbol, baseDecimals: DEFAULT_BASE_DECIMALS, tickSize: DEFAULT_TICK },
    }
  );
}

/** The funding rates of a market are due at each full hour. Seconds until the next one. */
export function secondsToFunding(nowMs: number): number {
  return 3600 - (Math.floor(nowMs / 1000) % 3600);
}

export function startMarkets(): void {
  void loadParameters();
  historyFeed?.markets(take);
  // One request brings the list before the socket is open.
  history.get('/stats/markets', {}).then(
    (list) => marketsAtMs.value ?? take(list),
    (error) => {
      marketsError.value = wordsOf(error);
    },
  );
}

function take(list: readonly MarketSummary[]): void {
  markets.value = list;
  marketsAtMs.value = Date.now();
  marketsError.value = null;
}

async function loadParameters(): Promise<void> {
  try {
    const { params } = await history.get('/params', {});
    parameters.value = new Map(params.markets.map((market) => [market.symbol, market]));
  } catch {
    setTimeout(loadParameters, RETRY_MS);
  }
}
