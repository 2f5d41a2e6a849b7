// The numbered order changes of one account in the markets of one part (a partition of `events`), and its open orders.

import {
  type AccountOrder,
  decodeMessage,
  type OpenOrders,
  type OrderChange,
  type OrderFill,
  openOrdersChecksum,
  orderKey,
} from '../../../schemas/index.ts';
import type { SentState } from '../feed/feed-stream.ts';
import type { LogPlace } from '../feed/log-search.ts';
import { NO_RECORDS, type RecordContent, type RecordStream } from '../feed/record-stream.ts';

/** Open orders of an account and part, kept for every account. */
export interface AccountState {
  head: SentState;
  /** By order key; null without open orders. */
  orders: Map<string, AccountOrder> | null;
}

export type AccountStream = RecordStream<OrderChange, AccountOrders>;

export interface AccountOrdersOptions {
  /** Base58. */
  readonly account: string;
  readonly part: number;
  readonly streamId: number;
  readonly state: AccountState;
}

export class AccountOrders implements RecordContent<OrderChange> {
  readonly name: string;
  readonly streamId: number;
  readonly place: LogPlace;
  readonly account: string;
  readonly part: number;
  readonly #state: AccountState;

  constructor({ account, part, streamId, state }: AccountOrdersOptions) {
    this.name = accountStreamName(account, part);
    this.streamId = streamId;
    this.place = { key: account, partition: part };
    this.account = account;
    this.part = part;
    this.#state = state;
  }

  renderSnapshot({ epoch, seq, slot }: SentState): string {
    const { name: stream, streamId, account, part } = this;
    const orders = [...(this.#state.orders?.values() ?? [])];
    const checksum = openOrdersChecksum(orders);
    const head = { channel: 'account', type: 'snapshot', stream, streamId, account, part, epoch, seq, slot };
    return JSON.stringify({ ...head, orders: orders.map(orderBody), checksum });
  }

  renderRecord(change: OrderChange): string {
    const { epoch, seq, slot, ts, txSig, txSigIndex, cause, explanation, fill, isOpen, order, checksum } = change;
    return JSON.stringify({
      order: this.streamId,
      epoch,
      seq,
      prevSeq: seq - 1,
      slot,
      ts: Number(ts),
      txSig,
      txSigIndex,
      cause,
      explanation,
      fill: fill && fillBody(fill),
      isOpen,
      data: orderBody(order),
      checksum,
    });
  }

  read(bytes: Uint8Array): OrderChange | null {
    return orderChange(bytes);
  }

  apply(change: OrderChange): void {
    applyChange(this.#state, change);
  }

  /** The role has lost the orders of the earlier epoch. */
  restart(): void {
    this.#state.orders = null;
  }
}

export function accountStreamName(account: string, part: number): string {
  return `account_${account}_${part}`;
}

export function stateOf({ epoch, seq, slot, orders }: OpenOrders): AccountState {
  const open = orders.length > 0 ? new Map(orders.map((order) => [orderKey(order), order])) : null;
  return { head: { epoch, seq, slot }, orders: open };
}

/** Applies a change to a state, unless the state has it already. */
export function applyChange(state: AccountState, { epoch, seq, slot, order, isOpen }: OrderChange): void {
  const { head } = state;
  if (epoch < head.epoch || (epoch === head.epoch && seq <= head.seq)) return;
  if (epoch !== head.epoch) state.orders = null;
  state.head = { epoch, seq, slot };
  if (isOpen) {
    state.orders ??= new Map();
    state.orders.set(orderKey(order), order);
  } else if (state.orders?.delete(orderKey(order)) && state.orders.size === 0) state.orders = null;
}

export function emptyState(): AccountState {
  return { head: NO_RECORDS, orders: null };
}

/** The change in a record; null for another message. Throws for an unreadable record. */
export function orderChange(bytes: Uint8Array): OrderChange | null {
  const message = decodeMessage(bytes);
  return message.name === 'OrderChange' ? message.value : null;
}

function orderBody(order: AccountOrder) {
  const { price, baseAssetAmount, baseAssetAmountFilled, triggerPrice, oraclePriceOffset, maxTs } = order;
  return {
    ...order,
    price: String(price),
    baseAssetAmount: String(baseAssetAmount),
    baseAssetAmountFilled: String(baseAssetAmountFilled),
    triggerPrice: String(triggerPrice),
    oraclePriceOffset: String(oraclePriceOffset),
    maxTs: Number(maxTs),
  };
}

function fillBody({ fillRecordId, baseAssetAmount, quoteAssetAmount }: OrderFill) {
  return {
    fillRecordId: String(fillRecordId),
    baseAssetAmount: String(baseAssetAmount),
    quoteAssetAmount: String(quoteAssetAmount),
  };
}
