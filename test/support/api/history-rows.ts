// Stored events of accounts and spot markets for history tests. Keys are 32 equal letters, which are easy to read.

import bs58 from 'bs58';
import { NOW } from './history-stage.ts';

type Row = Record<string, unknown>;

/** The base58 text of a stored key of 32 equal letters. */
export function keyText(letter: string): string {
  return bs58.encode(Buffer.from(letter.repeat(32)));
}

/** An account, and its counterparty. */
export const USER = 'u'.repeat(32);
export const USER_ID = keyText('u');
export const OTHER = 'o'.repeat(32);
export const OTHER_ID = keyText('o');

let nextId = 1;

/** The head of an event; signatures and slots grow from call to call. */
function head(): Row {
  const id = nextId++;
  return {
    // Padding makes signatures sort like the ids.
    signature: `e${id.toString().padStart(63, '0')}`,
    event_index: 1,
    slot: (5_000 + id).toString(),
    tx_index: null,
    ts: NOW - 100,
  };
}

/** A deposit of 2.5 USDT. */
export function deposit(members: Row = {}): Row {
  return {
    ...head(),
    user_authority: 'a'.repeat(32),
    user: USER,
    direction: 'deposit',
    deposit_record_id: '18446744073709551615',
    amount: '2500000',
    market_index: 0,
    oracle_price: '1000000',
    market_deposit_balance: '340282366920938463463374607431768211455',
    market_withdraw_balance: '7',
    market_cumulative_deposit_interest: '10000000001',
    market_cumulative_borrow_interest: '10000000002',
    total_deposits_after: '2500000',
    total_withdraws_after: '0',
    explanation: 'none',
    transfer_user: null,
    signer: null,
    user_token_amount_after: '-170141183460469231731687303715884105728',
    ...members,
  };
}

/** A swap of 150 USDT for 1 SOL. */
export function swap(members: Row = {}): Row {
  return {
    ...head(),
    user: USER,
    amount_out: '1000000000',
    amount_in: '150000000',
    out_market_index: 1,
    in_market_index: 0,
    out_oracle_price: '149900000',
    in_oracle_price: '1000000',
    fee: '3',
    ...members,
  };
}

export function fundingPayment(members: Row = {}): Row {
  return {
    ...head(),
    user_authority: 'a'.repeat(32),
    user: USER,
    market_index: 0,
    funding_payment: '-78750',
    base_asset_amount: '2500000000',
    user_last_cumulative_funding: '1',
    amm_cumulative_funding_long: '31500001',
    amm_cumulative_funding_short: '31500000',
    ...members,
  };
}

export function settlement(members: Row = {}): Row {
  return {
    ...head(),
    user: USER,
    market_index: 1,
    pnl: '-5000000',
    base_asset_amount: '-10',
    quote_asset_amount_after: '-20',
    quote_entry_amount: '30',
    settle_price: '150000000',
    explanation: 'none',
    ...members,
  };
}

/** A liquidation of a perp position, with zeros for other types. */
export function liquidation(members: Row = {}): Row {
  return {
    ...head(),
    liquidation_type: 'liquidatePerp',
    user: USER,
    liquidator: OTHER,
    margin_requirement: '1000000',
    total_collateral: '-1',
    margin_freed: '5',
    liquidation_id: 65_535,
    bankrupt: false,
    canceled_order_ids: [4, 5],
    liquidate_perp_market_index: 1,
    liquidate_perp_base_asset_amount: '-1000000000',
    liquidate_perp_fill_record_id: '9',
    liquidate_perp_protocol_fee: '12',
    bit_flags: 1,
    ...members,
  };
}

export function insuranceFund(members: Row = {}): Row {
  return {
    ...head(),
    spot_market_index: 0,
    perp_market_index: 1,
    user_if_factor: 500_000,
    total_if_factor: 1_000_000,
    vault_amount_before: '100',
    insurance_vault_amount_before: '200',
    total_if_shares_before: '300',
    total_if_shares_after: '400',
    amount: '-50',
    ...members,
  };
}

export function insuranceFundStake(members: Row = {}): Row {
  return {
    ...head(),
    user_authority: 'a'.repeat(32),
    action: 'unstakeRequest',
    amount: '70',
    market_index: 0,
    insurance_vault_amount_before: '1',
    if_shares_before: '2',
    if_shares_after: '3',
    user_if_shares_before: '4',
    user_if_shares_after: '5',
    total_if_shares_before: '6',
    total_if_shares_after: '7',
    ...members,
  };
}

/** A limit order of 2 SOL-PERP at 150. */
export function placement(orderId: number, members: Row = {}): Row {
  return {
    ...head(),
    user: USER,
    order_order_id: orderId,
    order_user_order_id: 8,
    order_market_index: 0,
    order_market_type: 'perp',
    order_status: 'open',
    order_order_type: 'limit',
    order_direction: 'long',
    order_existing_position_direction: 'short',
    order_trigger_condition: 'above',
    order_price: '150000000',
    order_base_asset_amount: '2000000000',
    order_oracle_price_offset: '-7',
    order_max_ts: '0',
    ...members,
  };
}

/** An action with the account's order as taker order. */
export function orderAction(orderId: number, action: string, members: Row = {}): Row {
  return {
    ...head(),
    action,
    action_explanation: 'none',
    market_index: 0,
    market_type: 'perp',
    taker: USER,
    taker_order_id: orderId,
    taker_order_direction: 'long',
    taker_order_base_asset_amount: '2000000000',
    taker_order_cumulative_base_asset_amount_filled: '0',
    taker_order_cumulative_quote_asset_amount_filled: '0',
    oracle_price: '150000000',
    bit_flags: 0,
    ...members,
  };
}

/** A fill of the order at 150, with `filled` whole units filled afterwards. */
export function orderFill(orderId: number, base: number, filled: number, members: Row = {}): Row {
  return orderAction(orderId, 'fill', {
    action_explanation: 'orderFilledWithMatch',
    fill_record_id: String(nextId),
    base_asset_amount_filled: String(base * 1e9),
    quote_asset_amount_filled: String(base * 150e6),
    taker_fee: '1000',
    maker: OTHER,
    maker_order_id: 77,
    maker_order_direction: 'short',
    maker_fee: '-200',
    taker_order_cumulative_base_asset_amount_filled: String(filled * 1e9),
    taker_order_cumulative_quote_asset_amount_filled: String(filled * 150e6),
    ...members,
  });
}
