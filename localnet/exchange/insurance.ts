// The insurance fund of the quote market: revenue flows in; stakers stake, request withdrawals and unstake.

import { max, min } from './amounts.ts';
import { changePool, depositTokens, poolTokens } from './balances.ts';
import type { StoredPerp } from './markets.ts';
import { between, pick } from './random.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { type StakeAccount, spotAt, statsOf, type Trader } from './world.ts';

/** Perp market index in revenue records of a spot market. */
const NO_PERP_MARKET = 0xffff;
const TOTAL_IF_FACTOR = 100_000;
const USER_IF_FACTOR = 50_000;

/** Moves the revenue pool into the vault; shareholders gain in proportion. */
export function settleRevenue(tx: Transaction): void {
  const quote = spotAt(tx.world, 0);
  const market = quote.account;
  const amount = poolTokens(quote, market.revenue_pool) / 2n;
  if (amount <= 0n) return;
  enterExchange(tx, 'SettleRevenueToInsuranceFund');
  const { insurance } = tx.world;
  const before = insurance.vault;
  const vaultBefore = depositTokens(market, market.deposit_balance);
  changePool(quote, market.revenue_pool, -amount);
  insurance.vault += amount;
  market.insurance_fund.last_revenue_settle_ts = BigInt(tx.now);
  touch(tx, quote);
  emit(tx, 'InsuranceFundRecord', {
    ts: BigInt(tx.now),
    spot_market_index: 0,
    perp_market_index: NO_PERP_MARKET,
    user_if_factor: USER_IF_FACTOR,
    total_if_factor: TOTAL_IF_FACTOR,
    vault_amount_before: vaultBefore,
    insurance_vault_amount_before: before,
    total_if_shares_before: market.insurance_fund.total_shares,
    total_if_shares_after: market.insurance_fund.total_shares,
    amount,
  });
  leave(tx);
}

/** A donation to the lenders: raises the deposit interest by the amount. */
export function depositIntoVault(tx: Transaction, spotIndex: number, amount: bigint): void {
  const spot = spotAt(tx.world, spotIndex);
  const market = spot.account;
  const before = depositTokens(market, market.deposit_balance);
  const interestBefore = market.cumulative_deposit_interest;
  if (before <= 0n) return;
  enterExchange(tx, 'DepositIntoSpotMarketVault');
  market.cumulative_deposit_interest += (interestBefore * amount) / before;
  touch(tx, spot);
  emit(tx, 'SpotMarketVaultDepositRecord', {
    ts: BigInt(tx.now),
    market_index: spotIndex,
    deposit_balance: market.deposit_balance,
    cumulative_deposit_interest_before: interestBefore,
    cumulative_deposit_interest_after: market.cumulative_deposit_interest,
    deposit_token_amount_before: before,
    amount,
  });
  leave(tx);
}

/** A staker's next step: stake, request a withdrawal, or unstake the requested amount. */
export function tendStake(tx: Transaction, trader: Trader): void {
  const { insurance, rng } = tx.world;
  const { authority } = trader.account;
  let stake = insurance.stakes.find((candidate) => candidate.authority === authority);
  if (!stake) {
    stake = { authority, shares: 0n, requested: 0n };
    insurance.stakes.push(stake);
  }
  if (stake.requested > 0n) {
    const step = pick(rng, ['unstake', 'unstake', 'unstakeCancelRequest'] as const) ?? 'unstake';
    if (step === 'unstake') unstake(tx, trader, stake);
    else changeRequest(tx, trader, stake, step, 0n);
  } else if (stake.shares > 0n && between(rng, 0, 1) === 0) {
    changeRequest(tx, trader, stake, 'unstakeRequest', max(1n, stake.shares / 2n));
  } else {
    addStake(tx, trader, stake, BigInt(between(rng, 50, 900)) * 1_000_000n);
  }
}

/** Transfers a staker's shares to another staker in one transaction. */
export function transferStake(tx: Transaction, from: Trader, to: Trader): void {
  const { stakes } = tx.world.insurance;
  const giver = stakes.find((stake) => stake.authority === from.account.authority);
  const taker = stakes.find((stake) => stake.authority === to.account.authority);
  if (!giver || !taker || giver === taker || giver.shares < 2n || giver.requested > 0n) return;
  const shares = giver.shares / 2n;
  const amount = worthOfShares(tx, shares);
  inStakeCall(tx, from, giver, 'TransferInsuranceFundStake', 'unstakeTransfer', amount, () => {
    giver.shares -= shares;
  });
  inStakeCall(tx, to, taker, 'TransferInsuranceFundStake', 'stakeTransfer', amount, () => {
    taker.shares += shares;
  });
}

