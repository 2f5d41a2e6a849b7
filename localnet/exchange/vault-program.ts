// The vault program: deposits for shares, withdrawal requests, withdrawals, and the manager's fees. Token transfers go to the
// exchange in the same transaction. Shares and fees are truncated like in the program.

import { max, min } from './amounts.ts';
import { signedTokens, tokensOf } from './balances.ts';
import { freeCollateral } from './margin.ts';
import { positionPnl, unpaidFunding } from './positions.ts';
import { depositTo, withdrawTokens } from './savings.ts';
import { emit, enterVaults, leave, mention, type Transaction, touch } from './transaction.ts';
import { noRequest, type StoredDepositor, type VaultBook, type WithdrawRequest } from './vault-model.ts';
import { perpAt, perpPrice, spotAt, spotPrice, type Trader, traderById, type World } from './world.ts';

/** Scale of fees and profit shares. */
const RATE_SCALE = 1_000_000n;
const SECONDS_PER_YEAR = 31_536_000n;

export type DepositorAction = 'deposit' | 'withdrawRequest' | 'cancelWithdrawRequest' | 'withdraw' | 'feePayment';

export function vaultTrader(world: World, { traderId }: VaultBook): Trader {
  return traderById(world, traderId);
}

/** Value of the vault's account at oracle prices, in the vault's token; 0 when its debts exceed its assets. */
export function vaultEquity(world: World, book: VaultBook): bigint {
  const trader = vaultTrader(world, book);
  let quote = 0n;
  for (const position of trader.account.spot_positions) {
    const spot = spotAt(world, position.market_index).account;
    quote += (signedTokens(spot, position) * spotPrice(world, position.market_index)) / 10n ** BigInt(spot.decimals);
  }
  for (const position of trader.account.perp_positions) {
    const { market_index: index } = position;
    quote += positionPnl(position, perpPrice(world, index)) + unpaidFunding(perpAt(world, index).account, position);
  }
  const { spot_market_index: index } = book.vault.account;
  return (max(0n, quote) * 10n ** BigInt(spotAt(world, index).account.decimals)) / spotPrice(world, index);
}

function sharesOf(amount: bigint, totalShares: bigint, equity: bigint): bigint {
  return totalShares === 0n ? amount : (amount * totalShares) / equity;
}

function worthOf(shares: bigint, totalShares: bigint, equity: bigint): bigint {
  return totalShares === 0n ? 0n : (shares * equity) / totalShares;
}

interface Fees {
  readonly profitShare: bigint;
  readonly managementFee: bigint;
  readonly managementFeeShares: bigint;
}

/** Charges the accrued management fee as new shares of the manager. */
function chargeManagement(tx: Transaction, { vault: { account: vault } }: VaultBook, equity: bigint): Fees {
  const since = BigInt(tx.now) - vault.last_fee_update_ts;
  vault.last_fee_update_ts = BigInt(tx.now);
  const depositorsEquity = worthOf(vault.user_shares, vault.total_shares, equity);
  const fee = (depositorsEquity * vault.management_fee * since) / RATE_SCALE / SECONDS_PER_YEAR;
  if (fee <= 0n || fee >= equity) return { profitShare: 0n, managementFee: 0n, managementFeeShares: 0n };
  const shares = (vault.total_shares * fee) / (equity - fee);
  vault.total_shares += shares;
  vault.manager_total_fee += fee;
  return { profitShare: 0n, managementFee: fee, managementFeeShares: shares };
}

/** Charges the manager's share of a depositor's new profit by moving shares. */
function chargeProfit({ vault: { account: vault } }: VaultBook, one: StoredDepositor, equity: bigint): bigint {
  const { account } = one;
  const worth = worthOf(account.vault_shares, vault.total_shares, equity);
  const profit = worth - account.net_deposits - account.cumulative_profit_share_amount;
  const amount = (max(0n, profit) * BigInt(vault.profit_share)) / RATE_SCALE;
  if (amount === 0n) return 0n;
  const shares = sharesOf(amount, vault.total_shares, equity);
  account.cumulative_profit_share_amount += profit;
  account.profit_share_fee_paid += amount;
  account.vault_shares -= shares;
  vault.user_shares -= shares;
  vault.manager_total_profit_share += amount;
  return amount;
}

