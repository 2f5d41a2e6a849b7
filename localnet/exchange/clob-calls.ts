// Calls of the exchange into the CLOB program. Each runs in its own frame and emits the book's own record.

import {
  type Clob,
  type ClobNode,
  type ClobOrder,
  insertOrder,
  isAsk,
  isMatchable,
  nodeAt,
  reduceOrder,
  removeOrder,
  sideIsFull,
} from './clob.ts';
import { userAddress } from './keys.ts';
import type { Direction } from './model.ts';
import type { RecordData } from './records.ts';
import { emit, enterClob, leave, type Transaction, touch } from './transaction.ts';
import { orderKey, type Trader, traderOf } from './world.ts';

/** Slots until the release of a user's copy of an order that the book dropped by itself. */
const SHADOW_RELEASE_SLOTS = 6;

/** Rests an order on the book. A full side first evicts its worst order. Returns the node index. */
export function placeOnClob(tx: Transaction, clob: Clob, order: ClobOrder): number {
  if (sideIsFull(clob, order.isAsk)) evictWorst(tx, clob, order.isAsk);
  enterClob(tx, 'PlaceOrderV0');
  const index = insertOrder(clob, order, tx.slot);
  const node = nodeAt(clob, index);
  emit(tx, 'OrderPlaceRecordV0', {
    authority: node.authority,
    ts: BigInt(tx.now),
    slot: BigInt(tx.slot),
    order_id: node.order_id,
    activation_slot: node.activation_slot,
    max_ts: node.max_ts,
    price: node.price,
    base_asset_amount: node.base_asset_amount,
    node_index: index,
    client_order_id: node.client_order_id,
    market_index: clob.account.market_index,
    sub_account_id: node.sub_account_id,
    side: isAsk(node) ? 1 : 0,
    flags: node.bit_flags,
  });
  endCall(tx, clob);
  return index;
}

export function cancelOnClob(tx: Transaction, clob: Clob, index: number): void {
  enterClob(tx, 'CancelOrderV0');
  emit(tx, 'OrderCancelRecordV0', removalRecord(tx, clob, nodeAt(clob, index)));
  removeOrder(clob, index);
  endCall(tx, clob);
}

/** Drops the worst order of a side. The owner's copy stays until its release. */
export function evictWorst(tx: Transaction, clob: Clob, ask: boolean): void {
  const index = ask ? clob.account.worst_ask : clob.account.worst_bid;
  enterClob(tx, 'EvictWorstV0');
  emit(tx, 'OrderEvictRecordV0', removalRecord(tx, clob, nodeAt(clob, index)));
  leaveShadow(tx, clob, index, false);
  removeOrder(clob, index);
  endCall(tx, clob);
}

export function removeExpired(tx: Transaction, clob: Clob, indexes: readonly number[]): void {
  enterClob(tx, 'RemoveExpiredV0');
  for (const index of indexes) {
    emit(tx, 'OrderExpireRecordV0', removalRecord(tx, clob, nodeAt(clob, index)));
    leaveShadow(tx, clob, index, true);
    removeOrder(clob, index);
  }
  endCall(tx, clob);
}

/** Cancels several book orders of one trader in a single call. */
export function cancelAllOnClob(tx: Transaction, clob: Clob, trader: Trader, indexes: readonly number[]): void {
  let bidBase = 0n;
  let askBase = 0n;
  const clientOrderIds: number[] = [];
  enterClob(tx, 'CancelAllV0');
  for (const index of indexes) {
    const node = nodeAt(clob, index);
    if (isAsk(node)) askBase += node.base_asset_amount;
    else bidBase += node.base_asset_amount;
    clientOrderIds.push(node.client_order_id);
    removeOrder(clob, index);
  }
  emit(tx, 'OrdersCancelRecordV0', {
    authority: trader.account.authority,
    ts: BigInt(tx.now),
    bid_base: bidBase,
    ask_base: askBase,
    market_index: clob.account.market_index,
    sub_account_id: trader.account.sub_account_id,
    sides: bidBase === 0n ? 1 : askBase === 0n ? 0 : 2,
    exhaustive: true,
    client_order_ids: clientOrderIds,
  });
  endCall(tx, clob);
}

