import { expect, it } from 'vitest';
import type { AccountOrder } from '../../schemas/index.ts';
import { orderState } from '../../test/support/processors/order-lives.ts';
import { UnrecordedOrders } from './unrecorded-orders.ts';

const stateOf = (orderId: number, placedSlot: number): AccountOrder => ({ ...orderState(orderId, 0n), placedSlot });
const idsOf = (orders: UnrecordedOrders, account: string) => orders.of(account, 1, 100).map(({ orderId }) => orderId);

it('names the orders of one account by number, as the first state had them', () => {
  const orders = new UnrecordedOrders();
  for (const [orderId, slot] of [
    [12, 30],
    [9, 20],
    [9, 44],
  ] as const)
    orders.add('a', stateOf(orderId, slot));
  orders.add('b', stateOf(10, 25));
  expect(idsOf(orders, 'a')).toEqual([9, 12]);
  const order = { orderId: 9, market: 'perp-0', direction: 'long', orderType: 'limit', price: '7' };
  expect(orders.of('a', 9, 11)).toEqual([{ ...order, baseAssetAmount: '1000', placedSlot: 20 }]);
});

it('forgets recorded orders, those of an account opened anew, and the oldest above the limit', () => {
  const orders = new UnrecordedOrders(3);
  for (const orderId of [1, 2, 3]) orders.add('a', stateOf(orderId, 10));
  orders.delete('a', 2);
  orders.add('b', stateOf(7, 10));
  expect([idsOf(orders, 'a'), idsOf(orders, 'b')]).toEqual([[1, 3], [7]]);
  orders.add('b', stateOf(8, 11));
  expect([idsOf(orders, 'a'), idsOf(orders, 'b')]).toEqual([[3], [7, 8]]);
  const pieces = orders.takeChanges().map(({ name, bytes }) => [name, bytes === null]);
  expect(pieces).toContainEqual(['shown:a/1', true]);
  orders.forget('b');
  expect(idsOf(orders, 'b')).toEqual([]);
});
