// The L3 view: every resting order in queue order, with its maker and its place at its price.

import { useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { amount, shortKey } from '../format.ts';
import { linkOf } from '../route.ts';
import { books } from '../state/book-feed.ts';
import { parametersOf } from '../state/markets.ts';
import { type EarlierOrder, isTravelling, travelOrders } from '../travel/travel.ts';
import { ownAccounts } from './book-view.ts';
import { sizeText } from './ladder-canvas.ts';
import type { Side } from './rows.ts';

const LISTED_ORDERS = 40;
const PRICE_DECIMALS = 6;
const INTERVAL_MS = 250;

export interface QueuedOrder {
  readonly price: bigint;
  readonly size: bigint;
  readonly maker: string;
  readonly orderId: number;
  /** Place among the orders of its price, from 1. */
  readonly place: number;
}

interface OrderList {
  readonly slot: number;
  readonly bids: readonly QueuedOrder[];
  readonly asks: readonly QueuedOrder[];
}

/** Numbers the orders of each price. `orders` are in queue order. */
function queued(orders: readonly Omit<QueuedOrder, 'place'>[], most: number): readonly QueuedOrder[] {
  let place = 0;
  let price: bigint | null = null;
  return orders.slice(0, most).map((order) => {
    place = order.price === price ? place + 1 : 1;
    price = order.price;
    return { ...order, place };
  });
}

const fromEarlier = ({ price, size, maker, orderId }: EarlierOrder) => ({
  ...{ price: BigInt(price), size: BigInt(size), maker, orderId },
});

export function Orders({ market }: { readonly market: string }) {
  const list = useSignal<OrderList | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const { baseDecimals } = parametersOf(market);
  const take = () => {
    timer.current = null;
    const earlier = travelOrders.peek();
    const live = books.l3.peek();
    const sides = (of: (side: Side) => readonly Omit<QueuedOrder, 'place'>[], slot: number) => ({
      ...{ slot, bids: queued(of('bids'), LISTED_ORDERS), asks: queued(of('asks'), LISTED_ORDERS) },
    });
    if (isTravelling.peek()) list.value = earlier && sides((side) => earlier[side].map(fromEarlier), earlier.slot);
    else if (live?.market === market) list.value = sides((side) => live.keeper.orders(side), live.slot);
    else list.value = null;
  };
  useSignalEffect(() => {
    void [books.l3.value, travelOrders.value, isTravelling.value];
    timer.current ??= setTimeout(take, list.peek() === null ? 0 : INTERVAL_MS);
  });
  if (!list.value) return <p class="note">Waiting for the orders of {market}.</p>;
  return (
    <div class="orders" data-testid="orders" data-slot={list.value.slot}>
      {(['bids', 'asks'] as const).map((side) => (
        <OrderTable key={side} side={side} orders={list.value?.[side] ?? []} baseDecimals={baseDecimals} />
      ))}
    </div>
  );
}

function OrderTable(props: {
  readonly side: Side;
  readonly orders: readonly QueuedOrder[];
  readonly baseDecimals: number;
}) {
  const { side, orders, baseDecimals } = props;
  const own = new Set(ownAccounts.value);
  return (
    <table class={`records compact ${side}`}>
      <caption>{side === 'bids' ? 'Bids' : 'Asks'}, best first</caption>
      <thead>
        <tr>
          <th scope="col" class="number">
            Price
          </th>
          <th scope="col" class="number">
            Size
          </th>
          <th scope="col">Maker</th>
          <th scope="col" class="number">
            <abbr title="Place in the queue at its price">Place</abbr>
          </th>
        </tr>
      </thead>
      <tbody>
        {orders.map(({ price, size, maker, orderId, place }) => (
          <tr
            key={`${maker}${orderId}`}
            class={own.has(maker) ? 'own' : ''}
            data-price={String(price)}
            data-size={String(size)}
            data-maker={maker}
            data-order={orderId}
          >
            <td class={`number ${side === 'bids' ? 'bid' : 'ask'}`}>{amount(price, PRICE_DECIMALS)}</td>
            <td class="number">{sizeText(size, baseDecimals)}</td>
            <td>
              <a href={linkOf({ view: 'account', subject: maker, options: {} })} title={`${maker}, order ${orderId}`}>
                {shortKey(maker)}
              </a>
            </td>
            <td class="number">{place}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
