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
import { NO_RECORDS, RecordStream } from '../feed/record-stream.ts';
import type { RingSpace } from '../feed/ring.ts';

/** Open orders of an account and part, kept for every account. */
export interface AccountState {
  head: SentState;
  /** By order key; null without open orders. */
  orders: Map<string, AccountOrder> | null;
}

export interface AccountStreamOptions {
  /** Base58. */
  readonly account: string;
  readonly part: number;
  readonly streamId: number;
  readonly rings: RingSpace;
  readonly state: AccountState;
}

export class AccountStream extends RecordStream<OrderChange> {
  readonly account: string;
  readonly part: number;
  readonly #state: AccountState;

  constructor({ account, part, streamId, rings, state }: AccountStreamOptions) {
    super({ name: accountStreamName(account, part), streamId, place: { key: account, partition: part }, rings });
    this.account = account;
    this.part = part;
    this.#state = state;
    this.beginAt(state.head);
  }

  protected override renderSnapshot(): string {
    const { name: stream, streamId, account, part, sent } = this;
    const { epoch, seq, slot } = sent;
    const orders = [...(this.#state.orders?.values() ?? [])];
    const checksum = openOrdersChecksum(orders);
    const head = { channel: 'account', type: 'snapshot', stream, streamId, account, part, epoch, seq, slot };
    return JSON.stringify({ ...head, orders: orders.map(orderBody), checksum });
  }

  protected override renderRecord(change: OrderChange): string {
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

  protected override read(bytes: Uint8Array): OrderChange | null {
    return orderChange(bytes);
  }

  protected override apply(change: OrderChange): void {
    applyChange(this.#state, change);
  }

  /** The role has lost the orders of the earlier epoch. */
  protected override restart(): void {
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
