// A taker fill: time, side, order size and distance from the oracle (docs/internals/auctions.md, "Fill quality").

import {
  BASE_PRECISION,
  type ChainEvent,
  fillUse,
  type MarketRef,
  marketKey,
  QUOTE_PRECISION,
} from '../../schemas/index.ts';

/** Least order notional of each cohort in whole quote units, by name. */
export const COHORTS = [
  { name: '1e0', fromQuote: 0n },
  { name: '1e3', fromQuote: 1_000n },
  { name: '1e4', fromQuote: 10_000n },
  { name: '1e5', fromQuote: 100_000n },
  { name: '1e6', fromQuote: 1_000_000n },
] as const;

/** 1 as millionths of a basis point. */
const MICRO_BPS = 10n ** 10n;
const I64_MAX = 2n ** 63n - 1n;

export interface TakerFill {
  readonly market: MarketRef;
  readonly marketKey: string;
  /** Unix seconds. */
  readonly seconds: number;
  readonly side: 'buy' | 'sell';
  /** Index into COHORTS. */
  readonly cohort: number;
  /** (fill price / oracle - 1), millionths of a basis point. */
  readonly microBps: bigint;
}

export class FillError extends Error {
  override readonly name = 'FillError';
}

/** Unix seconds of an event; null for records that carry no time. */
export function secondsOf({ data }: ChainEvent): number | null {
  const { ts } = data;
  return typeof ts === 'bigint' && ts > 0n && ts < 2n ** 40n ? Number(ts) : null;
}

/** The taker fill of an order action; null for any other event. Throws FillError when a fill cannot be valued. */
export function takerFillOf(event: ChainEvent): TakerFill | null {
  const { data, name } = event;
  if (name !== 'OrderActionRecord' || data.action !== 'fill' || data.market_type !== 'perp') return null;
  const direction = data.taker_order_direction;
  const seconds = secondsOf(event);
  if (data.taker === null || (direction !== 'long' && direction !== 'short') || seconds === null) return null;
  if (fillUse(data.action_explanation) !== 'price') return null;
  const base = amount(data, 'base_asset_amount_filled') ?? 0n;
  const oracle = amount(data, 'oracle_price') ?? 0n;
  if (base <= 0n || oracle <= 0n) return null;
  const microBps = distanceMicroBps(amount(data, 'quote_asset_amount_filled') ?? 0n, base, oracle);
  if (microBps > I64_MAX) throw new FillError(`a fill at ${microBps} millionths of a basis point from the oracle`);
  const market = { marketType: 'perp', marketIndex: Number(data.market_index) } as const;
  return {
    market,
    marketKey: marketKey(market),
    seconds,
    side: direction === 'long' ? 'buy' : 'sell',
    cohort: cohortOf(amount(data, 'taker_order_base_asset_amount') ?? base, oracle),
    microBps,
  };
}

/** Raw amounts: quote 1e6, base 1e9, oracle 1e6. Rounded to the nearest. */
function distanceMicroBps(quote: bigint, base: bigint, oracle: bigint): bigint {
  const divisor = base * oracle;
  return (2n * quote * BASE_PRECISION * MICRO_BPS + divisor) / (2n * divisor) - MICRO_BPS;
}

/** Cohort of an order by its size as placed, valued at the oracle. */
function cohortOf(orderBase: bigint, oracle: bigint): number {
  const notional = (orderBase * oracle) / BASE_PRECISION;
  let found = 0;
  for (const [index, { fromQuote }] of COHORTS.entries()) if (notional >= fromQuote * QUOTE_PRECISION) found = index;
  return found;
}

function amount(data: ChainEvent['data'], field: string): bigint | null {
  const value = data[field];
  return typeof value === 'bigint' ? value : null;
}