interface ShareTotals {
  readonly own: bigint;
  readonly user: bigint;
  readonly total: bigint;
}

/** Shares of a depositor, or of the manager: the rest of the total. */
function shareTotals({ vault: { account: vault } }: VaultBook, one: StoredDepositor | null): ShareTotals {
  const own = one ? one.account.vault_shares : vault.total_shares - vault.user_shares;
  return { own, user: vault.user_shares, total: vault.total_shares };
}

/**
 * One step of a depositor, or of the manager: fees, then the step, then its record. A step returns the amount in its
 * record.
 */
function act(
  tx: Transaction,
  book: VaultBook,
  one: StoredDepositor | null,
  action: DepositorAction,
  takesProfit: boolean,
  step: (equity: bigint) => bigint,
): void {
  const { key, account: vault } = book.vault;
  const equity = vaultEquity(tx.world, book);
  const before = shareTotals(book, one);
  const fees = chargeManagement(tx, book, equity);
  const profitShare = one && takesProfit ? chargeProfit(book, one, equity) : 0n;
  const amount = step(equity);
  const after = shareTotals(book, one);
  touch(tx, book.vault);
  if (one) touch(tx, one);
  const authority = one?.account.authority ?? vault.manager;
  mention(tx, authority);
  emit(tx, 'VaultDepositorRecord', {
    ts: BigInt(tx.now),
    vault: key,
    depositor_authority: authority,
    action,
    amount: action === 'feePayment' ? profitShare : amount,
    spot_market_index: vault.spot_market_index,
    vault_shares_before: before.own,
    vault_shares_after: after.own,
    vault_equity_before: equity,
    user_vault_shares_before: before.user,
    total_vault_shares_before: before.total,
    user_vault_shares_after: after.user,
    total_vault_shares_after: after.total,
    profit_share: profitShare,
    management_fee: fees.managementFee,
    management_fee_shares: fees.managementFeeShares,
    deposit_oracle_price: spotPrice(tx.world, vault.spot_market_index),
  });
}

export function depositShares(tx: Transaction, book: VaultBook, one: StoredDepositor, amount: bigint): void {
  const { account: vault } = book.vault;
  enterVaults(tx, 'Deposit');
  act(tx, book, one, 'deposit', true, (equity) => {
    const shares = sharesOf(amount, vault.total_shares, equity);
    one.account.vault_shares += shares;
    one.account.total_deposits += amount;
    one.account.net_deposits += amount;
    vault.user_shares += shares;
    vault.total_shares += shares;
    vault.total_deposits += amount;
    vault.net_deposits += amount;
    depositTo(tx, vaultTrader(tx.world, book), vault.spot_market_index, amount);
    return amount;
  });
  leave(tx);
}

export function depositAsManager(tx: Transaction, book: VaultBook, amount: bigint): void {
  const { account: vault } = book.vault;
  enterVaults(tx, 'ManagerDeposit');
  act(tx, book, null, 'deposit', false, (equity) => {
    vault.total_shares += sharesOf(amount, vault.total_shares, equity);
    vault.total_deposits += amount;
    vault.net_deposits += amount;
    vault.manager_total_deposits += amount;
    vault.manager_net_deposits += amount;
    depositTo(tx, vaultTrader(tx.world, book), vault.spot_market_index, amount);
    return amount;
  });
  leave(tx);
}

/** Requests the withdrawal of a part (1e6) of the shares of a depositor or of the manager. */
export function requestWithdrawal(tx: Transaction, book: VaultBook, one: StoredDepositor | null, part: bigint): void {
  const { account: vault } = book.vault;
  enterVaults(tx, one ? 'RequestWithdraw' : 'ManagerRequestWithdraw');
  act(tx, book, one, 'withdrawRequest', true, (equity) => {
    const shares = (shareTotals(book, one).own * part) / RATE_SCALE;
    const value = worthOf(shares, vault.total_shares, equity);
    setRequest(book, one, { shares, value, ts: BigInt(tx.now) });
    vault.total_withdraw_requested += value;
    return value;
  });
  leave(tx);
}

/** Cancels a request. */
export function cancelRequest(tx: Transaction, book: VaultBook, one: StoredDepositor): void {
  enterVaults(tx, 'CancelRequestWithdraw');
  act(tx, book, one, 'cancelWithdrawRequest', false, () => {
    book.vault.account.total_withdraw_requested -= one.account.last_withdraw_request.value;
    one.account.last_withdraw_request = noRequest();
    return 0n;
  });
  leave(tx);
}

