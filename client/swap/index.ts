// Swaps between two spot balances of an account, routed by an aggregator. Needs @solana/web3.js beside this package.

export type { SwapReduceOnly } from './bracket.ts';
export { SwapClient, type SwapClientOptions } from './client.ts';
export { type JupiterApiVersion, JupiterClient, type JupiterOptions } from './jupiter.ts';
export type { LoadAccounts } from './margin-accounts.ts';
export {
  type Exchange,
  type PreparedSwap,
  prepareSwap,
  type SwapParams,
  swapTransaction,
  type TxParams,
} from './swap.ts';
export { TitanClient, type TitanOptions } from './titan.ts';
export type { LoadTables } from './transaction.ts';
export {
  type Aggregator,
  type QuoteRequest,
  type SwapAccountMeta,
  SwapError,
  type SwapInstruction,
  type SwapMode,
  SwapOptionError,
  type SwapQuote,
  type SwapRoute,
} from './types.ts';
