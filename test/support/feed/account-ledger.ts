// The orders of one account, written to a log as the trades role writes them.

import { base58 } from '../../../api/http/base58.ts';
import { changeRecord, openOrdersRecord } from '../../../processors/account-orders/records.ts';
import {
  type AccountOrder,
  type OrderChange,
  openOrdersChecksum,
  orderKey,
  partitionOf,
  TOPICS,
} from '../../../schemas/index.ts';
import type { FakeLog } from '../api/fake-log.ts';

const USER = new Uint8Array(32).fill(3);
export const ACCOUNT = base58(USER);
/** A partition other than the one of the account's key. */
const PART = (partitionOf(TOPICS.orderChanges, ACCOUNT) + 1) % TOPICS.orderChanges.partitions;
/** The stream of the part that has the changes. */
export const STREAM = `account_${ACCOUNT}_${PART}`;

export class AccountLedger {
  readonly open = new Map<string, AccountOrder>();
  epoch = 1;
  readonly #log: FakeLog;
  readonly #part: number;
  #seq = 0;

  constructor(log: FakeLog, part = PART) {
    this.#log = log;
    this.#part = part;
  }

  /** Opens, fills or ends an order. `before` runs when the open orders are new and nobody has them yet. */
  async change(orderId: number, what: 'placed' | 'filled' | 'cancelled', before = () => {}): Promise<void> {
    const fresh = orderOf(orderId);
    const known = this.open.get(orderKey(fresh)) ?? fresh;
    const order = what === 'filled' ? { ...known, baseAssetAmountFilled: known.baseAssetAmountFilled + 1n } : known;
    const isOpen = what !== 'cancelled' && order.baseAssetAmountFilled < order.baseAssetAmount;
    if (isOpen) this.open.set(orderKey(order), order);
    else this.open.delete(orderKey(order));
    before();
    this.#seq += 1;
    const head = { part: this.#part, epoch: this.epoch, seq: this.#seq, user: USER, slot: 100 + this.#seq };
    const change: OrderChange = {
      ...head,
      ts: 1_700_000_000n,
      txSig: '5'.repeat(88),
      txSigIndex: 0,
      cause: what,
      explanation: 'none',
      fill: what === 'filled' ? { fillRecordId: 7n, baseAssetAmount: 1n, quoteAssetAmount: 2n } : null,
      isOpen,
      order,
      checksum: openOrdersChecksum(this.open.values()),
    };
    await this.#log.append(TOPICS.openOrders, [openOrdersRecord({ ...head, orders: [...this.open.values()] })]);
    await this.#log.append(TOPICS.orderChanges, [changeRecord(change)]);
  }
}

function orderOf(orderId: number): AccountOrder {
  return {
    marketType: 'perp',
    marketIndex: orderId % 2,
    orderId,
    userOrderId: 0,
    orderType: 'limit',
    direction: 'short',
    price: 5_000_000n,
    baseAssetAmount: 3n,
    baseAssetAmountFilled: 0n,
    triggerPrice: 0n,
    triggerCondition: 'above',
    oraclePriceOffset: 0n,
    postOnly: true,
    reduceOnly: false,
    placedSlot: 5,
    maxTs: 0n,
  };
}
