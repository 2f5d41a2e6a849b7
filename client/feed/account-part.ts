// The open orders of one account in the markets of one part, kept by sequence and checksum.

import {
  type AccountOrder,
  type AccountOrderBody,
  type AccountSnapshot,
  type BookVersion,
  type MarketType,
  type OrderChangeMessage,
  type OrderFill,
  openOrdersText,
  orderKey,
  type QueuePositionBody,
} from '../../schemas/portable.ts';
import { crc32 } from './crc32.ts';

/** `known`: the part has it already. `gap`: changes are missing. `damaged`: another checksum, or amounts that are no integers. */
export type PartResult = 'applied' | 'known' | 'gap' | 'damaged';

export class AccountPart {
  #orders: ReadonlyMap<string, AccountOrder> = new Map();
  #version: BookVersion | null = null;
  #slot = 0;

  /** Null before the first snapshot, and after damage until the next one. */
  get version(): BookVersion | null {
    return this.#version;
  }

  /** Slot of the newest change; 0 before the first. */
  get slot(): number {
    return this.#slot;
  }

  get orders(): Iterable<AccountOrder> {
    return this.#orders.values();
  }

  replace({ epoch, seq, slot, orders, checksum }: AccountSnapshot): PartResult {
    const next = new Map<string, AccountOrder>();
    for (const body of orders) {
      const order = orderOf(body);
      if (!order) return this.#damaged();
      next.set(orderKey(order), order);
    }
    return this.#take({ epoch, seq }, slot, checksum, next);
  }

  /** `order` is the message's order as numbers; null when these cannot be read. */
  apply({ epoch, seq, prevSeq, slot, isOpen, checksum }: OrderChangeMessage, order: AccountOrder | null): PartResult {
    const version = this.#version;
    if (version?.epoch === epoch && seq <= version.seq) return 'known';
    if (version?.epoch !== epoch || prevSeq !== version.seq) return 'gap';
    if (!order) return this.#damaged();
    const next = new Map(this.#orders);
    if (isOpen) next.set(orderKey(order), order);
    else next.delete(orderKey(order));
    return this.#take({ epoch, seq }, slot, checksum, next);
  }

  /** The last orders that were right stay. */
  #damaged(): PartResult {
    this.#version = null;
    return 'damaged';
  }

  #take(version: BookVersion, slot: number, checksum: number, next: ReadonlyMap<string, AccountOrder>): PartResult {
    if (crc32(openOrdersText(next.values())) !== checksum) return this.#damaged();
    this.#orders = next;
    this.#version = version;
    this.#slot = slot;
    return 'applied';
  }
}

/** The order of a message as numbers; null when an amount is no integer. */
export function orderOf(body: AccountOrderBody): AccountOrder | null {
  return numbersOf(() => ({
    ...body,
    price: BigInt(body.price),
    baseAssetAmount: BigInt(body.baseAssetAmount),
    baseAssetAmountFilled: BigInt(body.baseAssetAmountFilled),
    triggerPrice: BigInt(body.triggerPrice),
    oraclePriceOffset: BigInt(body.oraclePriceOffset),
    maxTs: BigInt(body.maxTs),
  }));
}

/** Where a resting order stands in the queue of its price. Price 1e6, sizes 1e9 (spot: the token's decimals). */
export interface QueuePosition {
  readonly marketType: MarketType;
  readonly marketIndex: number;
  readonly orderId: number;
  /** Where the order rests: in its user account or in the market-level book. */
  readonly source: QueuePositionBody['source'];
  readonly side: 'bids' | 'asks';
  readonly price: bigint;
  /** Unfilled size. */
  readonly size: bigint;
  /** Sizes of the orders before it at its price. */
  readonly sizeAhead: bigint;
  readonly ordersAhead: number;
  /** The book in which it stands so. */
  readonly book: BookVersion & { readonly slot: number };
}

/** The queue position of a message as numbers; null when one is no integer. */
export function queuePositionOf(body: QueuePositionBody): QueuePosition | null {
  return numbersOf(() => ({
    ...body,
    price: BigInt(body.price),
    size: BigInt(body.size),
    sizeAhead: BigInt(body.sizeAhead),
  }));
}

/** The fill of a message as numbers; null when one is no integer. */
export function fillOf(body: NonNullable<OrderChangeMessage['fill']>): OrderFill | null {
  return numbersOf(() => ({
    fillRecordId: BigInt(body.fillRecordId),
    baseAssetAmount: BigInt(body.baseAssetAmount),
    quoteAssetAmount: BigInt(body.quoteAssetAmount),
  }));
}

/** Messages can be damaged: what cannot be read must never throw at the user. */
function numbersOf<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
