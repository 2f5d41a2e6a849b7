// Loads the state of a market after a slot, and plays slot after slot.

import { batch, effect, signal } from '@preact/signals';
import { type OrderbookAnswer, RestError } from '../../../client/index.ts';
import { history, orderbook, wordsOf } from '../services.ts';
import { type DisplayedTrade, fromHistory } from '../state/trades.ts';
import type { DisplayedBook } from '../trade/displayed-book.ts';
import { levelsOf } from '../trade/whole-levels.ts';
import {
  earliestSlot,
  isTravelLoading,
  isTravelling,
  latestSlot,
  travelBook,
  travelError,
  travelOracle,
  travelOrders,
  travelSlot,
  travelTo,
  travelTrades,
  travelTs,
} from './travel.ts';

const DAY_SECONDS = 86_400;
const TRADES = 50;
const DEPTH = 100;
const PRICE_UNITS = 1e6;

let current: AbortController | null = null;

/** Loads the state of a market after a slot. The newest call wins. */
export async function loadSlot(market: string, slot: number, baseDecimals: number): Promise<void> {
  current?.abort();
  const abort = new AbortController();
  current = abort;
  isTravelLoading.value = true;
  const query = { marketName: market, slot: String(slot) };
  try {
    const [book, orders] = await Promise.all([
      orderbook.get('/l2', { ...query, depth: DEPTH }, { signal: abort.signal }),
      orderbook.get('/l3', query, { signal: abort.signal }),
    ]);
    const ts = book.ts === null ? null : Math.floor(book.ts / 1000);
    const trades = ts === null ? [] : await tradesUntil(market, slot, ts, baseDecimals, abort.signal);
    if (abort.signal.aborted) return;
    batch(() => {
      travelBook.value = earlierBook(market, slot, book);
      travelOrders.value = { ...orders, slot };
      travelTrades.value = trades;
      travelTs.value = ts;
      travelOracle.value = book.oracle === undefined ? null : book.oracle / PRICE_UNITS;
      travelError.value = null;
      isTravelLoading.value = false;
    });
  } catch (error) {
    if (abort.signal.aborted) return;
    batch(() => {
      clear();
      travelError.value = wordsOf(error);
      isTravelLoading.value = false;
    });
  }
}

function earlierBook(market: string, slot: number, { bids, asks, ts }: OrderbookAnswer<'/l2'>): DisplayedBook {
  return {
    ...{ market, slot, epoch: null, seq: null, from: 'earlier' },
    ...{ bids: levelsOf(bids), asks: levelsOf(asks) },
    ...{ receivedAtMs: ts ?? 0, receivedAt: performance.now() },
  };
}

async function tradesUntil(
  market: string,
  slot: number,
  ts: number,
  baseDecimals: number,
  signal: AbortSignal,
): Promise<readonly DisplayedTrade[]> {
  // The server received the slot's book a moment after its block; the slot decides what belongs.
  const params = { symbol: market, startTs: ts - DAY_SECONDS, endTs: ts + 1, limit: TRADES };
  const { records } = await history.get('/market/{symbol}/trades', params, { signal });
  return records.filter((record) => record.slot <= slot).map((record) => fromHistory(record, baseDecimals));
}

function clear(): void {
  travelBook.value = null;
  travelOrders.value = null;
  travelTrades.value = [];
  travelTs.value = null;
  travelOracle.value = null;
}

/** Asks for a slot that no server keeps: the answer names the earliest one. */
export async function findEarliest(market: string): Promise<void> {
  try {
    await orderbook.get('/l2', { marketName: market, slot: '0', depth: 1 });
    earliestSlot.value = 0;
  } catch (error) {
    if (!(error instanceof RestError)) return;
    const named = /earliest[^\d]*(\d+)/.exec(error.body)?.[1];
    if (named !== undefined) earliestSlot.value = Number(named);
  }
}

/** Milliseconds of a slot at speed 1, near the chain's pace. */
const SLOT_MS = 400;
export const SPEEDS = [0.5, 1, 2, 5, 10] as const;
export const speed = signal<number>(1);
export const isPlaying = signal(false);

effect(() => {
  if (isTravelling.value) return;
  current?.abort();
  batch(() => {
    clear();
    travelError.value = null;
    isTravelLoading.value = false;
    isPlaying.value = false;
  });
});

effect(() => {
  if (!isPlaying.value) return;
  const timer = setInterval(() => {
    const slot = travelSlot.value;
    if (slot === null || isTravelLoading.value) return;
    if (slot >= (latestSlot.value ?? slot)) isPlaying.value = false;
    else travelTo(slot + 1);
  }, SLOT_MS / speed.value);
  return () => clearInterval(timer);
});
