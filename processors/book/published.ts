// Published orders from their rows.

import type { Cause, ViewOrder, ViewOrderRef } from '../../schemas/index.ts';
import { ARRIVAL, CLOB, LIST, OrderTable, PRICE, QUEUE, SIZE_HIGH, SIZE_LOW, SOURCE } from './orders.ts';
import { wordsToBigint } from './size.ts';

/** A visible order with its rank in the walk. */
export function viewOf(table: OrderTable, row: number): ViewOrder {
  const { ints, floats } = table;
  const half = row >> 1;
  return {
    price: floats[half + PRICE] as number,
    size: wordsToBigint((ints[row + SIZE_HIGH] as number) >>> 0, (ints[row + SIZE_LOW] as number) >>> 0),
    maker: table.key(row),
    orderId: table.orderId(row),
    source: ints[row + SOURCE] === CLOB ? 'clob' : 'user',
    rank: [ints[row + LIST] as number, floats[half + QUEUE] as number, floats[half + ARRIVAL] as number],
    cause: table.causes.isEmpty ? null : table.causes.get(OrderTable.index(row)),
  };
}

/** The name of an order that is no longer visible, with the transaction that removed it. */
export function referenceOf(table: OrderTable, row: number, cause: Cause | null): ViewOrderRef {
  const source = table.ints[row + SOURCE] === CLOB ? 'clob' : 'user';
  return { maker: table.key(row), orderId: table.orderId(row), source, cause };
}
