// A candle as it is told: human units as JSON numbers, the specified exception to raw integers.

import type { MarketView } from '../../schemas/index.ts';
import { wholeUnits } from '../units.ts';
import { baseDecimals } from './lists.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;

/** What is told of a candle: scaled integers or their decimal text. */
export interface CandleAmounts<Amount extends bigint | string> {
  readonly ts: number;
  readonly fillOpen: Amount;
  readonly fillHigh: Amount;
  readonly fillLow: Amount;
  readonly fillClose: Amount;
  readonly oracleOpen: Amount;
  readonly oracleHigh: Amount;
  readonly oracleLow: Amount;
  readonly oracleClose: Amount;
  readonly quoteVolume: Amount;
  readonly baseVolume: Amount;
}

/** Members of a candle that both REST and the socket show (history reference 4.2). */
export function candleBody<Amount extends bigint | string>(candle: CandleAmounts<Amount>, market: MarketView) {
  const price = (value: Amount) => wholeUnits(value, PRICE_DECIMALS);
  return {
    ts: candle.ts,
    fillOpen: price(candle.fillOpen),
    fillHigh: price(candle.fillHigh),
    fillLow: price(candle.fillLow),
    fillClose: price(candle.fillClose),
    oracleOpen: price(candle.oracleOpen),
    oracleHigh: price(candle.oracleHigh),
    oracleLow: price(candle.oracleLow),
    oracleClose: price(candle.oracleClose),
    quoteVolume: wholeUnits(candle.quoteVolume, QUOTE_DECIMALS),
    baseVolume: wholeUnits(candle.baseVolume, baseDecimals(market)),
  };
}
