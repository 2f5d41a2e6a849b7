// What the exchange hands to the ledger for one slot, and what the RPC server reads back.

export interface LedgerAccount {
  /** base58 */
  readonly pubkey: string;
  /** Owning program, base58. */
  readonly owner: string;
  readonly lamports: number;
  /** Empty data means that the account was closed. */
  readonly data: Uint8Array;
}

export interface LedgerTransaction {
  /** base58, 64 bytes */
  readonly signature: string;
  /** null on success, else the JSON error Solana would give. */
  readonly err: unknown;
  readonly logMessages: readonly string[];
  /** Every key the transaction mentions, base58; the programs it calls among them. */
  readonly accountKeys: readonly string[];
  /** Accounts as this transaction left them, in order of writing. */
  readonly writes: readonly LedgerAccount[];
}

export interface LedgerBlock {
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly transactions: readonly LedgerTransaction[];
}

/** One emitted program event as the localnet knows it: the truth tests compare with. */
export interface TruthEvent {
  readonly signature: string;
  /** Index among all records of its transaction. */
  readonly index: number;
  readonly slot: number;
  readonly name: string;
  /** Program's own field names; integers above 53 bits as decimal strings, keys as base58, enums as variant names. */
  readonly data: Record<string, unknown>;
}

/** One order resting now, visible or not. */
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

/** One market as it stands now; amounts are raw integers as text. */
export interface TruthMarket {
  readonly marketType: 'perp' | 'spot';
  readonly marketIndex: number;
  readonly symbol: string;
  readonly status: string;
  /** Of base amounts: 9 for perps, the token's for spot. */
  readonly decimals: number;
  readonly tickSize: string;
  readonly stepSize: string;
  readonly minOrderSize: string;
  /** 1e6. */
  readonly oraclePrice: string;
  /** Base 1e9; shorts zero or negative; both 0 for spot. */
  readonly openInterestLong: string;
  readonly openInterestShort: string;
}

/** One vault as it stands now; amounts are raw integers as text, of the vault's token. */
export interface TruthVault {
  readonly vault: string;
  readonly name: string;
  readonly manager: string;
  /** User account it trades with. */
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

/** The part of the exchange that the RPC server may call. */
export interface Exchange {
  /** Computes the next slot's block. Deterministic: same options, same blocks. */
  nextBlock(): LedgerBlock;
  /** Accounts that exist at the start, before the first block. */
  genesis(): readonly LedgerAccount[];
  restingOrders(): readonly TruthOrder[];
  markets(): readonly TruthMarket[];
  vaults(): readonly TruthVault[];
  /** Events emitted since `from` (counted from 0), at most `limit`. Empty when truth is not kept. */
  events(from: number, limit: number): readonly TruthEvent[];
  /** How many events were emitted, by record name. */
  eventCounts(): Readonly<Record<string, number>>;
  /** State that `restore` continues from; structured-cloneable. */
  snapshot(): unknown;
}
