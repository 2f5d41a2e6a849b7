// Rebuilds every market with an empty differ: the independent side of the shadow check.

import {
  type BookMarket,
  type BookOracle,
  type DigestedOrder,
  encodeMessage,
  keyText,
  type MarketRef,
  type MessageTypes,
  marketKey,
  OrderDigest,
  type OrderSource,
  type OrderState,
} from '../../schemas/index.ts';
import { type BookChange, isBookChange, OrderChanges, type Output } from '../diff/output.ts';
import type { Differ } from '../differ.ts';
import type { AccountUpdate } from '../source.ts';

type BookNames = 'BookOrders' | 'BookMarket' | 'BookOracle' | 'BookSnapshotBegin' | 'BookSnapshotEnd';
export type FreshMessage = { [N in BookNames]: { readonly name: N; readonly value: MessageTypes[N] } }[BookNames];

export interface FreshOrder {
  readonly source: OrderSource;
  /** The account that has the order. */
  readonly account: Uint8Array;
  readonly order: OrderState;
}

export interface FreshBook {
  readonly ref: MarketRef;
  /** By source, maker and order id. */
  readonly orders: Map<string, FreshOrder>;
  readonly digest: OrderDigest;
  market: BookMarket | null;
  oracle: BookOracle | null;
}

export class Rebuild {
  readonly books = new Map<string, FreshBook>();
  readonly #differ: Differ;

  /** `differ` must be empty. */
  constructor(differ: Differ) {
    this.#differ = differ;
  }

  /** Applies an account. Accounts may come in any order, and again after a change. */
  take(update: AccountUpdate): void {
    this.#differ.account(update, this.#gather);
  }

  /** Messages with a market's complete state, between the brackets of a snapshot. */
  messages({ ref, orders, market, oracle }: FreshBook, slot: number): FreshMessage[] {
    const messages: FreshMessage[] = [{ name: 'BookSnapshotBegin', value: { ...ref, snapshotSlot: slot } }];
    if (market) messages.push({ name: 'BookMarket', value: market });
    if (oracle) messages.push({ name: 'BookOracle', value: oracle });
    const accounts = new Map<string, OrderChanges>();
    for (const { source, account, order } of orders.values()) {
      const changes = accounts.get(keyText(account)) ?? new OrderChanges(source, account, { slot });
      accounts.set(keyText(account), changes);
      changes.upsert(ref.marketType, ref.marketIndex, order);
    }
    for (const changes of accounts.values()) changes.emit((output) => isBookChange(output) && messages.push(output));
    messages.push({ name: 'BookSnapshotEnd', value: { ...ref, snapshotSlot: slot } });
    return messages;
  }

  readonly #gather = (output: Output): void => {
    // The log cannot carry these messages, so no book can have them.
    if (!isBookChange(output) || !isEncodable(output)) return;
    const book = this.#bookOf(output.value);
    if (output.name === 'BookMarket') book.market = output.value;
    else if (output.name === 'BookOracle') book.oracle = output.value;
    else {
      const { source, account, upserts, removals } = output.value;
      const id = (maker: Uint8Array, orderId: number) => `${source}${keyText(maker)}${orderId}`;
      for (const { maker, orderId } of removals) this.#remove(book, id(maker, orderId));
      for (const order of upserts) {
        // A book has one order per identity: the last one wins.
        const key = id(order.maker, order.orderId);
        this.#remove(book, key);
        book.orders.set(key, { source, account, order });
        book.digest.add(digestOrder(order, source));
      }
    }
  };

  #remove({ orders, digest }: FreshBook, key: string): void {
    const known = orders.get(key);
    if (!known) return;
    orders.delete(key);
    digest.remove(digestOrder(known.order, known.source));
  }

  #bookOf({ marketType, marketIndex }: MarketRef): FreshBook {
    const ref = { marketType, marketIndex };
    const key = marketKey(ref);
    const known = this.books.get(key);
    if (known) return known;
    const book: FreshBook = { ref, orders: new Map(), digest: new OrderDigest(), market: null, oracle: null };
    this.books.set(key, book);
    return book;
  }
}

function isEncodable({ name, value }: BookChange): boolean {
  try {
    encodeMessage(name, value);
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

/** The compared part of an order (docs/internals/book-rules.md, "Visibility"). The opposite position caps reduce-only orders. */
export function digestOrder(order: OrderState, source: OrderSource): DigestedOrder {
  const isBook = source === 'clob';
  const isFired = order.triggerCondition === 'triggeredAbove' || order.triggerCondition === 'triggeredBelow';
  const isFloating = order.oraclePriceOffset !== 0n;
  const { maker, orderId, postOnly, baseAssetAmount: amount, baseAssetAmountFilled: filled } = order;
  const position = order.direction === 'long' ? -order.positionBaseAmount : order.positionBaseAmount;
  const bound = order.reduceOnly ? smaller(larger(position, 0n), amount) : amount;
  const hasAuction = !isBook && order.auctionDurationSlots !== 0;
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
    auctionStart: hasAuction ? Number(order.auctionStartPrice) : 0,
    auctionEnd: hasAuction ? Number(order.auctionEndPrice) : 0,
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
