// Identity of an order inside an account, and the checksum of an account's open orders. docs/internals/account-orders.md has its text.

import { crc32 } from 'node:zlib';
import type { AccountOrder } from '../messages/account-orders.ts';

type Checked = Pick<
  AccountOrder,
  'marketType' | 'marketIndex' | 'orderId' | 'direction' | 'price' | 'baseAssetAmount' | 'baseAssetAmountFilled'
>;

export function orderKey({
  marketType,
  marketIndex,
  orderId,
}: Pick<AccountOrder, 'marketType' | 'marketIndex' | 'orderId'>): string {
  return `${marketType}-${marketIndex}/${orderId}`;
}

/** CRC32 (as in zlib, unsigned) of a line per order, sorted by market and order id, joined by line feeds. */
export function openOrdersChecksum(orders: Iterable<Checked>): number {
  const sorted = [...orders].sort(
    (left, right) =>
      (left.marketType < right.marketType ? -1 : left.marketType > right.marketType ? 1 : 0) ||
      left.marketIndex - right.marketIndex ||
      left.orderId - right.orderId,
  );
  return crc32(sorted.map(line).join('\n'));
}

function line(order: Checked): string {
  const { marketType, marketIndex, orderId, direction, price, baseAssetAmount, baseAssetAmountFilled } = order;
  return `${marketType} ${marketIndex} ${orderId} ${direction} ${price} ${baseAssetAmount} ${baseAssetAmountFilled}`;
}
