// Indicative quotes of market makers. Units: see index.ts.

import type { MarketRef } from '../chain/market.ts';

/** One side of an indicative quote: price 1e6 (or oracle offset, possibly negative), size base 1e9. */
export interface QuoteSide {
  readonly price: bigint;
  readonly size: bigint;
}

export interface MakerQuote {
  /** True when both prices are offsets from the oracle price. */
  readonly isOracleOffset: boolean;
  readonly bid: QuoteSide | null;
  readonly ask: QuoteSide | null;
}

/** All indicative quotes of one maker in one market; replaces the maker's earlier quotes there. */
export interface MakerQuotes extends MarketRef {
  /** Wall clock of the receiving gateway, Unix milliseconds. */
  readonly receivedAtMs: number;
  /** The key that the maker proved to own. */
  readonly maker: Uint8Array;
  readonly quotes: readonly MakerQuote[];
}
