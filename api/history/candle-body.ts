// A candle as it is told: human units as JSON numbers, the specified exception to raw integers.

import type { CandleView, MarketView } from '../../schemas/index.ts';
import { wholeUnits } from '../units.ts';
import { baseDecimals } from './lists.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;

/** Members of a candle that both REST and the socket show (history reference 4.2). */
export function candleBody(
  candle: Omit<
    CandleView,
    'marketType' | 'marketIndex' | 'resolution' | 'slot' | 'trades' | 'lastTradeTs' | 'lastFillRecordId' | 'version'
  >,
  market: MarketView,
) {
  const price = (value: bigint) => wholeUnits(value, PRICE_DECIMALS);
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
