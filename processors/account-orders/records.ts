// Records of the topics of account orders. A part is a partition, so the partition is set and not hashed.

import bs58 from 'bs58';
import type { NewRecord } from '../../platform/index.ts';
import { encodeMessage, type OpenOrders, type OrderChange } from '../../schemas/index.ts';

export function changeRecord(change: OrderChange): NewRecord {
  return { key: bs58.encode(change.user), value: encodeMessage('OrderChange', change), partition: change.part };
}

export function openOrdersRecord(orders: OpenOrders): NewRecord {
  return { key: bs58.encode(orders.user), value: encodeMessage('OpenOrders', orders), partition: orders.part };
}
