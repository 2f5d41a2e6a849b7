// The market of a record, and its text forms as a key.

export type MarketType = 'perp' | 'spot';

export interface MarketRef {
  readonly marketType: MarketType;
  readonly marketIndex: number;
}

/** Key of a market in topics and state: `perp-0`. */
export function marketKey(market: MarketRef): string {
  return `${market.marketType}-${market.marketIndex}`;
}

/** Inverse of `marketKey`. Throws a RangeError when the text is not a market key. */
export function parseMarketKey(key: string): MarketRef {
  const match = /^(perp|spot)-(\d{1,5})$/.exec(key);
  if (!match) throw new RangeError(`not a market key: ${key}`);
  return { marketType: match[1] as MarketType, marketIndex: Number(match[2]) };
}

/** Key of a candle in `views.candles`: `perp-0|60|1700000000`. The market's key decides the partition. */
export function candleKey(candle: MarketRef & { readonly resolution: string; readonly ts: number }): string {
  return `${marketKey(candle)}|${candle.resolution}|${candle.ts}`;
}
