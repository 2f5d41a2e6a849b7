// Time travel: the shown market as it stood after a slot. The slot in the address decides; without one the page is live.

import { computed, signal } from '@preact/signals';
import type { OrderbookAnswer } from '../../../client/index.ts';
import { route, setOptions } from '../route.ts';
import { headSlot } from '../state/book-feed.ts';
import type { DisplayedTrade } from '../state/trades.ts';
import type { DisplayedBook } from '../trade/displayed-book.ts';

type Orders = OrderbookAnswer<'/l3'>;
export type EarlierOrder = Orders['bids'][number];
export type EarlierOrders = Pick<Orders, 'slot' | 'bids' | 'asks'>;

/** The slot in the address; null while the page is live. */
export const travelSlot = computed<number | null>(() => {
  const text = route.value.options.slot ?? '';
  return route.value.view === 'trade' && /^\d+$/.test(text) ? Number(text) : null;
});
export const isTravelling = computed(() => travelSlot.value !== null);
export const travelBook = signal<DisplayedBook | null>(null);
export const travelOrders = signal<EarlierOrders | null>(null);
export const travelTrades = signal<readonly DisplayedTrade[]>([]);
/** Unix seconds of the slot; null while unknown. */
export const travelTs = signal<number | null>(null);
/** Oracle price at the slot, whole units. */
export const travelOracle = signal<number | null>(null);
export const travelError = signal<string | null>(null);
export const isTravelLoading = signal(false);
export const earliestSlot = signal<number | null>(null);
export const latestSlot = computed(() => headSlot.value);

export function travelTo(slot: number | null): void {
  const most = latestSlot.value;
  const bounded = slot === null ? null : Math.max(earliestSlot.value ?? 0, most === null ? slot : Math.min(slot, most));
  setOptions({ slot: bounded === null ? undefined : String(bounded) });
}
