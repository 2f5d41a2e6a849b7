// Requests of the status view: quality and health of the order-book server, freshness of the history, and metrics.

import { useEffect, useState } from 'preact/hooks';
import type { HistoryAnswer, OrderbookAnswer } from '../../../client/index.ts';
import { type Polled, usePolled } from '../parts/use-polled.ts';
import { history, orderbook, wordsOf } from '../services.ts';
import { parseMetrics, type Sample } from './prometheus.ts';

const REFRESH_MS = 2_000;

export type Quality = OrderbookAnswer<'/quality'>;
export type MarketQuality = Quality['markets'][number];
export type Freshness = HistoryAnswer<'/freshness'>;

export const useQuality = (): Polled<Quality> =>
  usePolled('quality', (signal) => orderbook.get('/quality', {}, { signal }), REFRESH_MS);
export const useFreshness = (): Polled<Freshness> =>
  usePolled('freshness', (signal) => history.get('/freshness', {}, { signal }), REFRESH_MS);

export interface ProcessMetrics {
  readonly process: string;
  readonly samples: readonly Sample[];
  readonly error: string | null;
}

interface MetricsAnswer {
  readonly processes: readonly {
    readonly process: string;
    readonly text: string | null;
    readonly error: string | null;
  }[];
}

/** The metrics that this page's server hands on. */
export function useMetrics(): Polled<readonly ProcessMetrics[]> {
  const [state, setState] = useState<Polled<readonly ProcessMetrics[]>>({ data: null, error: null, atMs: null });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async () => {
      try {
        const answer = await fetch('metrics.json');
        if (!answer.ok) throw new Error(`The page server answered ${answer.status}.`);
        const { processes } = (await answer.json()) as MetricsAnswer;
        const data = processes.map(({ process, text, error }) => ({
          process,
          error,
          samples: parseMetrics(text ?? ''),
        }));
        if (!isOver) setState({ data, error: null, atMs: Date.now() });
      } catch (error) {
        if (!isOver) setState((before) => ({ ...before, error: `No metrics: ${wordsOf(error)}` }));
      }
      if (!isOver) timer = setTimeout(ask, REFRESH_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return state;
}
