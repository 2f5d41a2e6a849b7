// Scales of the program's integers (docs/internals/accounts.md, "Units"). Base amounts of spot markets have their token's own decimals.

export const PRICE_DECIMALS = 6;
export const QUOTE_DECIMALS = 6;
/** Of perp base amounts, and of the curve's reserves. */
export const BASE_DECIMALS = 9;

export const PRICE_PRECISION = 1_000_000n;
export const QUOTE_PRECISION = 1_000_000n;
export const BASE_PRECISION = 1_000_000_000n;
