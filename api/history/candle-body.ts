// Body of a candle: JSON numbers in human units. Candles are the one exception to raw integers.

import { type MarketView, PRICE_DECIMALS, QUOTE_DECIMALS } from '../../schemas/index.ts';
import { wholeUnits } from '../http/units.ts';
import { baseDecimals } from './lists.ts';

/** Published amounts of a candle, as scaled integers or their decimal text. */
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

/** Candle members that REST and the socket share (docs/internals/history-semantics.md, "Candles"). */
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
