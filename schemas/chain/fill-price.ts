// The price of a fill: quote over base (docs/internals/events.md, "Order actions"). A record has no price of its own.
// api/history/queries/account-days.test.ts compares both forms in ClickHouse.

import { BASE_PRECISION, PRICE_DECIMALS, QUOTE_DECIMALS } from './scales.ts';

/** Factor from quote to price, besides the scale of the base. */
const PRICE_PER_QUOTE = 10n ** BigInt(PRICE_DECIMALS - QUOTE_DECIMALS);

/** Price 1e6 of `quote` 1e6 over `base` in units of `baseScale`, rounded half up. `base` is above zero. */
export function fillPrice(quote: bigint, base: bigint, baseScale = BASE_PRECISION): bigint {
  return (2n * quote * baseScale * PRICE_PER_QUOTE + base) / (2n * base);
}

/** `fillPrice` of three unsigned integer expressions, as UInt256. */
export const fillPriceSql = (quote: string, base: string, baseScale: string): string =>
  `intDiv(toUInt256(${quote}) * ${baseScale} * ${2n * PRICE_PER_QUOTE} + ${base}, toUInt256(${base}) * 2)`;

/** `fillPrice` truncated: a quoted level is as good as a fill when it is not better by a whole step. */
export function fillPriceFloor(quote: bigint, base: bigint): bigint {
  return (quote * BASE_PRECISION * PRICE_PER_QUOTE) / base;
}
