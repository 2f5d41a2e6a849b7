// States of the vault program's accounts as they go into the log; see messages.ts. Shares and amounts are whole numbers:
// amounts in units of the vault's token, rates 1e6.

/** A `Vault` account as it is now. The program closes none. */
export interface VaultState {
  readonly slot: number;
  readonly vault: Uint8Array;
  readonly name: string;
  readonly manager: Uint8Array;
  /** User account it trades with. */
  readonly user: Uint8Array;
  /** Wallet that may trade for it. */
  readonly delegate: Uint8Array;
  /** Of its deposits. */
  readonly spotMarketIndex: number;
  /** Shares of all depositors. */
  readonly userShares: bigint;
  /** The same with those of the manager, and of the protocol where there is one. */
  readonly totalShares: bigint;
  /** Power of ten by which shares were cut so far. */
  readonly sharesBase: number;
  /** Unix seconds. */
  readonly lastFeeUpdateTs: bigint;
  readonly initTs: bigint;
  /** Unix seconds, 0 = no liquidation. */
  readonly liquidationStartTs: bigint;
  /** Seconds from a request to its withdrawal. */
  readonly redeemPeriod: bigint;
  readonly totalWithdrawRequested: bigint;
  /** Most tokens it takes; 0 = no bound. */
  readonly maxTokens: bigint;
  readonly minDepositAmount: bigint;
  /** By the year. */
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
  /** What the manager asked back, all 0 without a request. */
  readonly managerRequestShares: bigint;
  readonly managerRequestValue: bigint;
  readonly managerRequestTs: bigint;
  /** Whether a protocol takes fees besides the manager. */
  readonly hasProtocol: boolean;
}

/** A `VaultDepositor` account as it is now: what one wallet holds of one vault. The program closes none. */
export interface VaultDepositorState {
  readonly slot: number;
  readonly depositor: Uint8Array;
  readonly vault: Uint8Array;
  readonly authority: Uint8Array;
  readonly vaultShares: bigint;
  readonly vaultSharesBase: number;
  /** What was asked back, all 0 without a request. */
  readonly requestShares: bigint;
  readonly requestValue: bigint;
  readonly requestTs: bigint;
  readonly netDeposits: bigint;
  readonly totalDeposits: bigint;
  readonly totalWithdraws: bigint;
  /** Profit of which a share was taken, and what was taken. */
  readonly cumulativeProfitShareAmount: bigint;
  readonly profitShareFeePaid: bigint;
}
