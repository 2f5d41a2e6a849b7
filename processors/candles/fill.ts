// A fill for candles: market, time, order, price and amounts, all checked whole numbers.

import { type FillUse, fillPrice, fillUse, type PartialEvent } from '../../schemas/index.ts';

/** Members of an order action that candles need. */
export const FILL_MEMBERS = [
  'slot',
  'ts',
  'action',
  'action_explanation',
  'market_index',
  'market_type',
  'fill_record_id',
  'base_asset_amount_filled',
  'quote_asset_amount_filled',
  'oracle_price',
] as const;

/** Limit of prices, ids and slots, so that differences and doubled slots stay exact. */
export const NUMBER_MAX = 2 ** 51;
/** Perps only: 1e9. */
const BASE_PER_QUOTE = 1e9;
/** Largest distance at which a rounded double may be on the wrong side of a tie: two roundings of 2^-53, with room. */
const TIE_ROOM = 2 ** -50;

export interface Fill {
  readonly use: FillUse;
  readonly marketIndex: number;
  /** Unix seconds. */
  readonly ts: number;
  readonly slot: number;
  /** Fill record id; a negative id means none, and sorts before all other fills of the minute. */
  readonly id: number;
  /** Quote per base, 1e6. */
  readonly price: number;
  readonly oracle: number;
  /** Raw, at most 64 bits. */
  readonly quote: number | bigint;
  readonly base: number | bigint;
}

export const CANDLE_ERROR_REASONS = ['candle-record', 'candle-late-fill', 'candle-time'] as const;
export type CandleErrorReason = (typeof CANDLE_ERROR_REASONS)[number];

/** A record that cannot be applied; nothing has changed. */
export class CandleError extends Error {
  override readonly name = 'CandleError';
  readonly reason: CandleErrorReason;

  constructor(reason: CandleErrorReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** The fill of an order action; null when it is none, or not of a perp market. Throws CandleError. */
export function fillOf({ data }: PartialEvent): Fill | null {
  if (data.action !== 'fill' || data.market_type !== 'perp') return null;
  const base = amountOf(data, 'base_asset_amount_filled');
  if (base === 0) return null;
  const quote = amountOf(data, 'quote_asset_amount_filled');
  const slot = bounded(data, 'slot');
  const id = data.fill_record_id === null ? slot - NUMBER_MAX : bounded(data, 'fill_record_id');
  const price = priceOf(quote, base);
  if (price > NUMBER_MAX) throw new CandleError('candle-record', `a fill at price ${price}`);
  return {
    use: fillUse(data.action_explanation),
    marketIndex: bounded(data, 'market_index'),
    ts: bounded(data, 'ts'),
    slot,
    id,
    price,
    oracle: bounded(data, 'oracle_price'),
    quote,
    base,
  };
}

/** `fillPrice` of a perp fill, in doubles where they are exact. */
export function priceOf(quote: number | bigint, base: number | bigint): number {
  if (typeof quote === 'number' && typeof base === 'number') {
    const price = (quote / base) * BASE_PER_QUOTE;
    const rounded = Math.floor(price + 0.5);
    // A double is exact unless the true quotient may lie on the other side of a tie.
    if (Math.abs(price + 0.5 - rounded) > price * TIE_ROOM && Math.abs(rounded + 0.5 - price) > price * TIE_ROOM) {
      return rounded;
    }
  }
  return Number(fillPrice(BigInt(quote), BigInt(base)));
}

/** A whole number whose size stays below NUMBER_MAX. Throws CandleError. */
export function bounded(data: PartialEvent['data'], member: string): number {
  const value = data[member];
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Math.abs(number) < NUMBER_MAX) return number;
  throw new CandleError('candle-record', `${member} is ${String(value)}`);
}

function amountOf(data: PartialEvent['data'], member: string): number | bigint {
  const value = data[member] ?? 0;
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint') throw new CandleError('candle-record', `${member} is ${String(value)}`);
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
