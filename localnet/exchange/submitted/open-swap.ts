// The state of a transaction between the begin and the end of a swap.

/** A loan between begin and end. */
export interface OpenSwap {
  readonly user: string;
  readonly inIndex: number;
  readonly outIndex: number;
  readonly amountIn: bigint;
  /** Amounts of the wallet's token accounts before the swap. */
  readonly inBefore: bigint;
  readonly outBefore: bigint;
}
