// Failing transactions: they have logs and even records but change nothing, so readers must skip them.

import { below, pick } from './random.ts';
import { exchangeError } from './submitted/errors.ts';
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

/** Frequent errors of the exchange, by their names in the IDL. */
const ERRORS: readonly string[] = [
  'InsufficientCollateral',
  'OrderDoesNotExist',
  'PlacePostOnlyLimitFailure',
  'UserHasNoPositionInMarket',
];

export function failSomething(tx: Transaction): void {
  const { rng, traders } = tx.world;
  const trader = pick(rng, traders);
  const error = pick(rng, ERRORS);
  if (!trader?.alive || !error) return;
  const marketIndex = below(rng, tx.world.perps.length);
  computeBudget(tx);
  if (below(rng, 3) === 0) enterThroughProxy(tx, 'PlacePerpOrder');
  else enterExchange(tx, 'PlacePerpOrder');
  mention(tx, trader.key);
  if (below(rng, 2) === 0) {
    // Printed before the instruction failed, and rolled back with it.
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
  const { code, lines } = exchangeError(error);
  for (const line of lines) note(tx, line);
  fail(tx, Number(code));
}
