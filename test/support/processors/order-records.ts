// Order records for tests of the orders of accounts.

import { type ChainEvent, decodeMessage, encodeMessage, type OpenOrders } from '../../../schemas/index.ts';

export const USERS = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));
export const options = (firstEpoch = 5) => ({
  part: 2,
  firstEpoch,
  encode: (orders: OpenOrders) => encodeMessage('OpenOrders', orders),
  decode: (bytes: Uint8Array) => decodeMessage(bytes).value as OpenOrders,
});

let index = 0;
function event(name: string, slot: number, data: ChainEvent['data']): ChainEvent {
  index += 1;
  const signature = new Uint8Array(64);
  new DataView(signature.buffer).setUint32(0, index);
  return { name, signature, eventIndex: 0, slot, txIndex: null, data: { ts: 1_700_000_000n, ...data } } as ChainEvent;
}

/** An OrderRecord. */
export function placing(user: Uint8Array, id: number, market: number, base: bigint, slot = 10): ChainEvent {
  return event('OrderRecord', slot, {
    user,
    order_market_type: 'perp',
    order_market_index: market,
    order_order_id: id,
    order_user_order_id: 0,
    order_order_type: 'limit',
    order_direction: 'long',
    order_price: 5_000_000n,
    order_base_asset_amount: base,
    order_base_asset_amount_filled: 0n,
    order_trigger_price: 0n,
    order_trigger_condition: 'above',
    order_oracle_price_offset: 0n,
    order_post_only: true,
    order_reduce_only: false,
    order_slot: BigInt(slot),
    order_max_ts: 0n,
  });
}

interface Side {
  readonly user: Uint8Array;
  readonly id: number;
  readonly filled: bigint;
  readonly base?: bigint;
}

/** An OrderActionRecord. */
export function action(
  name: string,
  market: number,
  sides: { readonly taker?: Side; readonly maker?: Side },
  slot = 10,
) {
  const data: Record<string, unknown> = {
    action: name,
    action_explanation: 'none',
    market_type: 'perp',
    market_index: market,
    fill_record_id: 77n,
    base_asset_amount_filled: 1n,
    quote_asset_amount_filled: 2n,
    taker: null,
    maker: null,
  };
  for (const [side, { user, id, filled, base = 1_000n }] of Object.entries(sides)) {
    data[side] = user;
    data[`${side}_order_id`] = id;
    data[`${side}_order_base_asset_amount`] = base;
    data[`${side}_order_cumulative_base_asset_amount_filled`] = filled;
  }
  return event('OrderActionRecord', slot, data as ChainEvent['data']);
}
