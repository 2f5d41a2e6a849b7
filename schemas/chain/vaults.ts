// States of the vault program's accounts in the log; see ../messages/index.ts. Shares are whole numbers, amounts are in units
// of the vault's token, rates 1e6.

/** Current state of a `Vault` account. The program never closes one. */
export interface VaultState {
  readonly slot: number;
  readonly vault: Uint8Array;
  readonly name: string;
  readonly manager: Uint8Array;
  /** User account that the vault trades with. */
  readonly user: Uint8Array;
  /** Wallet that may trade for the vault. */
  readonly delegate: Uint8Array;
  /** Spot market of its deposits. */
  readonly spotMarketIndex: number;
  /** Shares of all depositors. */
  readonly userShares: bigint;
  /** Shares of depositors, manager, and protocol where there is one. */
  readonly totalShares: bigint;
  /** Power of ten by which the program has divided shares so far. */
  readonly sharesBase: number;
  /** Unix seconds. */
  readonly lastFeeUpdateTs: bigint;
  readonly initTs: bigint;
  /** Unix seconds, 0 = no liquidation. */
  readonly liquidationStartTs: bigint;
  /** Seconds from a request to its withdrawal. */
  readonly redeemPeriod: bigint;
  readonly totalWithdrawRequested: bigint;
  /** Most tokens that the vault accepts; 0 = no limit. */
  readonly maxTokens: bigint;
  readonly minDepositAmount: bigint;
  /** Per year. */
  readonly managementFeeRate: bigint;
  readonly profitShareRate: number;
  readonly hurdleRate: number;
  readonly permissioned: boolean;
  readonly netDeposits: bigint;
  readonly totalDeposits: bigint;
  readonly totalWithdraws: bigint;
  readonly managerNetDeposits: bigint;
  readonly managerTotalDeposits: bigint;
  readonly managerTotalWithdraws: bigint;
  readonly managerTotalFee: bigint;
  readonly managerTotalProfitShare: bigint;
  /** The manager's withdrawal request; all 0 without one. */
  readonly managerRequestShares: bigint;
  readonly managerRequestValue: bigint;
  readonly managerRequestTs: bigint;
  /** True when a protocol takes fees besides the manager. */
  readonly hasProtocol: boolean;
}

/** Current state of a `VaultDepositor` account: one wallet's part of one vault. The program never closes one. */
export interface VaultDepositorState {
  readonly slot: number;
  readonly depositor: Uint8Array;
  readonly vault: Uint8Array;
  readonly authority: Uint8Array;
  readonly vaultShares: bigint;
  readonly vaultSharesBase: number;
  /** The withdrawal request; all 0 without one. */
  readonly requestShares: bigint;
  readonly requestValue: bigint;
  readonly requestTs: bigint;
  readonly netDeposits: bigint;
  readonly totalDeposits: bigint;
  readonly totalWithdraws: bigint;
  /** Profit subject to profit share, and the share taken from it. */
  readonly cumulativeProfitShareAmount: bigint;
  readonly profitShareFeePaid: bigint;
}
