// Tokens in and out: deposits, withdrawals, transfers between sub-accounts, rewards, swaps and interest.

import { abs, max, min } from './amounts.ts';
import { borrowTokens, changeTokens, depositTokens, tokensOf } from './balances.ts';
import { TOKEN_PROGRAM } from './keys.ts';
import { freeCollateral } from './margin.ts';
import type { StoredSpot } from './markets.ts';
import { updateSpotHistory } from './oracles.ts';
import { touchTrader } from './orders.ts';
import { purseOf } from './population.ts';
import { below, chance, pick, uniform } from './random.ts';
import { emit, enter, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { spotAt, spotPrice, type Trader } from './world.ts';

const SECONDS_PER_YEAR = 31_536_000n;
const RATE_SCALE = 1_000_000n;
/** Part of a swap taken as fee. */
const SWAP_FEE_PART = 2_000n;

export type Explanation = 'none' | 'transfer' | 'borrow' | 'repayBorrow' | 'reward';

/** Books a deposit (positive) or withdrawal and emits its record. */
function move(
  tx: Transaction,
  trader: Trader,
  spot: StoredSpot,
  amount: bigint,
  explanation: Explanation,
  other: Trader | null,
): void {
  const market = spot.account;
  const user = trader.account;
  changeTokens(trader, spot, amount);
  const worth = (abs(amount) * spotPrice(tx.world, market.market_index)) / 10n ** BigInt(market.decimals);
  if (amount > 0n) user.total_deposits += worth;
  else user.total_withdraws += worth;
  touchTrader(tx, trader);
  touch(tx, spot);
  emitDeposit(tx, trader, spot, amount, explanation, other);
}

function emitDeposit(
  tx: Transaction,
  trader: Trader,
  spot: StoredSpot,
  amount: bigint,
  explanation: Explanation,
  other: Trader | null,
): void {
  const market = spot.account;
  const user = trader.account;
  emit(tx, 'DepositRecord', {
    ts: BigInt(tx.now),
    user_authority: user.authority,
    user: trader.key,
    direction: amount > 0n ? 'deposit' : 'withdraw',
    deposit_record_id: market.next_deposit_record_id++,
    amount: abs(amount),
    market_index: market.market_index,
    oracle_price: spotPrice(tx.world, market.market_index),
    market_deposit_balance: market.deposit_balance,
    market_withdraw_balance: market.borrow_balance,
    market_cumulative_deposit_interest: market.cumulative_deposit_interest,
    market_cumulative_borrow_interest: market.cumulative_borrow_interest,
    total_deposits_after: user.total_deposits,
    total_withdraws_after: user.total_withdraws,
    explanation,
    transfer_user: other?.key ?? null,
    signer: explanation === 'reward' ? tx.world.state.account.hot_amm_crank : user.authority,
    user_token_amount_after: tokensOf(trader, spot),
  });
}

/** Emits the record of a genesis deposit. */
export function announceDeposit(tx: Transaction, trader: Trader, spot: StoredSpot): void {
  const amount = tokensOf(trader, spot);
  if (amount <= 0n) return;
  enterExchange(tx, 'Deposit');
  touch(tx, spot);
  emitDeposit(tx, trader, spot, amount, 'none', null);
  leave(tx);
}

export function tokenTransfer(tx: Transaction): void {
  enter(tx, TOKEN_PROGRAM, 'TransferChecked');
  leave(tx);
}

export function depositTo(tx: Transaction, trader: Trader, spotIndex: number, amount: bigint): void {
  const spot = spotAt(tx.world, spotIndex);
  const explanation = tokensOf(trader, spot) < 0n ? 'repayBorrow' : 'none';
  enterExchange(tx, 'Deposit');
  tokenTransfer(tx);
  move(tx, trader, spot, amount, explanation, null);
  leave(tx);
}

/** Tokens that a market's depositors have and its borrowers have not taken. */
export function availableTokens({ account: market }: StoredSpot): bigint {
  return depositTokens(market, market.deposit_balance) - borrowTokens(market, market.borrow_balance);
}

/** Withdraws an amount that the caller has checked. Tokens beyond the balance are borrowed. */
export function withdrawOrBorrow(tx: Transaction, trader: Trader, spot: StoredSpot, amount: bigint): void {
  enterExchange(tx, 'Withdraw');
  tokenTransfer(tx);
  move(tx, trader, spot, -amount, tokensOf(trader, spot) < amount ? 'borrow' : 'none', null);
  leave(tx);
}

/** Withdraws tokens within the margin. Tokens beyond the balance are borrowed. */
function withdrawFrom(tx: Transaction, trader: Trader, spotIndex: number, wanted: bigint): void {
  const spot = spotAt(tx.world, spotIndex);
  const free = max(0n, freeCollateral(tx.world, trader)) / 2n;
  const affordable = (free * 10n ** BigInt(spot.account.decimals)) / spotPrice(tx.world, spotIndex);
  const amount = min(wanted, affordable);
  if (amount <= 0n || amount * 2n > availableTokens(spot)) return;
  withdrawOrBorrow(tx, trader, spot, amount);
}

/** Transfers quote between two sub-accounts of one wallet: one record each. */
export function transferBetween(tx: Transaction, from: Trader, to: Trader): void {
  const quote = spotAt(tx.world, 0);
  const free = min(tokensOf(from, quote), max(0n, freeCollateral(tx.world, from)));
  const amount = free / BigInt(8 + below(tx.world.rng, 20));
  if (amount <= 0n) return;
  enterExchange(tx, 'TransferDeposit');
  move(tx, from, quote, -amount, 'transfer', to);
  move(tx, to, quote, amount, 'transfer', from);
  leave(tx);
}

export function reward(tx: Transaction, trader: Trader): void {
  enterExchange(tx, 'DepositReward');
  tokenTransfer(tx);
  move(tx, trader, spotAt(tx.world, 0), BigInt(1 + below(tx.world.rng, 40)) * 1_000_000n, 'reward', null);
  leave(tx);
}

/** Exchanges part of one deposit for another token at the oracle price. */
export function swap(tx: Transaction, trader: Trader): void {
  const { rng, spots } = tx.world;
  const from = pick(rng, spots);
  const to = pick(rng, spots);
  if (!from || !to || from === to) return;
  const held = tokensOf(trader, from);
  const amountIn = (held * BigInt(1 + below(rng, 10))) / 100n;
  if (amountIn <= 0n) return;
  const [inIndex, outIndex] = [from.account.market_index, to.account.market_index];
  const worth = (amountIn * spotPrice(tx.world, inIndex)) / 10n ** BigInt(from.account.decimals);
  const fee = worth / SWAP_FEE_PART;
  const amountOut = ((worth - fee) * 10n ** BigInt(to.account.decimals)) / spotPrice(tx.world, outIndex);
  enterExchange(tx, 'BeginSwap');
  leave(tx);
  tokenTransfer(tx);
  enterExchange(tx, 'EndSwap');
  bookSwap(tx, trader, { from, to, amountIn, amountOut, fee });
  leave(tx);
}

export interface Swapped {
  readonly from: StoredSpot;
  readonly to: StoredSpot;
  /** Token units. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Quote, 1e6. */
  readonly fee: bigint;
}

/** Books both sides of a swap and emits its record. */
export function bookSwap(tx: Transaction, trader: Trader, { from, to, amountIn, amountOut, fee }: Swapped): void {
  const [inIndex, outIndex] = [from.account.market_index, to.account.market_index];
  changeTokens(trader, from, -amountIn);
  changeTokens(trader, to, amountOut);
  to.account.total_swap_fee += fee;
  touchTrader(tx, trader);
  touch(tx, from, to);
  emit(tx, 'SwapRecord', {
    ts: BigInt(tx.now),
    user: trader.key,
    amount_out: amountOut,
    amount_in: amountIn,
    out_market_index: outIndex,
    in_market_index: inIndex,
    out_oracle_price: spotPrice(tx.world, outIndex),
    in_oracle_price: spotPrice(tx.world, inIndex),
    fee,
  });
}

/** Adds accrued interest. Lenders get the borrowers' payments less the insurance share. */
export function accrueInterest(tx: Transaction, spot: StoredSpot): void {
  const market = spot.account;
  const since = BigInt(tx.now) - market.last_interest_ts;
  if (since <= 0n) return;
  const deposits = max(1n, depositTokens(market, market.deposit_balance));
  const borrows = borrowTokens(market, market.borrow_balance);
  const utilization = (borrows * RATE_SCALE) / deposits;
  const optimal = BigInt(market.optimal_utilization);
  const optimalRate = BigInt(market.optimal_borrow_rate);
  const rate =
    utilization <= optimal
      ? (optimalRate * utilization) / optimal
      : optimalRate +
        ((BigInt(market.max_borrow_rate) - optimalRate) * (utilization - optimal)) / (RATE_SCALE - optimal + 1n);
  const grown = (market.cumulative_borrow_interest * rate * since) / SECONDS_PER_YEAR / RATE_SCALE;
  const earned =
    (market.cumulative_deposit_interest * rate * since * utilization) / SECONDS_PER_YEAR / RATE_SCALE / RATE_SCALE;
  enterExchange(tx, 'UpdateSpotMarketCumulativeInterest');
  market.cumulative_borrow_interest += grown;
  market.cumulative_deposit_interest += (earned * 9n) / 10n;
  market.last_interest_ts = BigInt(tx.now);
  market.utilization_twap = (market.utilization_twap * 15n + utilization) / 16n;
  market.deposit_token_twap = (market.deposit_token_twap * 15n + deposits) / 16n;
  market.borrow_token_twap = (market.borrow_token_twap * 15n + borrows) / 16n;
  market.last_twap_ts = BigInt(tx.now);
  updateSpotHistory(tx, market.market_index);
  touch(tx, spot);
  emit(tx, 'SpotInterestRecord', {
    ts: BigInt(tx.now),
    market_index: market.market_index,
    deposit_balance: market.deposit_balance,
    cumulative_deposit_interest: market.cumulative_deposit_interest,
    borrow_balance: market.borrow_balance,
    cumulative_borrow_interest: market.cumulative_borrow_interest,
    optimal_utilization: market.optimal_utilization,
    optimal_borrow_rate: market.optimal_borrow_rate,
    max_borrow_rate: market.max_borrow_rate,
  });
  leave(tx);
}

/** Balances a trader's deposit: tops up a small one, withdraws from a large one, borrows or repays a token. */
export function tendPurse(tx: Transaction, trader: Trader): void {
  const { rng } = tx.world;
  const purse = purseOf(trader.role);
  const held = tokensOf(trader, spotAt(tx.world, 0));
  if (held < purse / 2n) {
    depositTo(tx, trader, 0, purse - held);
  } else if (held > (purse * 3n) / 2n) {
    withdrawFrom(tx, trader, 0, held - purse);
  } else if (trader.role === 'saver' || trader.role === 'gambler') {
    tendToken(tx, trader, 1 + below(rng, 2));
  } else if (chance(rng, 0.5)) {
    depositTo(tx, trader, 0, purse / BigInt(20 + below(rng, 100)));
  } else {
    withdrawFrom(tx, trader, 0, purse / BigInt(20 + below(rng, 100)));
  }
}

function tendToken(tx: Transaction, trader: Trader, spotIndex: number): void {
  const spot = spotAt(tx.world, spotIndex);
  const held = tokensOf(trader, spot);
  const unit = (1_000_000_000n * 10n ** BigInt(spot.account.decimals)) / spotPrice(tx.world, spotIndex);
  const amount = max(1n, (unit * BigInt(1 + Math.floor(uniform(tx.world.rng) * 40))) / 20n);
  if (held < 0n && chance(tx.world.rng, 0.6))
    depositTo(tx, trader, spotIndex, chance(tx.world.rng, 0.5) ? -held : min(-held, amount));
  else if (chance(tx.world.rng, 0.5)) depositTo(tx, trader, spotIndex, amount);
  else withdrawFrom(tx, trader, spotIndex, amount);
}

/** Withdraws an amount that the caller has checked. */
export function withdrawTokens(tx: Transaction, trader: Trader, spot: StoredSpot, amount: bigint): void {
  enterExchange(tx, 'Withdraw');
  tokenTransfer(tx);
  move(tx, trader, spot, -amount, 'none', null);
  leave(tx);
}

/** Withdraws a whole deposit before an account closes. The rounding remainder stays with the market. */
export function withdrawAll(tx: Transaction, trader: Trader, spot: StoredSpot): void {
  withdrawTokens(tx, trader, spot, tokensOf(trader, spot));
}
