// Series whose points are lists. Their schemas name no units, so this table gives the decimals of each place.

import { decimalText } from '../../http/units.ts';
import type { Members } from '../amount-decimals.ts';
import { baseDecimals } from '../lists.ts';
import { type HistoryServices, marketOf } from '../services.ts';

interface Series {
  /** Member of the answer that contains the points. */
  readonly member: string;
  readonly description: string;
  /** Decimals of the values after the time. */
  readonly decimals: (params: Members, services: HistoryServices) => readonly number[];
}

const fixed =
  (...decimals: readonly number[]) =>
  () =>
    decimals;

const RATE_DECIMALS = 6;

/** By path. */
export const SERIES: Readonly<Record<string, Series>> = {
  '/amm/position': {
    member: 'data',
    description: '[ts, base], 9 places; positive = users are long',
    decimals: fixed(9),
  },
  '/amm/bidAskPrice': { member: 'data', description: '[ts, bid, ask], 6 places', decimals: fixed(6, 6) },
  '/amm/oraclePrice': { member: 'data', description: '[ts, price], 6 places', decimals: fixed(6) },
  '/amm/spreads': {
    member: 'data',
    description: '[ts, long, short], 6 places, 1 = 100 %',
    decimals: fixed(6, 6),
  },
  '/amm/openInterest': { member: 'data', description: '[ts, base], 9 places', decimals: fixed(9) },
  '/stats/:symbol/rateHistory/:type': {
    member: 'rates',
    description: '[ts, value]: rates a year with 6 places, 1 = 100 %; balances with as many places as the mint has',
    decimals: ({ symbol, type }, services) => [
      String(type).endsWith('_balance') ? baseDecimals(marketOf(services, String(symbol), 'spot')) : RATE_DECIMALS,
    ],
  },
};

/** Converts points `[ts, ...raw integers as text]` to decimals. */
export function decimalPoints(points: readonly (readonly unknown[])[], decimals: readonly number[]) {
  return points.map(([ts, ...values]) => [
    ts,
    ...values.map((value, place) => decimalText(BigInt(String(value)), decimals[place] ?? 0)),
  ]);
}
