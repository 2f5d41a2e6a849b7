// Rules that both TypeScript and ClickHouse compute, each in both forms. api/history/queries/account-days.test.ts compares
// the forms in ClickHouse.

/** rate 1e9 over price 1e6, times 100, as 1e9: 1e-9 * 1e6 * 1e2 * 1e9. */
const PERCENT_1E9 = 10n ** 8n;

/** Funding in percent per hour, 1e9, truncated toward zero: rate (1e9) / average price (1e6). 0 without a price. */
export function fundingPercent1e9(rate: bigint, oraclePriceTwap: bigint): bigint {
  return oraclePriceTwap === 0n ? 0n : (rate * PERCENT_1E9) / oraclePriceTwap;
}

/** Newest records of a market in its mean funding of a day: they are hourly. */
export const FUNDING_RECORDS = 24;

/** `fundingPercent1e9` of two integer expressions, as Int256. */
export const fundingPercentSql = (rate: string, oraclePriceTwap: string): string =>
  `if(${oraclePriceTwap} = 0, toInt256(0), intDiv(toInt256(${rate}) * ${PERCENT_1E9}, toInt256(${oraclePriceTwap})))`;

/**
 * Value in quote 1e6 of an amount at a price of 1e6, truncated toward zero. `scale`: units of the amount in one whole base
 * (`BASE_PRECISION`) or token.
 */
export function quoteValue(amount: bigint, price: bigint, scale: bigint): bigint {
  return (amount * price) / scale;
}

/** `quoteValue` of three integer expressions, as Int256. */
export const quoteValueSql = (amount: string, price: string, scale: bigint | string): string =>
  `intDiv(toInt256(${amount}) * toInt256(${price}), toInt256(${scale}))`;
