// Identity of an order inside an account, and the text whose CRC32 is the checksum of an account's open orders. Runs anywhere.
// docs/internals/account-orders.md has an example.

import type { AccountOrder } from './account-orders.ts';

type Identified = Pick<AccountOrder, 'marketType' | 'marketIndex' | 'orderId'>;
type Checked = Identified & Pick<AccountOrder, 'direction' | 'price' | 'baseAssetAmount' | 'baseAssetAmountFilled'>;

export function orderKey({ marketType, marketIndex, orderId }: Identified): string {
  return `${marketType}-${marketIndex}/${orderId}`;
}

/** A line per order, sorted by market and order id, joined by line feeds. */
export function openOrdersText(orders: Iterable<Checked>): string {
  const sorted = [...orders].sort(
    (left, right) =>
      (left.marketType < right.marketType ? -1 : left.marketType > right.marketType ? 1 : 0) ||
      left.marketIndex - right.marketIndex ||
      left.orderId - right.orderId,
  );
  return sorted.map(line).join('\n');
}

function line(order: Checked): string {
  const { marketType, marketIndex, orderId, direction, price, baseAssetAmount, baseAssetAmountFilled } = order;
  return `${marketType} ${marketIndex} ${orderId} ${direction} ${price} ${baseAssetAmount} ${baseAssetAmountFilled}`;
}
