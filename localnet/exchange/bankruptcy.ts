// Bankruptcies: the insurance fund pays its part of uncovered losses, and all traders share the rest.

import { BASE_SCALE, FUNDING_BUFFER, max, min } from './amounts.ts';
import { changePool, changeTokens, tokensOf } from './balances.ts';
import { emitLiquidation } from './liquidation-record.ts';
import type { StoredSpot } from './markets.ts';
import { type PerpPosition, USER_BANKRUPT, USER_BEING_LIQUIDATED } from './model.ts';
import { touchTrader } from './orders.ts';
import { changeQuote } from './positions.ts';
import { enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { perpAt, spotAt, type Trader } from './world.ts';

/** The insurance fund pays at most this part of one loss, so that runs also show shared losses. */
const COVERED_PARTS = 4n;
const COVERED_OF = 5n;
const SMALLEST_LOSS = 1_000n;

/** Writes off one uncovered loss of a trader. Returns false when there is none. */
export function resolveBankruptcy(tx: Transaction, trader: Trader, liquidator: Trader): boolean {
  const losing = trader.account.perp_positions.find(
    (position) => position.base_asset_amount === 0n && position.quote_asset_amount < -SMALLEST_LOSS,
  );
  if (!losing) return writeOffDebt(tx, trader, liquidator);
  resolvePerp(tx, trader, liquidator, losing);
  return true;
}

/** Writes off a trader's debt in one token. Returns false without a debt. */
export function writeOffDebt(tx: Transaction, trader: Trader, liquidator: Trader): boolean {
  const debt = tx.world.spots.find((spot) => tokensOf(trader, spot) < 0n);
  if (debt) resolveSpot(tx, trader, liquidator, debt);
  return debt !== undefined;
}

function markBankrupt(tx: Transaction, trader: Trader, instruction: string): void {
  enterExchange(tx, instruction);
  if ((trader.account.status & USER_BEING_LIQUIDATED) === 0) trader.account.next_liquidation_id++;
  trader.account.status = (trader.account.status | USER_BANKRUPT) & ~USER_BEING_LIQUIDATED;
}

function clear(tx: Transaction, trader: Trader, liquidator: Trader): void {
  trader.account.status &= ~USER_BANKRUPT;
  touchTrader(tx, trader);
  touch(tx, liquidator);
  leave(tx);
}

function resolvePerp(tx: Transaction, trader: Trader, liquidator: Trader, position: PerpPosition): void {
  const perp = perpAt(tx.world, position.market_index);
  const market = perp.account;
  const quote = spotAt(tx.world, 0);
  markBankrupt(tx, trader, 'ResolvePerpBankruptcy');
  const loss = -position.quote_asset_amount;
  const insurance = takeInsurance(tx, loss);
  market.insurance_claim.quote_settled_insurance += insurance;
  changePool(quote, market.pnl_pool, insurance);
  const shared = loss - insurance;
  const open = market.base_asset_amount_long - market.base_asset_amount_short;
  const delta = open > 0n ? (shared * BASE_SCALE * FUNDING_BUFFER) / open : 0n;
  changeQuote(perp, position, loss);
  // Every position pays through the funding of its side.
  market.cumulative_funding_rate_long += delta;
  market.cumulative_funding_rate_short -= delta;
  market.total_social_loss += shared;
  trader.account.total_social_loss += shared;
  touch(tx, perp, quote);
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'perpBankruptcy',
    { marginFreed: 0n },
    {
      market_index: market.market_index,
      pnl: -loss,
      if_payment: insurance,
      clawback_user: null,
      clawback_user_payment: null,
      cumulative_funding_rate_delta: delta,
    },
  );
  clear(tx, trader, liquidator);
}

function resolveSpot(tx: Transaction, trader: Trader, liquidator: Trader, spot: StoredSpot): void {
  const market = spot.account;
  markBankrupt(tx, trader, 'ResolveSpotBankruptcy');
  const borrowed = -tokensOf(trader, spot);
  const insurance = market.market_index === 0 ? takeInsurance(tx, borrowed) : 0n;
  const shared = borrowed - insurance;
  const scale = 10n ** BigInt(19 - market.decimals);
  const delta = min(market.cumulative_deposit_interest / 100n, (shared * scale) / max(1n, market.deposit_balance));
  changeTokens(trader, spot, borrowed);
  market.cumulative_deposit_interest -= delta;
  market.total_social_loss += shared;
  touch(tx, spot);
  emitLiquidation(
    tx,
    trader,
    liquidator,
    'spotBankruptcy',
    { marginFreed: 0n },
    {
      market_index: market.market_index,
      borrow_amount: borrowed,
      if_payment: insurance,
      cumulative_deposit_interest_delta: delta,
    },
  );
  clear(tx, trader, liquidator);
}

/** Takes the insurance payment for a loss out of the vault. */
function takeInsurance(tx: Transaction, loss: bigint): bigint {
  const { insurance } = tx.world;
  const payment = min((loss * COVERED_PARTS) / COVERED_OF, insurance.vault / 10n);
  insurance.vault -= payment;
  return payment;
}
