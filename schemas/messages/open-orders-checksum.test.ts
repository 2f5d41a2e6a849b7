import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openOrdersChecksum } from './open-orders-checksum.ts';

const PAGE = readFileSync(new URL('../../docs/internals/account-orders.md', import.meta.url), 'utf8');

describe('the checksum of open orders', () => {
  it('is that of the documented text, whatever the order of the orders', () => {
    const text = /```text\n([^`]*)\n```/.exec(PAGE)?.[1] ?? '';
    const orders = text.split('\n').map((line) => {
      const [marketType, marketIndex, orderId, direction, price, base, filled] = line.split(' ');
      return {
        marketType: marketType as 'perp',
        marketIndex: Number(marketIndex),
        orderId: Number(orderId),
        direction: direction as 'long',
        price: BigInt(price ?? ''),
        baseAssetAmount: BigInt(base ?? ''),
        baseAssetAmountFilled: BigInt(filled ?? ''),
      };
    });
    expect(orders).toHaveLength(2);
    expect(openOrdersChecksum(orders.reverse())).toBe(Number(/CRC32\n(\d+)\./.exec(PAGE)?.[1]));
    expect(openOrdersChecksum([])).toBe(0);
  });
});
