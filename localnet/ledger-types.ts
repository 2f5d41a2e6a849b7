// Types between the exchange, the ledger and the RPC server.

export type Commitment = 'processed' | 'confirmed' | 'finalized';

export interface LedgerAccount {
  /** base58 */
  readonly pubkey: string;
  /** Owning program, base58. */
  readonly owner: string;
  readonly lamports: number;
  /** Empty data means closed. */
  readonly data: Uint8Array;
}

export interface LedgerTransaction {
  /** base58, 64 bytes */
  readonly signature: string;
  /** Null on success, else Solana's JSON error. */
  readonly err: unknown;
  readonly logMessages: readonly string[];
  /** Every key in the transaction, base58, including the called programs. */
  readonly accountKeys: readonly string[];
  /** Accounts after this transaction, in order of writing. */
  readonly writes: readonly LedgerAccount[];
  /** Indices of the log lines with the program's records. */
  readonly recordLines?: readonly number[];
  /** Indices, among all records of the transaction, of those that execution cut from the log. */
  readonly lostRecords?: readonly number[];
  /** Whether keys come from lookup tables where these have them. */
  readonly usesLookups?: boolean;
  /** Whether a wallet signed it: it has the instructions of its message, and no others. */
  readonly isSubmitted?: boolean;
}

export interface LedgerBlock {
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly transactions: readonly LedgerTransaction[];
}

/** One emitted program event: the truth for tests. */
export interface TruthEvent {
  readonly signature: string;
  /** Index among all records of its transaction. */
  readonly index: number;
  readonly slot: number;
  readonly name: string;
  /** The program's field names; integers above 53 bits as decimal strings, keys as base58, enums as variant names. */
  readonly data: Record<string, unknown>;
}

/** One resting order, visible or not. */
export interface TruthOrder {
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly source: 'user' | 'clob';
  readonly maker: string;
  readonly orderId: number;
  readonly direction: 'long' | 'short';
  readonly orderType: string;
  readonly price: string;
  readonly oraclePriceOffset: string;
  readonly baseAssetAmount: string;
  readonly baseAssetAmountFilled: string;
  readonly triggerCondition: string;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly placedSlot: number;
  readonly bookOrderId: string | null;
}

/** One market in its current state; amounts are raw integers as text. */
export interface TruthMarket {
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly symbol: string;
  readonly status: string;
  /** Decimals of base amounts: 9 for perps, the token's for spot. */
  readonly decimals: number;
  readonly tickSize: string;
  readonly stepSize: string;
  readonly minOrderSize: string;
  /** 1e6. */
  readonly oraclePrice: string;
  /** Base 1e9; short is zero or negative; both are 0 for spot. */
  readonly openInterestLong: string;
  readonly openInterestShort: string;
}

/** One vault in its current state; amounts are raw integers in the vault's token, as text. */
export interface TruthVault {
  readonly vault: string;
  readonly name: string;
  readonly manager: string;
  /** The vault's trading account. */
  readonly user: string;
  readonly spotMarketIndex: number;
  readonly totalShares: string;
  readonly userShares: string;
  readonly totalDeposits: string;
  readonly totalWithdraws: string;
  readonly netDeposits: string;
  readonly managerTotalDeposits: string;
  readonly managerTotalWithdraws: string;
  readonly managerNetDeposits: string;
  readonly maxTokens: string;
  readonly managementFee: string;
  readonly profitShare: number;
  readonly hurdleRate: number;
  readonly redeemPeriod: number;
  readonly permissioned: boolean;
  readonly depositors: readonly TruthVaultDepositor[];
}

export interface TruthVaultDepositor {
  readonly depositor: string;
  readonly authority: string;
  readonly shares: string;
  readonly totalDeposits: string;
  readonly totalWithdraws: string;
  readonly netDeposits: string;
}

/** Work from outside the simulation that enters the next block. */
export type Submission =
  /** A transaction in the wire format. Its signatures and blockhash are already checked. */
  | { readonly kind: 'transaction'; readonly wire: Uint8Array }
  /** Lamports and tokens for a wallet, and its first account when it has none. */
  | {
      readonly kind: 'fund';
      /** base58, 64 bytes */
      readonly signature: string;
      readonly wallet: string;
      readonly lamports: bigint;
      readonly tokens: readonly { readonly spotMarketIndex: number; readonly amount: bigint }[];
      readonly openAccount: boolean;
    };

/** Result of a transaction that was only tried. */
export interface SimulatedTransaction {
  /** Null on success, else Solana's JSON error. */
  readonly err: unknown;
  /** A node's text of the error. */
  readonly text: string | null;
  readonly logMessages: readonly string[];
  readonly unitsConsumed: number;
  readonly writes: readonly LedgerAccount[];
}

/** An exchange that takes transactions from outside. */
export interface Submissions {
  /** Key of the exchange's address lookup table. */
  readonly lookupTable: string;
  /** Runs a transaction on the current state and forgets it. Throws an Error for bytes that are no transaction. */
  simulate(wire: Uint8Array): SimulatedTransaction;
  /** Spot markets, which a faucet has tokens of. */
  readonly spotMarkets: number;
}

/** The interface of the exchange for the cluster and the RPC server. */
export interface Exchange {
  /**
   * Computes the block of `slot`, by default of the next one, with the submissions at its end. Deterministic: same options, slots
   * and submissions, same blocks.
   */
  nextBlock(slot?: number, submissions?: readonly Submission[]): LedgerBlock;
  /** Absent: it takes no transactions. */
  readonly submissions?: Submissions;
  /**
   * A copy for a fork that loses: the same until now, and different from its first block on. Some of that block's
   * transactions have the signatures of the winning fork's block `winnerSlot`, because they land there as well. An exchange
   * without this plays no forks.
   */
  branch?(winnerSlot: number): Exchange;
  /** Accounts before the first block. */
  genesis(): readonly LedgerAccount[];
  restingOrders(): readonly TruthOrder[];
  markets(): readonly TruthMarket[];
  vaults(): readonly TruthVault[];
  /** Events from index `from` (counted from 0), at most `limit`. Empty when the exchange does not keep events. */
  events(from: number, limit: number): readonly TruthEvent[];
  /** Number of emitted events by record name. */
  eventCounts(): Readonly<Record<string, number>>;
  /** Snapshot for a restart; structured-cloneable. */
  snapshot(): unknown;
}
