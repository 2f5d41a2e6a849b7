// Transactions that fail: they carry logs, even records, and change nothing; readers must skip them.

import { below, pick } from './prng.ts';
import {
  computeBudget,
  emit,
  enterExchange,
  enterThroughProxy,
  fail,
  mention,
  note,
  type Transaction,
} from './transaction.ts';
import { perpPrice } from './world.ts';

/** Errors of the exchange that users meet most, by code. */
const ERRORS: readonly (readonly [number, string, string])[] = [
  [6003, 'InsufficientCollateral', 'Insufficient collateral'],
  [6061, 'OrderDoesNotExist', 'Order does not exist'],
  [6063, 'PlacePostOnlyLimitFailure', 'Failed to place post-only limit order'],
  [6010, 'UserHasNoPositionInMarket', 'User Has No Position In Market'],
];

export function failSomething(tx: Transaction): void {
  const { rng, traders } = tx.world;
  const trader = pick(rng, traders);
  const error = pick(rng, ERRORS);
  if (!trader?.alive || !error) return;
  const [code, name, message] = error;
  const marketIndex = below(rng, tx.world.perps.length);
  computeBudget(tx);
  if (below(rng, 3) === 0) enterThroughProxy(tx, 'PlacePerpOrder');
  else enterExchange(tx, 'PlacePerpOrder');
  mention(tx, trader.key);
  if (below(rng, 2) === 0) {
    // Printed before the instruction gave up, and rolled back with it.
    emit(tx, 'OrderActionRecord', {
      ts: BigInt(tx.now),
      action: 'place',
      action_explanation: 'none',
      market_index: marketIndex,
      market_type: 'perp',
      taker: trader.key,
      taker_order_id: trader.account.next_order_id,
      taker_order_direction: 'long',
      taker_order_base_asset_amount: 1_000_000_000n,
      taker_order_cumulative_base_asset_amount_filled: 0n,
      taker_order_cumulative_quote_asset_amount_filled: 0n,
      oracle_price: perpPrice(tx.world, marketIndex),
    });
  }
  note(tx, `AnchorError occurred. Error Code: ${name}. Error Number: ${code}. Error Message: ${message}.`);
  fail(tx, code);
}
