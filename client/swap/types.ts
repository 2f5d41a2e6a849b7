// Types of swaps, whichever aggregator routes them.

export type SwapMode = 'ExactIn' | 'ExactOut';

/** An instruction with keys in base58. */
export interface SwapInstruction {
  readonly programId: string;
  readonly accounts: readonly SwapAccountMeta[];
  readonly data: Uint8Array;
}

export interface SwapAccountMeta {
  readonly pubkey: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
}

export interface QuoteRequest {
  /** Mint of the input token, base58. */
  readonly inputMint: string;
  readonly outputMint: string;
  /** Token units: of the input for ExactIn, of the output for ExactOut. */
  readonly amount: bigint;
  /** Wallet that signs the swap, base58. Required by the second aggregator and by v2 of the first. */
  readonly userPublicKey?: string;
  /** Default 50. */
  readonly slippageBps?: number;
  /** Default `ExactIn`. */
  readonly swapMode?: SwapMode;
  /** Default false. */
  readonly onlyDirectRoutes?: boolean;
  /** Default 50. */
  readonly maxAccounts?: number;
  readonly excludeDexes?: readonly string[];
  /** v1 of the first aggregator only. Needs `maxAutoSlippageBps` and `usdEstimate`. */
  readonly autoSlippage?: boolean;
  readonly maxAutoSlippageBps?: number;
  readonly usdEstimate?: number;
}

export interface SwapQuote {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly swapMode: SwapMode;
  readonly slippageBps: number;
  /** The aggregator's own answer, which belongs to the request for the route. */
  readonly route: unknown;
}

/** A route as instructions, with the lookup tables that make it short. */
export interface SwapRoute {
  readonly instructions: readonly SwapInstruction[];
  /** Addresses of lookup tables, base58. */
  readonly lookupTables: readonly string[];
}

/** One aggregator, or the unified client over both. */
export interface Aggregator {
  getQuote(request: QuoteRequest): Promise<SwapQuote>;
  /** The route of a quote for a wallet. */
  getRoute(quote: SwapQuote, userPublicKey: string): Promise<SwapRoute>;
}

export const SLIPPAGE_BPS = 50;
export const MAX_ACCOUNTS = 50;

/** An aggregator refused, or its answer is not one. */
export class SwapError extends Error {
  override readonly name: string = 'SwapError';
}

/** The request cannot be what its options say. Thrown before anything is sent. */
export class SwapOptionError extends SwapError {
  override readonly name = 'SwapOptionError';
}
