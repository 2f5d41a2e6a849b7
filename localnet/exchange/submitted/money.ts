// Deposits and withdrawals between a wallet's token account and a spot market.

import { min } from '../amounts.ts';
import { tokensOf } from '../balances.ts';
import { TOKEN_PROGRAM } from '../keys.ts';
import type { StoredSpot } from '../markets.ts';
import { type Stored, USER_BANKRUPT } from '../model.ts';
import { availableTokens, depositTo, withdrawOrBorrow } from '../savings.ts';
import { enter, enterExchange, touch } from '../transaction.ts';
import type { Trader } from '../world.ts';
import { type Call, expectKey, expectRemaining, ownUserOf } from './context.ts';
import { constraint, exchangeError, insufficientFunds } from './errors.ts';
import type { TokenAccount } from './guests.ts';
import { freeInitialCollateral } from './margin.ts';

export function deposit(call: Call): void {
  const { tx } = call;
  const trader = ownUserOf(call);
  const spot = marketOf(call);
  const source = tokensFor(call, spot);
  const { amount: wanted, reduce_only: reduceOnly } = call.args as { amount: bigint; reduce_only: boolean };
  if (wanted === 0n) throw exchangeError('InsufficientDeposit');
  if ((trader.account.status & USER_BANKRUPT) !== 0) throw exchangeError('UserBankrupt');
  const held = tokensOf(trader, spot);
  const amount = reduceOnly && held < 0n ? min(wanted, -held) : wanted;
  if (source.account.amount < amount) {
    enterExchange(tx, 'Deposit');
    enter(tx, TOKEN_PROGRAM, 'TransferChecked');
    throw insufficientFunds();
  }
  checkSlot(trader, spot);
  source.account.amount -= amount;
  touch(tx, source);
  depositTo(tx, trader, spot.account.market_index, amount);
}

export function withdraw(call: Call): void {
  const { tx } = call;
  const trader = ownUserOf(call);
  if (call.accounts.authority !== trader.account.authority) throw constraint('ConstraintRaw', 'user');
  expectKey(call, 'velocity_signer', tx.world.state.account.signer);
  const spot = marketOf(call);
  const target = tokensFor(call, spot);
  const { amount: wanted, reduce_only: reduceOnly } = call.args as { amount: bigint; reduce_only: boolean };
  const held = tokensOf(trader, spot);
  if (reduceOnly && held <= 0n) throw exchangeError('ReduceOnlyWithdrawIncreasedRisk');
  const amount = reduceOnly ? min(wanted, held) : wanted;
  if (amount === 0n || amount > availableTokens(spot)) throw exchangeError('SpotMarketInsufficientDeposits');
  checkSlot(trader, spot);
  withdrawOrBorrow(tx, trader, spot, amount);
  if (freeInitialCollateral(tx.world, trader) < 0n) {
    throw exchangeError(
      'InsufficientCollateral',
      'User attempting to withdraw where total_collateral is below the margin',
    );
  }
  target.account.amount += amount;
  touch(tx, target);
}

function marketOf(call: Call): StoredSpot {
  const index = call.args.market_index as number;
  const spot = call.tx.world.spots[index];
  if (!spot) throw exchangeError('SpotMarketNotFound');
  expectKey(call, 'spot_market_vault', spot.account.vault);
  expectKey(call, 'token_program', TOKEN_PROGRAM);
  expectRemaining(call, [spot.account.oracle, spot.key], () => exchangeError('SpotMarketNotFound'));
  return spot;
}

/** The wallet's token account that the instruction names. */
function tokensFor(call: Call, spot: StoredSpot): Stored<TokenAccount> {
  const found = call.tx.world.guests.tokens.get(call.accounts.user_token_account ?? '');
  if (!found) throw constraint('AccountNotInitialized', 'user_token_account');
  if (found.account.mint !== spot.account.mint) throw constraint('ConstraintRaw', 'user_token_account');
  return found;
}

/** A user has eight spot positions. */
export function checkSlot(trader: Trader, spot: StoredSpot): void {
  const { spot_positions: positions } = trader.account;
  const isKnown = positions.some(({ market_index: index }) => index === spot.account.market_index);
  if (!isKnown && positions.length >= 8) throw exchangeError('NoSpotPositionAvailable');
}
