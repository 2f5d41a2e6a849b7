// Orders that a taker signed off-chain: the record that a keeper's placement emits beside the order's records.

import { createHash } from 'node:crypto';
import type { Order } from './model.ts';
import { emit, type Transaction } from './transaction.ts';
import type { Trader } from './world.ts';

/** Validity of a signed message in slots. */
const LIFETIME_SLOTS = 30;
const UUID_BYTES = 8;

/** Emits the record of a newly placed order. */
export function emitSignedMessage(tx: Transaction, trader: Trader, order: Order): void {
  const digest = createHash('sha256').update(`${trader.key}:${order.order_id}`).digest();
  emit(tx, 'SignedMsgOrderRecord', {
    user: trader.key,
    hash: digest.toString('base64'),
    matching_order_params: {
      order_type: order.order_type,
      market_type: order.market_type,
      direction: order.direction,
      user_order_id: order.user_order_id,
      base_asset_amount: order.base_asset_amount,
      price: order.price,
      market_index: order.market_index,
      reduce_only: order.reduce_only,
      post_only: 'none',
      bit_flags: 0,
      max_ts: order.max_ts === 0n ? null : order.max_ts,
      trigger_price: null,
      trigger_condition: order.trigger_condition,
      oracle_price_offset: order.oracle_price_offset === 0n ? null : order.oracle_price_offset,
      activation_delay_slots: null,
      // The message has its builder outside the parameters.
      builder_idx: null,
      builder_fee_tenth_bps: null,
    },
    user_order_id: order.order_id,
    signed_msg_order_max_slot: BigInt(tx.slot + LIFETIME_SLOTS),
    signed_msg_order_uuid: [...Buffer.from(digest.toString('hex', 0, UUID_BYTES / 2))],
    ts: BigInt(tx.now),
  });
}
