// Rows of a market's buckets, and how fills and oracle prices are added to them. A row is a function of a set, whatever the
// order of arrival, so a bucket is also the sum of its minutes.

import { minuteOf } from './buckets.ts';
import { CHANGED, CLOSE_CHANGED, Series } from './series.ts';

// Columns of both kinds of rows; column 0 is the bucket. Prices 1e6.
export const CLOSE = 1;
export const HIGH = 2;
export const LOW = 3;
/** Unix seconds of the fill or tick that closed the bucket. */
export const TIME = 4;
/** Order within a minute: fill record id, or slot and kind of a tick. */
export const ORDER = 5;

// Fills: an amount is a low part below 2^32 and, in the next column, the part above.
export const QUOTE_LOW = 6;
export const BASE_LOW = 8;
export const TRADES = 10;
const FILL_WIDTH = 11;

/** Oracle ticks: fill record id of a tick from a fill, to order ticks of one slot. */
export const TIE = 6;
const ORACLE_WIDTH = 7;

const AMOUNT_UNIT = 0x1_0000_0000;

/** Price and time of the last pruned row. */
export interface Floor {
  readonly price: number;
  readonly ts: number;
}

export function fillRow(): Float64Array {
  return new Float64Array(FILL_WIDTH);
}

export function oracleRow(): Float64Array {
  return new Float64Array(ORACLE_WIDTH);
}

/** The whole amount of a low and a high part. */
export function amountOf(rows: Float64Array, low: number): bigint {
  const high = rows[low + 1] ?? 0;
  return high === 0 ? BigInt(rows[low] ?? 0) : BigInt(high) * BigInt(AMOUNT_UNIT) + BigInt(rows[low] ?? 0);
}

/** Splits an amount of at most 64 bits. */
export function putAmount(rows: Float64Array, low: number, amount: number | bigint): void {
  const near = Number(amount);
  if (Number.isSafeInteger(near)) {
    const high = Math.floor(near / AMOUNT_UNIT);
    rows[low] = near - high * AMOUNT_UNIT;
    rows[low + 1] = high;
    return;
  }
  const exact = BigInt(amount);
  rows[low] = Number(exact % BigInt(AMOUNT_UNIT));
  rows[low + 1] = Number(exact / BigInt(AMOUNT_UNIT));
}

/** Adds the amount of one row to another. */
export function addAmount(to: Float64Array, toLow: number, from: Float64Array, fromLow: number): void {
  let low = (to[toLow] ?? 0) + (from[fromLow] ?? 0);
  let high = (to[toLow + 1] ?? 0) + (from[fromLow + 1] ?? 0);
  if (low >= AMOUNT_UNIT) {
    low -= AMOUNT_UNIT;
    high++;
  }
  to[toLow] = low;
  to[toLow + 1] = high;
}

/** Fills by bucket. */
export class FillSeries extends Series {
  constructor() {
    super(FILL_WIDTH);
  }

  /** Adds one fill, or all fills of a shorter bucket, to a bucket. */
  join(bucket: number, from: Float64Array, start = 0): void {
    const isNew = this.open(bucket);
    this.mark(bucket, joinFills(this.rows, this.at, from, start, isNew));
  }
}

/** Oracle prices by bucket. */
export class OracleSeries extends Series {
  constructor() {
    super(ORACLE_WIDTH);
  }

  /** Adds one tick, or all ticks of a shorter bucket, to a bucket. */
  join(bucket: number, from: Float64Array, start = 0): void {
    const isNew = this.open(bucket);
    const mark = joinTicks(this.rows, this.at, from, start, isNew);
    if (mark !== 0) this.mark(bucket, mark);
  }
}

/** Adds a row of fills to another, which is all zeros when new; returns the change flags. */
export function joinFills(rows: Float64Array, at: number, from: Float64Array, start: number, isNew: boolean): number {
  addAmount(rows, at + QUOTE_LOW, from, start + QUOTE_LOW);
  addAmount(rows, at + BASE_LOW, from, start + BASE_LOW);
  rows[at + TRADES] = (rows[at + TRADES] ?? 0) + (from[start + TRADES] ?? 0);
  return joinPrices(rows, at, from, start, isNew, false) | CHANGED;
}

/** Adds a row of ticks to another; returns the change flags, 0 when no price changed. */
export function joinTicks(rows: Float64Array, at: number, from: Float64Array, start: number, isNew: boolean): number {
  return joinPrices(rows, at, from, start, isNew, true);
}

/** Merges close, high and low; returns the change flags. */
function joinPrices(
  rows: Float64Array,
  at: number,
  from: Float64Array,
  start: number,
  isNew: boolean,
  hasTie: boolean,
): number {
  const high = from[start + HIGH] ?? 0;
  const low = from[start + LOW] ?? 0;
  const close = from[start + CLOSE] ?? 0;
  let mark = 0;
  if (isNew || high > (rows[at + HIGH] ?? 0)) {
    rows[at + HIGH] = high;
    mark = CHANGED;
  }
  if (isNew || low < (rows[at + LOW] ?? 0)) {
    rows[at + LOW] = low;
    mark = CHANGED;
  }
  if (!isNew && !isLater(rows, at, from, start, hasTie)) return mark;
  if (isNew || close !== rows[at + CLOSE]) mark = CHANGED | CLOSE_CHANGED;
  rows[at + CLOSE] = close;
  rows[at + TIME] = from[start + TIME] ?? 0;
  rows[at + ORDER] = from[start + ORDER] ?? 0;
  if (hasTie) rows[at + TIE] = from[start + TIE] ?? 0;
  return mark;
}

/** Sorts by minute, order, tie, and last by price, so that the result never depends on arrival. */
function isLater(rows: Float64Array, at: number, from: Float64Array, start: number, hasTie: boolean): boolean {
  const minute = minuteOf(from[start + TIME] ?? 0) - minuteOf(rows[at + TIME] ?? 0);
  if (minute !== 0) return minute > 0;
  const order = (from[start + ORDER] ?? 0) - (rows[at + ORDER] ?? 0);
  if (order !== 0) return order > 0;
  const tie = hasTie ? (from[start + TIE] ?? 0) - (rows[at + TIE] ?? 0) : 0;
  return tie !== 0 ? tie > 0 : (from[start + CLOSE] ?? 0) > (rows[at + CLOSE] ?? 0);
}
