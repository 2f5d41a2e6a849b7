// Account models of the vault program, with the program's own field names; see model.ts.

import type { Stored } from './model.ts';

/** A withdrawal request; all zero without one. */
export interface WithdrawRequest {
  shares: bigint;
  /** Value in the vault's token at the time of the request. */
  value: bigint;
  /** Unix seconds. */
  ts: bigint;
}

/** Amounts in the vault's token; rates 1e6, the management fee per year. */
export interface VaultAccount {
  name: number[];
  pubkey: string;
  manager: string;
  token_account: string;
  user_stats: string;
  user: string;
  delegate: string;
  /** Shares of all depositors; the manager has the rest. */
  user_shares: bigint;
  total_shares: bigint;
  last_fee_update_ts: bigint;
  redeem_period: bigint;
  total_withdraw_requested: bigint;
  max_tokens: bigint;
  management_fee: bigint;
  init_ts: bigint;
  net_deposits: bigint;
  manager_net_deposits: bigint;
  total_deposits: bigint;
  total_withdraws: bigint;
  manager_total_deposits: bigint;
  manager_total_withdraws: bigint;
  manager_total_fee: bigint;
  manager_total_profit_share: bigint;
  min_deposit_amount: bigint;
  last_manager_withdraw_request: WithdrawRequest;
  profit_share: number;
  hurdle_rate: number;
  spot_market_index: number;
  bump: number;
  permissioned: boolean;
}

export interface VaultDepositorAccount {
  vault: string;
  pubkey: string;
  authority: string;
  vault_shares: bigint;
  last_withdraw_request: WithdrawRequest;
  last_valid_ts: bigint;
  net_deposits: bigint;
  total_deposits: bigint;
  total_withdraws: bigint;
  /** Profit on which the profit share is already paid. */
  cumulative_profit_share_amount: bigint;
  profit_share_fee_paid: bigint;
}

export type StoredVault = Stored<VaultAccount>;
export type StoredDepositor = Stored<VaultDepositorAccount>;

export interface VaultBook {
  readonly vault: StoredVault;
  /** The vault's trading account on the exchange. */
  readonly traderId: number;
  readonly depositors: StoredDepositor[];
}

export function noRequest(): WithdrawRequest {
  return { shares: 0n, value: 0n, ts: 0n };
}
