// The parts of the process that `/tx/*` uses.

import type { MarketRef } from '../../../schemas/index.ts';
import type { Chain } from './chain.ts';

/** Access to the chain for `/tx/*`. */
export interface TransactionServices {
  readonly chain: Chain;
  /** Price of compute units in micro-lamports for a transaction that writes these markets. */
  readonly unitPrice: (markets: readonly MarketRef[]) => number;
}
