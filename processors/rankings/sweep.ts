// The 20 largest and the 20 smallest claimable P&Ls of a market. One pass in doubles with an error bound finds the
// candidates; only these are computed exactly, so the result equals that of exact numbers.

import type { PositionMarket, RankedUser } from '../../schemas/index.ts';
import { claimablePnl, excessOf } from './pnl.ts';
import type { PositionTable } from './positions.ts';

/** Length of each list (docs/internals/order-book-server.md, Unsettled P&L). */
const RANKED_USERS = 20;

const BASE_SCALE = 1e9;
const FUNDING_SCALE = 1e12;
/** Relative: a dozen roundings of half an ulp each. Absolute: the truncated divisions. */
const RELATIVE_ERROR = 2 ** -49;
const ABSOLUTE_ERROR = 4;

export interface Ranked {
  readonly gainers: readonly RankedUser[];
  readonly losers: readonly RankedUser[];
}

/** Both ends of one list (docs/internals/order-book-server.md, "Unsettled P&L"). Equal P&Ls sort by account bytes. */
export function rank(table: PositionTable, market: PositionMarket): Ranked {
  const excess = excessOf(market);
  const { low, high, floor, ceiling } = estimate(table, market, excess);
  const found: { readonly user: Uint8Array; readonly pnl: bigint; readonly key: string }[] = [];
  for (let row = 0; row < table.size; row++) {
    const most = high[row] ?? 0;
    const least = low[row] ?? 0;
    if ((most < floor && least > ceiling) || (most === 0 && least === 0)) continue;
    const pnl = claimablePnl(table.positionAt(row), market, excess);
    if (pnl !== 0n) found.push({ user: table.user(row), pnl, key: table.key(row) });
  }
  found.sort((a, b) => (a.pnl === b.pnl ? (a.key < b.key ? -1 : 1) : a.pnl > b.pnl ? -1 : 1));
  const users = found.map(({ user, pnl }) => ({ user, pnl }));
  return { gainers: users.slice(0, RANKED_USERS), losers: users.slice(-RANKED_USERS).reverse() };
}

interface Estimate {
  /** Bounds of each row's P&L; both are 0 when it is certainly 0. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** A user below the floor cannot be a gainer; a user above the ceiling cannot be a loser. */
  readonly floor: number;
  readonly ceiling: number;
}

function estimate(table: PositionTable, market: PositionMarket, exactExcess: bigint): Estimate {
  const { base, quote, lastFunding, surplus, size } = table;
  const price = Number(market.oraclePrice) / BASE_SCALE;
  const long = Number(market.cumulativeFundingRateLong);
  const short = Number(market.cumulativeFundingRateShort);
  const excess = Number(exactExcess);
  const low = new Float64Array(size);
  const high = new Float64Array(size);
  const best = new Extremes();
  const worst = new Extremes();
  for (let row = 0; row < size; row++) {
    const held = base[row] ?? 0;
    const cash = quote[row] ?? 0;
    const spare = surplus[row] ?? 0;
    const last = held === 0 ? 0 : (lastFunding[row] ?? 0);
    const cumulative = held > 0 ? long : held < 0 ? short : 0;
    const worth = held * price;
    const unit = held / FUNDING_SCALE;
    const pnl = worth + cash - (cumulative - last) * unit;
    const most = spare + excess;
    const size =
      Math.abs(worth) + Math.abs(cash) + (Math.abs(cumulative) + Math.abs(last)) * Math.abs(unit) + Math.abs(most);
    const error = size * RELATIVE_ERROR + ABSOLUTE_ERROR;
    // A gain is 0 when the pools cannot pay it.
    if (most === 0 && pnl > error) continue;
    const value = Math.min(pnl, most);
    low[row] = value - error;
    high[row] = value + error;
    if (Math.abs(value) <= error) continue;
    best.add(value - error);
    worst.add(-(value + error));
  }
  return { low, high, floor: best.least, ceiling: -worst.least };
}

/** Keeps the largest numbers; the least of them is the bar for others. */
class Extremes {
  readonly #kept: number[] = [];

  /** -Infinity until there are enough. */
  get least(): number {
    return this.#kept.length < RANKED_USERS ? Number.NEGATIVE_INFINITY : (this.#kept[0] ?? 0);
  }

  add(value: number): void {
    const kept = this.#kept;
    if (kept.length === RANKED_USERS) {
      if (value <= (kept[0] ?? 0)) return;
      kept.shift();
    }
    let at = kept.length;
    while (at > 0 && (kept[at - 1] ?? 0) > value) at -= 1;
    kept.splice(at, 0, value);
  }
}
