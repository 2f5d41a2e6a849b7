// The newest fills of the shown market: those of the last minutes from the history, then the trades channel.

import { effect, signal } from '@preact/signals';
import type { HistoryRecord, Trade } from '../../../client/index.ts';
import { history, wordsOf } from '../services.ts';
import { connection, feed } from './book-feed.ts';

export interface DisplayedTrade {
  readonly id: string;
  /** Unix seconds. */
  readonly ts: number;
  readonly slot: number;
  /** Whole units. */
  readonly price: number;
  readonly size: number;
  /** Side of the taker. */
  readonly side: 'buy' | 'sell';
  readonly isLiquidation: boolean;
  readonly txSig: string;
}

/** A fill in raw integers, as the history serves it. */
export type HistoryTrade = HistoryRecord<'/market/{symbol}/trades'>;

const DISPLAYED_MAX = 100;
const FIRST_PAGE = 50;
/** The history has a fill some seconds after the channel has sent it, so each connect loads twice. */
const LOADS = 2;
/** A history that fails is asked after twice as long each time. */
const RELOAD_MS = 5_000;
const QUOTE_UNITS = 1e6;

export const trades = signal<readonly DisplayedTrade[]>([]);
export const tradesError = signal<string | null>(null);
/** False until the history has answered for the market. */
export const isTradesLoaded = signal(false);

function sideOf(taker: string | null | undefined, maker: string | null | undefined): 'buy' | 'sell' {
  if (taker) return taker === 'long' ? 'buy' : 'sell';
  return maker === 'long' ? 'sell' : 'buy';
}

const isLiquidation = (explanation: string) => /liquidat/i.test(explanation);

function fromChannel(trade: Trade): DisplayedTrade {
  const { ts, slot, txSig, baseAssetAmountFilled: size, quoteAssetAmountFilled: quote } = trade;
  return {
    ...{ id: String(trade.fillRecordId), ts, slot, txSig, size, price: size === 0 ? 0 : quote / size },
    side: sideOf(trade.takerOrderDirection, trade.makerOrderDirection),
    isLiquidation: isLiquidation(trade.actionExplanation),
  };
}

/** `baseDecimals` of the market. */
export function fromHistory(trade: HistoryTrade, baseDecimals: number): DisplayedTrade {
  const { ts, slot, txSig } = trade;
  return {
    ...{ id: trade.fillRecordId ?? txSig, ts, slot, txSig },
    size: Number(trade.baseAssetAmountFilled ?? 0) / 10 ** baseDecimals,
    price: Number(trade.price ?? 0) / QUOTE_UNITS,
    side: sideOf(trade.takerOrderDirection, trade.makerOrderDirection),
    isLiquidation: isLiquidation(trade.actionExplanation),
  };
}

/** Newest first, each fill once. */
function merged(known: readonly DisplayedTrade[], added: readonly DisplayedTrade[]): readonly DisplayedTrade[] {
  const ids = new Set(added.map(({ id }) => id));
  const all = [...added, ...known.filter(({ id }) => !ids.has(id))];
  return all
    .sort((left, right) => right.slot - left.slot || Number(right.id) - Number(left.id))
    .slice(0, DISPLAYED_MAX);
}

/** Follows the fills of a market until the returned function is called. */
export function followTrades(market: string, marketType: 'perp' | 'spot', baseDecimals: number): () => void {
  trades.value = [];
  isTradesLoaded.value = false;
  tradesError.value = null;
  let waiting: DisplayedTrade[] = [];
  const flush = setInterval(() => {
    if (waiting.length === 0) return;
    trades.value = merged(trades.value, waiting);
    waiting = [];
  }, 100);
  const channel = feed?.trades({ market, marketType });
  channel?.on('data', (trade) => waiting.push(fromChannel(trade)));
  // The channel replays nothing, so each connect needs the fills since the last one.
  const stopLoading = effect(() => {
    if (connection.value.is !== 'open') return;
    const abort = new AbortController();
    const { signal } = abort;
    let left = LOADS;
    let pauseMs = RELOAD_MS;
    let timer: ReturnType<typeof setTimeout>;
    const load = (): void => {
      history.get('/market/{symbol}/trades', { symbol: market, limit: FIRST_PAGE }, { signal }).then(
        ({ records }) => {
          trades.value = merged(
            trades.value,
            records.map((record) => fromHistory(record, baseDecimals)),
          );
          tradesError.value = null;
          isTradesLoaded.value = true;
          left -= 1;
          if (left > 0) timer = setTimeout(load, RELOAD_MS);
        },
        (error) => {
          if (signal.aborted) return;
          tradesError.value = wordsOf(error);
          timer = setTimeout(load, pauseMs);
          pauseMs *= 2;
        },
      );
    };
    load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  });
  return () => {
    clearInterval(flush);
    stopLoading();
    channel?.close();
  };
}
