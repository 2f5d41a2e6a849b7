// Perp positions and the market totals. Every change removes a position from the totals and adds it back, so that totals and
// positions always agree.

import { abs, BASE_SCALE, FUNDING_BUFFER } from './amounts.ts';
import type { PerpMarket, StoredPerp } from './markets.ts';
import { type Direction, type PerpPosition, POSITIONS_PER_USER } from './model.ts';
import { emit, type Transaction, touch } from './transaction.ts';
import type { Trader } from './world.ts';

/** The trader's position in a perp market, opened if absent. */
export function perpPosition(trader: Trader, marketIndex: number): PerpPosition {
  const { perp_positions: positions } = trader.account;
  const known = positions.find((position) => position.market_index === marketIndex);
  if (known) return known;
  if (positions.length >= POSITIONS_PER_USER) throw new Error(`${trader.key} has no free perp position`);
  const opened: PerpPosition = {
    last_cumulative_funding_rate: 0n,
    base_asset_amount: 0n,
    quote_asset_amount: 0n,
    quote_break_even_amount: 0n,
    quote_entry_amount: 0n,
    open_bids: 0n,
    open_asks: 0n,
    settled_pnl: 0n,
    isolated_position_scaled_balance: 0n,
    reduce_only_clob_orders: 0,
    max_margin_ratio: 0,
    market_index: marketIndex,
    open_orders: 0,
    position_flag: 0,
  };
  positions.push(opened);
  return opened;
}

/** Base of a trader in a market, 0 without a position. */
export function baseOf(trader: Trader, marketIndex: number): bigint {
  const position = trader.account.perp_positions.find((candidate) => candidate.market_index === marketIndex);
  return position?.base_asset_amount ?? 0n;
}

/** Cumulative funding rate of the side a position is on. */
export function cumulativeFunding(market: PerpMarket, base: bigint): bigint {
  return base >= 0n ? market.cumulative_funding_rate_long : market.cumulative_funding_rate_short;
}

function count(market: PerpMarket, position: PerpPosition, sign: 1n | -1n): void {
  const base = position.base_asset_amount;
  if (base > 0n) {
    market.base_asset_amount_long += sign * base;
    market.quote_entry_amount_long += sign * position.quote_entry_amount;
    market.quote_break_even_amount_long += sign * position.quote_break_even_amount;
  } else if (base < 0n) {
    market.base_asset_amount_short += sign * base;
    market.quote_entry_amount_short += sign * position.quote_entry_amount;
    market.quote_break_even_amount_short += sign * position.quote_break_even_amount;
  }
  market.quote_asset_amount += sign * position.quote_asset_amount;
  if (base !== 0n) market.number_of_users_with_base += Number(sign);
  if (base !== 0n || position.quote_asset_amount !== 0n) market.number_of_users += Number(sign);
}

function recounted(market: PerpMarket, position: PerpPosition, change: () => void): void {
  count(market, position, -1n);
  change();
  count(market, position, 1n);
}

/**
 * The closed part of a position, for closed-position P&L (docs/internals/history-semantics.md, "Closed positions"): the entry
 * of the closed base, floored, without a base. A flip closes the whole entry and the whole base.
 */
export interface Existing {
  readonly quoteEntry: bigint | null;
  readonly base: bigint | null;
}

const NOTHING_CLOSED: Existing = { quoteEntry: null, base: null };

function closedBy({ base_asset_amount: before, quote_entry_amount: entry }: PerpPosition, base: bigint): Existing {
  if (abs(base) > abs(before)) return { quoteEntry: abs(entry), base: abs(before) };
  return { quoteEntry: (abs(entry) * abs(base)) / abs(before), base: null };
}

/** A trade of `base` (signed, 1e9) for `quote` (opposite sign, 1e6). Settle funding first. */
export function trade(perp: StoredPerp, position: PerpPosition, base: bigint, quote: bigint): Existing {
  const market = perp.account;
  const before = position.base_asset_amount;
  const reduces = before !== 0n && before > 0n !== base > 0n;
  const existing = reduces ? closedBy(position, base) : NOTHING_CLOSED;
  recounted(market, position, () => {
    const after = before + base;
    if (!reduces) {
      position.quote_entry_amount += quote;
      position.quote_break_even_amount += quote;
    } else if (abs(base) < abs(before)) {
      position.quote_entry_amount -= (position.quote_entry_amount * abs(base)) / abs(before);
      position.quote_break_even_amount -= (position.quote_break_even_amount * abs(base)) / abs(before);
    } else {
      const opened = quote - (quote * abs(before)) / abs(base);
      position.quote_entry_amount = opened;
      position.quote_break_even_amount = opened;
    }
    position.base_asset_amount = after;
    position.quote_asset_amount += quote;
    position.last_cumulative_funding_rate = after === 0n ? 0n : cumulativeFunding(market, after);
  });
  return existing;
}

/** A fee taken from (negative) or a rebate given to a position. */
export function applyFee(perp: StoredPerp, position: PerpPosition, amount: bigint): void {
  recounted(perp.account, position, () => {
    position.quote_asset_amount += amount;
    if (position.base_asset_amount !== 0n) position.quote_break_even_amount += amount;
  });
}

/** Changes a position's quote without a trade: settlement, funding, social loss. */
export function changeQuote(perp: StoredPerp, position: PerpPosition, amount: bigint): void {
  recounted(perp.account, position, () => {
    position.quote_asset_amount += amount;
  });
}

/** Unpaid funding of a position, quote 1e6; positive = the position receives. */
export function unpaidFunding(market: PerpMarket, position: PerpPosition): bigint {
  const { base_asset_amount: base, last_cumulative_funding_rate: last } = position;
  if (base === 0n) return 0n;
  return -((cumulativeFunding(market, base) - last) * base) / BASE_SCALE / FUNDING_BUFFER;
}

/** Pays a position's unpaid funding and emits a record (docs/internals/accounts.md, "Funding"). */
export function settleFunding(tx: Transaction, trader: Trader, perp: StoredPerp): void {
  const market = perp.account;
  const position = perpPosition(trader, market.market_index);
  const base = position.base_asset_amount;
  if (base === 0n) return;
  const cumulative = cumulativeFunding(market, base);
  const last = position.last_cumulative_funding_rate;
  if (cumulative === last) return;
  const payment = unpaidFunding(market, position);
  changeQuote(perp, position, payment);
  position.last_cumulative_funding_rate = cumulative;
  market.net_unsettled_funding_pnl -= payment;
  trader.account.cumulative_perp_funding += payment;
  touch(tx, trader, perp);
  emit(tx, 'FundingPaymentRecord', {
    ts: BigInt(tx.now),
    user_authority: trader.account.authority,
    user: trader.key,
    market_index: market.market_index,
    funding_payment: payment,
    base_asset_amount: base,
    user_last_cumulative_funding: last,
    amm_cumulative_funding_long: market.cumulative_funding_rate_long,
    amm_cumulative_funding_short: market.cumulative_funding_rate_short,
  });
}

export function signed(direction: Direction, amount: bigint): bigint {
  return direction === 'long' ? amount : -amount;
}

export function opposite(direction: Direction): Direction {
  return direction === 'long' ? 'short' : 'long';
}

/** P&L of a position at the oracle price, quote 1e6, without unsettled funding. */
export function positionPnl(position: PerpPosition, oracle: bigint): bigint {
  return (position.base_asset_amount * oracle) / BASE_SCALE + position.quote_asset_amount;
}
