// Changes of an account's orders, and its open orders. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';
import type { Direction } from './book.ts';

/** An order as placed, with its filled amount. */
export interface AccountOrder extends MarketRef {
  readonly orderId: number;
  readonly userOrderId: number;
  readonly orderType: string;
  readonly direction: Direction;
  readonly price: bigint;
  readonly baseAssetAmount: bigint;
  readonly baseAssetAmountFilled: bigint;
  readonly triggerPrice: bigint;
  /** `above`, `below`; `triggeredAbove`, `triggeredBelow` once triggered. */
  readonly triggerCondition: string;
  readonly oraclePriceOffset: bigint;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly placedSlot: number;
  /** Unix seconds, 0 = none. */
  readonly maxTs: bigint;
}

/** `reconstructed`: from the states of the user account, because no node has the record. */
export type OrderCause = 'placed' | 'triggered' | 'filled' | 'cancelled' | 'expired' | 'reconstructed';

/** The fill behind a change. */
export interface OrderFill {
  readonly fillRecordId: bigint;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
}

/**
 * Number of a change: `seq` is contiguous inside an epoch for each account and part, from 1. A part is a partition of `events`: the
 * changes of its markets have one order.
 */
export interface AccountVersion {
  readonly part: number;
  readonly epoch: number;
  readonly seq: number;
}

export interface OrderChange extends AccountVersion {
  /** User account (not the wallet). */
  readonly user: Uint8Array;
  readonly slot: number;
  /** Block time, Unix seconds. */
  readonly ts: bigint;
  /** Empty for a reconstructed change, which has no record. */
  readonly txSig: string;
  readonly txSigIndex: number;
  readonly cause: OrderCause;
  readonly explanation: string;
  readonly fill: OrderFill | null;
  /** False when the order has left. */
  readonly isOpen: boolean;
  /** State after the change. */
  readonly order: AccountOrder;
  /** CRC32 of the open orders of the account and part after the change (docs/internals/account-orders.md). */
  readonly checksum: number;
}

/** All open orders of an account and part after `seq`. */
export interface OpenOrders extends AccountVersion {
  readonly user: Uint8Array;
  readonly slot: number;
  readonly orders: readonly AccountOrder[];
}

/** An open order of an account, with the quote of its fills; null in records of older versions. */
export interface AccountStateOrder extends AccountOrder {
  readonly quoteAssetAmountFilled: bigint | null;
}

/** All open orders that a User account has in one market, also those in the market-level book. Absolute. */
export interface UserOrders extends MarketRef {
  readonly slot: number;
  /** User account (not the wallet). */
  readonly user: Uint8Array;
  readonly orders: readonly AccountStateOrder[];
}
