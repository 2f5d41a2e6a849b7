// The orders of every market as a differ that starts from nothing tells them: the independent side of the shadow check.

import {
  type BookOrders,
  type DigestedOrder,
  encodeMessage,
  type MarketRef,
  type MessageTypes,
  marketKey,
  OrderDigest,
  type OrderSource,
  type OrderState,
} from '../../schemas/index.ts';
import { keyText, type Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountUpdate } from '../source.ts';

export interface FreshBook {
  readonly market: MarketRef;
  readonly digest: OrderDigest;
  /** Everything between a begin and an end of a snapshot, these included. */
  readonly messages: readonly FreshMessage[];
}

type BookNames = 'BookOrders' | 'BookMarket' | 'BookOracle' | 'BookSnapshotBegin' | 'BookSnapshotEnd';
export type FreshMessage = { [N in BookNames]: { readonly name: N; readonly value: MessageTypes[N] } }[BookNames];

/** Every market rebuilt from the accounts by a new differ. `slot` names the bracket. */
export function freshBooks(accounts: Iterable<AccountUpdate>, differ: Differ, slot: number): Map<string, FreshBook> {
  const books = new Map<string, Gathered>();
  differ.snapshotBegin();
  for (const account of accounts) differ.account(account, () => {});
  differ.snapshotEnd(slot, (output) => {
    if (!isBookMessage(output)) return;
    const { marketType, marketIndex } = output.value;
    const key = marketKey(output.value);
    const book: Gathered = books.get(key) ?? { market: { marketType, marketIndex }, orders: new Map(), messages: [] };
    books.set(key, book);
    // What no message can carry is not in the log, so no book can hold it.
    if (output.name === 'BookOrders' && !isEncodable(output.value)) return;
    book.messages.push(output);
    if (output.name !== 'BookOrders') return;
    const { source, upserts } = output.value;
    // Orders of one name are one order to a book: the last one told.
    for (const order of upserts) {
      book.orders.set(`${source}${keyText(order.maker)}${order.orderId}`, digested(order, source));
    }
  });
  return new Map([...books].map(([key, book]) => [key, { ...book, digest: digestOf(book.orders.values()) }]));
}

interface Gathered {
  readonly market: MarketRef;
  readonly orders: Map<string, DigestedOrder>;
  readonly messages: FreshMessage[];
}

function digestOf(orders: Iterable<DigestedOrder>): OrderDigest {
  const digest = new OrderDigest();
  for (const order of orders) digest.add(order);
  return digest;
}

function isBookMessage(output: Output): output is FreshMessage {
  return output.name.startsWith('Book');
}

function isEncodable(orders: BookOrders): boolean {
  try {
    encodeMessage('BookOrders', orders);
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

/** What counts of an order (reference 2.2, 2.3). Reduce-only orders are bound by the opposite position. */
export function digested(order: OrderState, source: OrderSource): DigestedOrder {
  const isBook = source === 'clob';
  const isFired = order.triggerCondition === 'triggeredAbove' || order.triggerCondition === 'triggeredBelow';
  const isFloating = order.oraclePriceOffset !== 0n;
  const { maker, orderId, postOnly, baseAssetAmount: amount, baseAssetAmountFilled: filled } = order;
  const position = order.direction === 'long' ? -order.positionBaseAmount : order.positionBaseAmount;
  const bound = order.reduceOnly ? smaller(larger(position, 0n), amount) : amount;
  return {
    maker,
    orderId,
    isBook,
    isShort: order.direction === 'short',
    isPostOnly: postOnly,
    isLimit: order.orderType === 'limit' || (order.orderType === 'triggerLimit' && isFired),
    isFloating,
    term: Number(isFloating ? order.oraclePriceOffset : order.price),
    auctionDurationSlots: isBook ? 0 : order.auctionDurationSlots,
    queue: isBook && order.bookOrderId !== null ? Number(order.bookOrderId) : order.placedSlot,
    size: larger(amount - filled, 0n),
    counted: larger(bound - filled, 0n),
  };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
