// Rows of single fills and ticks, and the fill with which a market begins.

import type { MarketSample } from '../../schemas/index.ts';
import { minuteOf } from './buckets.ts';
import type { Fill } from './fill.ts';
import { BASE_LOW, CLOSE, HIGH, LOW, ORDER, oracleRow, putAmount, QUOTE_LOW, TIE, TIME, TRADES } from './rows.ts';

/** Beginning of a market: its first fill, by minute and then by id. */
export interface FirstFill {
  readonly minute: number;
  readonly id: number;
  readonly price: number;
  readonly oracle: number;
}

/** The earlier of a market's first fill and another fill. */
export function firstOf(first: FirstFill | null, { ts, id, price, oracle }: Fill): FirstFill {
  const minute = minuteOf(ts);
  if (first !== null && (minute > first.minute || (minute === first.minute && isAfter(id, price, first)))) return first;
  return { minute, id, price, oracle };
}

/** The first fill is the one with the lower id; without ids the one with the lower price. */
function isAfter(id: number, price: number, first: FirstFill): boolean {
  return id > first.id || (id === first.id && price >= first.price);
}

export function putFill(row: Float64Array, { ts, id, price, quote, base }: Fill): void {
  row[CLOSE] = price;
  row[HIGH] = price;
  row[LOW] = price;
  row[TIME] = ts;
  row[ORDER] = id;
  putAmount(row, QUOTE_LOW, quote);
  putAmount(row, BASE_LOW, base);
  row[TRADES] = 1;
}

/** Row of a sample's oracle price with the extremes around it; null without a price. */
export function tickOf({ ts, slot, oraclePrice, oracleHigh, oracleLow }: MarketSample): Float64Array | null {
  if (oraclePrice === null) return null;
  const price = Number(oraclePrice);
  const row = oracleRow();
  const [high, low] = [Number(oracleHigh ?? oraclePrice), Number(oracleLow ?? oraclePrice)];
  putTick(row, ts, slot * 2 + 1, 0, price, Math.max(price, high), Math.min(price, low));
  return row;
}

export function putTick(
  row: Float64Array,
  ts: number,
  order: number,
  tie: number,
  price: number,
  high: number,
  low: number,
): void {
  row[CLOSE] = price;
  row[HIGH] = high;
  row[LOW] = low;
  row[TIME] = ts;
  row[ORDER] = order;
  row[TIE] = tie;
}
