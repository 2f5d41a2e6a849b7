// Order actions in the program's form, for history tests.

import type { ChainEvent } from '../../../schemas/index.ts';
import { MAKER_A, MAKER_B } from './stage.ts';

let count = 0;

/** An event of a new transaction. */
function chainEvent(name: string, data: Readonly<Record<string, unknown>>): ChainEvent {
  count++;
  const signature = Buffer.alloc(64, 7);
  signature.writeUInt32LE(count, 0);
  return { name, signature, eventIndex: 2, slot: 500, txIndex: null, data: { ts: 1_790_000_123n, ...data } };
}

/** A fill of SOL-PERP, 1.5 of the taker's 2 base at 150.2; members have the program's names. */
export function fillAction(members: Readonly<Record<string, unknown>> = {}): ChainEvent {
  return chainEvent('OrderActionRecord', {
    action: 'fill',
    action_explanation: 'orderFilledWithMatch',
    market_index: 0,
    market_type: 'perp',
    filler: MAKER_B,
    filler_reward: 10_000n,
    fill_record_id: 8n,
    base_asset_amount_filled: 1_500_000_000n,
    quote_asset_amount_filled: 225_300_000n,
    taker_fee: 78_855n,
    maker_fee: -5632n,
    referrer_reward: null,
    quote_asset_amount_surplus: 0n,
    spot_fulfillment_method_fee: null,
    taker: MAKER_A,
    taker_order_id: 3,
    taker_order_direction: 'long',
    taker_order_base_asset_amount: 2_000_000_000n,
    taker_order_cumulative_base_asset_amount_filled: 1_500_000_000n,
    taker_order_cumulative_quote_asset_amount_filled: 225_300_000n,
    maker: MAKER_B,
    maker_order_id: 4,
    maker_order_direction: 'short',
    maker_order_base_asset_amount: 1_500_000_000n,
    maker_order_cumulative_base_asset_amount_filled: 1_500_000_000n,
    maker_order_cumulative_quote_asset_amount_filled: 225_300_000n,
    oracle_price: 150_180_000n,
    bit_flags: 1,
    taker_existing_quote_entry_amount: null,
    taker_existing_base_asset_amount: null,
    maker_existing_quote_entry_amount: null,
    maker_existing_base_asset_amount: null,
    trigger_price: null,
    builder_idx: null,
    builder_fee: null,
    ...members,
  });
}
