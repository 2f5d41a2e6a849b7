// The checksum of an account's open orders, for the servers.

import { crc32 } from 'node:zlib';
import { openOrdersText } from './open-orders.ts';

/** CRC32 (as in zlib, unsigned) of the text of the orders. */
export function openOrdersChecksum(orders: Parameters<typeof openOrdersText>[0]): number {
  return crc32(openOrdersText(orders));
}