/** The administrator deposits tokens into the vault for all stakers. */
export function depositAsAdmin(tx: Transaction, amount: bigint): void {
  const stake: StakeAccount = { authority: tx.world.state.account.cold_admin, shares: 0n, requested: 0n };
  inStakeCall(tx, null, stake, 'AdminDepositInsuranceFund', 'adminDeposit', amount, () => {
    tx.world.insurance.vault += amount;
  });
}

/** Pays from the vault into a perp market's pool, so that its traders can settle gains. */
export function coverDeficit(tx: Transaction, perp: StoredPerp, amount: bigint): void {
  const quote = spotAt(tx.world, 0);
  const market = quote.account;
  const { insurance } = tx.world;
  if (insurance.vault < amount) return;
  const before = insurance.vault;
  const vaultBefore = depositTokens(market, market.deposit_balance);
  enterExchange(tx, 'ResolvePerpPnlDeficit');
  insurance.vault -= amount;
  changePool(quote, perp.account.pnl_pool, amount);
  perp.account.insurance_claim.quote_settled_insurance += amount;
  touch(tx, quote, perp);
  emit(tx, 'InsuranceFundRecord', {
    ts: BigInt(tx.now),
    spot_market_index: 0,
    perp_market_index: perp.account.market_index,
    user_if_factor: USER_IF_FACTOR,
    total_if_factor: TOTAL_IF_FACTOR,
    vault_amount_before: vaultBefore,
    insurance_vault_amount_before: before,
    total_if_shares_before: market.insurance_fund.total_shares,
    total_if_shares_after: market.insurance_fund.total_shares,
    amount: -amount,
  });
  leave(tx);
}

function addStake(tx: Transaction, trader: Trader, stake: StakeAccount, amount: bigint): void {
  const fund = spotAt(tx.world, 0).account.insurance_fund;
  const shares = (amount * fund.total_shares) / max(1n, tx.world.insurance.vault);
  inStakeCall(tx, trader, stake, 'AddInsuranceFundStake', 'stake', amount, () => {
    stake.shares += shares;
    fund.total_shares += shares;
    fund.user_shares += shares;
    tx.world.insurance.vault += amount;
  });
}

function unstake(tx: Transaction, trader: Trader, stake: StakeAccount): void {
  const fund = spotAt(tx.world, 0).account.insurance_fund;
  const { requested } = stake;
  const amount = min(tx.world.insurance.vault, worthOfShares(tx, requested));
  inStakeCall(tx, trader, stake, 'RemoveInsuranceFundStake', 'unstake', amount, () => {
    stake.shares -= requested;
    stake.requested = 0n;
    fund.total_shares -= requested;
    fund.user_shares -= requested;
    tx.world.insurance.vault -= amount;
  });
}

function changeRequest(
  tx: Transaction,
  trader: Trader,
  stake: StakeAccount,
  action: 'unstakeRequest' | 'unstakeCancelRequest',
  requested: bigint,
): void {
  const amount = worthOfShares(tx, requested === 0n ? stake.requested : requested);
  const instruction =
    action === 'unstakeRequest' ? 'RequestRemoveInsuranceFundStake' : 'CancelRequestRemoveInsuranceFundStake';
  inStakeCall(tx, trader, stake, instruction, action, amount, () => {
    stake.requested = requested;
  });
}

function worthOfShares(tx: Transaction, shares: bigint): bigint {
  const { total_shares: total } = spotAt(tx.world, 0).account.insurance_fund;
  return (shares * tx.world.insurance.vault) / max(1n, total);
}

function inStakeCall(
  tx: Transaction,
  trader: Trader | null,
  stake: StakeAccount,
  instruction: string,
  action: string,
  amount: bigint,
  change: () => void,
): void {
  const quote = spotAt(tx.world, 0);
  const fund = quote.account.insurance_fund;
  const before = { shares: stake.shares, user: fund.user_shares, total: fund.total_shares };
  const vaultBefore = tx.world.insurance.vault;
  enterExchange(tx, instruction);
  change();
  touch(tx, quote);
  if (trader) {
    const stats = statsOf(tx.world, trader);
    stats.account.if_staked_quote_asset_amount = worthOfShares(tx, stake.shares);
    touch(tx, stats);
  }
  emit(tx, 'InsuranceFundStakeRecord', {
    ts: BigInt(tx.now),
    user_authority: stake.authority,
    action,
    amount,
    market_index: 0,
    insurance_vault_amount_before: vaultBefore,
    if_shares_before: before.shares,
    user_if_shares_before: before.user,
    total_if_shares_before: before.total,
    if_shares_after: stake.shares,
    user_if_shares_after: fund.user_shares,
    total_if_shares_after: fund.total_shares,
  });
  leave(tx);
}
