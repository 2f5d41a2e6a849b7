// States of accounts without an event: builders, and insurance funds. Units: see index.ts.

/** The account of a builder or referrer that earns from the fees of others. */
export interface RevenueShareState {
  readonly slot: number;
  readonly account: Uint8Array;
  /** The wallet that earns. */
  readonly authority: Uint8Array;
  /** Earned so far, quote 1e6. */
  readonly totalReferrerRewards: bigint;
  readonly totalBuilderRewards: bigint;
}

/** The account in which a wallet approves builders. */
export interface RevenueShareEscrowState {
  readonly slot: number;
  readonly account: Uint8Array;
  /** The wallet that approves. */
  readonly authority: Uint8Array;
  /** All zero bytes: none. */
  readonly referrer: Uint8Array;
  /** In the order of the account. */
  readonly approvedBuilders: readonly ApprovedBuilder[];
}

export interface ApprovedBuilder {
  readonly authority: Uint8Array;
  /** Highest fee that the wallet accepts, tenths of a basis point; 0 = revoked. */
  readonly maxFeeTenthBps: number;
}

/** The insurance fund of a spot market. */
export interface InsuranceFundState {
  readonly marketIndex: number;
  readonly slot: number;
  /** Seconds from the request of a withdrawal to the withdrawal. */
  readonly unstakingPeriod: bigint;
}
