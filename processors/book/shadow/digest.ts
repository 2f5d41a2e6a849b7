// Digest of the orders of a book, and each order for evidence: the shadow check compares them with a fresh read of the chain.

import { type DigestedOrder, keyText, OrderDigest, type OrderEvidence, orderEvidence } from '../../../schemas/index.ts';
import {
  AUCTION_END,
  AUCTION_START,
  CLOB,
  COUNTED_HIGH,
  COUNTED_LOW,
  DURATION,
  FLAGS,
  type OrderTable,
  QUEUE,
  SIZE_HIGH,
  SIZE_LOW,
  SOURCE,
  TERM,
} from '../orders.ts';
import { wordsToBigint } from '../size.ts';
import { STEP_ITEMS, type Steps } from '../steps.ts';
import { FLOATS, LIMIT_LIKE, POST_ONLY, SHORT } from '../terms.ts';

/** Digest of every open order, visible or not. Costs about a microsecond per order. */
export function* digestOf(table: OrderTable): Steps<OrderDigest> {
  const digest = new OrderDigest();
  for (const row of table.eachRow()) {
    digest.add(rowOf(table, row));
    if (digest.orders % STEP_ITEMS === 0) yield;
  }
  return digest;
}

/** Every open order by its key, to compare with a later moment. */
export function* ordersOf(table: OrderTable): Steps<Map<string, DigestedOrder>> {
  const orders = new Map<string, DigestedOrder>();
  for (const row of table.eachRow()) {
    const order = rowOf(table, row);
    const { maker, ...terms } = order;
    orders.set(`${keyText(maker)} ${Object.values(terms).join(' ')}`, order);
    if (orders.size % STEP_ITEMS === 0) yield;
  }
  return orders;
}

/** The order's name in evidence. */
export function evidenceOf(table: OrderTable, row: number): OrderEvidence {
  return orderEvidence(rowOf(table, row));
}

function rowOf(table: OrderTable, row: number): DigestedOrder {
  const { ints, floats } = table;
  const int = (member: number) => ints[row + member] as number;
  const float = (member: number) => floats[(row >> 1) + member] as number;
  const size = (high: number, low: number) => wordsToBigint(int(high) >>> 0, int(low) >>> 0);
  const flags = int(FLAGS);
  const auctionDurationSlots = int(DURATION);
  return {
    maker: table.key(row),
    orderId: table.orderId(row),
    isBook: int(SOURCE) === CLOB,
    isShort: (flags & SHORT) !== 0,
    isPostOnly: (flags & POST_ONLY) !== 0,
    isLimit: (flags & LIMIT_LIKE) !== 0,
    isFloating: (flags & FLOATS) !== 0,
    term: float(TERM),
    auctionDurationSlots,
    // A row without an auction keeps old bounds.
    auctionStart: auctionDurationSlots === 0 ? 0 : float(AUCTION_START),
    auctionEnd: auctionDurationSlots === 0 ? 0 : float(AUCTION_END),
    queue: float(QUEUE),
    size: size(SIZE_HIGH, SIZE_LOW),
    counted: size(COUNTED_HIGH, COUNTED_LOW),
  };
}