export function requestOf(book: VaultBook, one: StoredDepositor | null): WithdrawRequest {
  return one ? one.account.last_withdraw_request : book.vault.account.last_manager_withdraw_request;
}

function setRequest(book: VaultBook, one: StoredDepositor | null, request: WithdrawRequest): void {
  if (one) one.account.last_withdraw_request = request;
  else book.vault.account.last_manager_withdraw_request = request;
}

/** Current payment for a request: the value of the shares, at most their value at the request. */
function payableNow(world: World, book: VaultBook, request: WithdrawRequest): bigint {
  return min(request.value, worthOf(request.shares, book.vault.account.total_shares, vaultEquity(world, book)));
}

/** Whether a request is due, and the vault can pay it without losing its positions. */
export function canWithdraw(world: World, book: VaultBook, one: StoredDepositor | null): boolean {
  const request = requestOf(book, one);
  const { redeem_period: period, spot_market_index: index } = book.vault.account;
  if (request.shares === 0n || BigInt(world.now) < request.ts + period) return false;
  const amount = payableNow(world, book, request);
  const trader = vaultTrader(world, book);
  const spot = spotAt(world, index);
  const worth = (amount * spotPrice(world, index)) / 10n ** BigInt(spot.account.decimals);
  return amount > 0n && amount <= tokensOf(trader, spot) && worth < freeCollateral(world, trader);
}

/** Pays a request. `canWithdraw` must be true. */
export function withdrawShares(tx: Transaction, book: VaultBook, one: StoredDepositor | null): void {
  const { account: vault } = book.vault;
  enterVaults(tx, one ? 'Withdraw' : 'ManagerWithdraw');
  act(tx, book, one, 'withdraw', false, (equity) => {
    const { shares, value } = requestOf(book, one);
    const amount = min(value, worthOf(shares, vault.total_shares, equity));
    vault.total_shares -= shares;
    vault.total_withdraws += amount;
    vault.net_deposits -= amount;
    vault.total_withdraw_requested -= value;
    if (one) {
      vault.user_shares -= shares;
      one.account.vault_shares -= shares;
      one.account.total_withdraws += amount;
      one.account.net_deposits -= amount;
    } else {
      vault.manager_total_withdraws += amount;
      vault.manager_net_deposits -= amount;
    }
    setRequest(book, one, noRequest());
    withdrawTokens(tx, vaultTrader(tx.world, book), spotAt(tx.world, vault.spot_market_index), amount);
    return amount;
  });
  leave(tx);
}

/** The manager charges its share of a depositor's profit without an action of the depositor. */
export function applyProfitShare(tx: Transaction, book: VaultBook, one: StoredDepositor): void {
  enterVaults(tx, 'ApplyProfitShare');
  mention(tx, book.vault.account.manager);
  act(tx, book, one, 'feePayment', true, () => 0n);
  leave(tx);
}

/** Transfers shares to another depositor, with the corresponding deposits. */
export function transferShares(tx: Transaction, book: VaultBook, from: StoredDepositor, to: StoredDepositor): void {
  const { account: vault } = book.vault;
  const shares = from.account.vault_shares / 4n;
  const value = worthOf(shares, vault.total_shares, vaultEquity(tx.world, book));
  const [fromBefore, toBefore] = [from.account.vault_shares, to.account.vault_shares];
  enterVaults(tx, 'TransferVaultDepositorShares');
  from.account.vault_shares -= shares;
  from.account.net_deposits -= value;
  to.account.vault_shares += shares;
  to.account.net_deposits += value;
  touch(tx, book.vault, from, to);
  mention(tx, from.account.authority);
  emit(tx, 'ShareTransferRecord', {
    ts: BigInt(tx.now),
    vault: book.vault.key,
    from_vault_depositor: from.key,
    to_vault_depositor: to.key,
    shares,
    value,
    from_depositor_shares_before: fromBefore,
    from_depositor_shares_after: from.account.vault_shares,
    to_depositor_shares_before: toBefore,
    to_depositor_shares_after: to.account.vault_shares,
  });
  leave(tx);
}
