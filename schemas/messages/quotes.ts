// Indicative quotes of market makers. Units: see ../messages.ts.

import type { MarketRef } from '../market.ts';

/** One side of an indicative quote: price 1e6 (or offset from the oracle, which may be negative), size base 1e9. */
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

/** All indicative quotes of one maker in one market; replaces what the maker quoted there before. */
export interface MakerQuotes extends MarketRef {
  /** Wall clock of the gateway that took them in, Unix milliseconds. */
  readonly receivedAtMs: number;
  /** The key the maker proved to hold. */
  readonly maker: Uint8Array;
  readonly quotes: readonly MakerQuote[];
}
