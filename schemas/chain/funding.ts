// Funding rates in percent.

/** rate 1e9 over price 1e6, times 100, as 1e9: 1e-9 * 1e6 * 1e2 * 1e9. */
const PERCENT_1E9 = 10n ** 8n;

/** Funding in percent per hour, 1e9, truncated toward zero: rate (1e9) / average price (1e6). 0 without a price. */
export function fundingPercent1e9(rate: bigint, oraclePriceTwap: bigint): bigint {
  return oraclePriceTwap === 0n ? 0n : (rate * PERCENT_1E9) / oraclePriceTwap;
}