export interface ClobFill {
  readonly nodeIndex: number;
  readonly base: bigint;
}

/** Executes planned fills on the book. Removes expired orders on the way; their copies stay. */
export function executeOnClob(tx: Transaction, clob: Clob, taker: Direction, fills: readonly ClobFill[]): void {
  enterClob(tx, 'ExecuteV0');
  const record = fills.map(({ nodeIndex, base }) => {
    const node = nodeAt(clob, nodeIndex);
    return { order_id: node.order_id, base_size: base, client_order_id: node.client_order_id };
  });
  const culled = applyFills(tx, clob, fills, taker);
  emit(tx, 'ExecuteRecordV0', {
    ts: BigInt(tx.now),
    slot: BigInt(tx.slot),
    market_index: clob.account.market_index,
    direction: taker === 'long' ? 0 : 1,
    fills: record,
    cancelled_client_order_ids: culled,
  });
  endCall(tx, clob);
}

/** Like `executeOnClob`, for the cross of two resting orders: the record names both owners. */
export function fillOnClob(tx: Transaction, clob: Clob, fills: readonly ClobFill[]): void {
  enterClob(tx, 'FillV0');
  const record = fills.map(({ nodeIndex, base }) => {
    const node = nodeAt(clob, nodeIndex);
    return {
      order_id: node.order_id,
      owner: userAddress(node.authority, node.sub_account_id),
      price: node.price,
      base_size: base,
      client_order_id: node.client_order_id,
    };
  });
  for (const { nodeIndex, base } of fills) reduceOrder(clob, nodeIndex, base);
  emit(tx, 'FillRecordV0', {
    ts: BigInt(tx.now),
    slot: BigInt(tx.slot),
    market_index: clob.account.market_index,
    fills: record,
    cancelled_client_order_ids: [],
  });
  endCall(tx, clob);
}

function applyFills(tx: Transaction, clob: Clob, fills: readonly ClobFill[], taker: Direction): number[] {
  const culled: number[] = [];
  const best = taker === 'long' ? clob.account.best_ask : clob.account.best_bid;
  const first = clob.nodes[best];
  // The next trade removes an expired order at the top.
  if (first && !fills.some(({ nodeIndex }) => nodeIndex === best) && isExpired(tx, first)) {
    culled.push(first.client_order_id);
    leaveShadow(tx, clob, best, true);
    removeOrder(clob, best);
  }
  for (const { nodeIndex, base } of fills) reduceOrder(clob, nodeIndex, base);
  return culled;
}

function isExpired(tx: Transaction, node: ClobNode): boolean {
  return !isMatchable(node, Number.MAX_SAFE_INTEGER, tx.now);
}

function leaveShadow(tx: Transaction, clob: Clob, index: number, expired: boolean): void {
  const node = nodeAt(clob, index);
  const owner = traderOf(tx.world, node.authority, node.sub_account_id);
  const slot = owner.account.orders.findIndex((order) => order?.order_id === node.client_order_id);
  if (slot < 0) throw new Error('a node without a shadow slot');
  tx.world.staleShadows.set(orderKey(owner, slot), { dueSlot: tx.slot + SHADOW_RELEASE_SLOTS, expired });
}

function removalRecord(tx: Transaction, clob: Clob, node: ClobNode): RecordData {
  return {
    authority: node.authority,
    ts: BigInt(tx.now),
    order_id: node.order_id,
    price: node.price,
    base_asset_amount: node.base_asset_amount,
    market_index: clob.account.market_index,
    sub_account_id: node.sub_account_id,
    client_order_id: node.client_order_id,
  };
}

function endCall(tx: Transaction, clob: Clob): void {
  touch(tx, clob);
  leave(tx);
}
