// Token balances in spot markets: deposits and borrows as scaled amounts (docs/internals/accounts.md, "Units").

import { ceilDiv, min } from './amounts.ts';
import type { SpotMarket, StoredSpot } from './markets.ts';
import { POSITIONS_PER_USER, type PoolBalance, type SpotPosition } from './model.ts';
import type { Trader } from './world.ts';

/** Scaled balances have 9 decimals and interest 10, so the scale to tokens is 19 minus the token's decimals. */
function scaleOf(market: SpotMarket): bigint {
  return 10n ** BigInt(19 - market.decimals);
}

/** Tokens of a position: positive for a deposit, negative for a borrow. */
export function signedTokens(market: SpotMarket, position: SpotPosition): bigint {
  if (position.balance_type === 'deposit') return depositTokens(market, position.scaled_balance);
  return -ceilDiv(position.scaled_balance * market.cumulative_borrow_interest, scaleOf(market));
}

export function depositTokens(market: SpotMarket, scaled: bigint): bigint {
  return (scaled * market.cumulative_deposit_interest) / scaleOf(market);
}

export function borrowTokens(market: SpotMarket, scaled: bigint): bigint {
  return ceilDiv(scaled * market.cumulative_borrow_interest, scaleOf(market));
}

/** The trader's position in a spot market, opened if absent. Throws when all eight entries are taken. */
function spotPosition(trader: Trader, marketIndex: number): SpotPosition {
  const { spot_positions: positions } = trader.account;
  const known = positions.find((position) => position.market_index === marketIndex);
  if (known) return known;
  if (positions.length >= POSITIONS_PER_USER) throw new Error(`${trader.key} has no free spot position`);
  const opened: SpotPosition = {
    scaled_balance: 0n,
    open_bids: 0n,
    open_asks: 0n,
    cumulative_deposits: 0n,
    market_index: marketIndex,
    balance_type: 'deposit',
    open_orders: 0,
  };
  positions.push(opened);
  return opened;
}

/** The trader's tokens in a market, negative when borrowed. */
export function tokensOf(trader: Trader, spot: StoredSpot): bigint {
  const { market_index: index } = spot.account;
  const position = trader.account.spot_positions.find((candidate) => candidate.market_index === index);
  return position ? signedTokens(spot.account, position) : 0n;
}

/** Changes a trader's tokens. A balance that crosses zero becomes a borrow or a deposit. */
export function changeTokens(trader: Trader, spot: StoredSpot, delta: bigint): void {
  const market = spot.account;
  const position = spotPosition(trader, market.market_index);
  position.cumulative_deposits += delta;
  let left = delta < 0n ? -delta : delta;
  const growing = delta > 0n ? 'deposit' : 'borrow';
  if (position.balance_type !== growing && position.scaled_balance > 0n) left -= shrink(market, position, left);
  if (left > 0n) grow(market, position, growing, left);
}

/** Reduces the position by up to `tokens` on its current side. Returns the reduction. */
function shrink(market: SpotMarket, position: SpotPosition, tokens: bigint): bigint {
  const isDeposit = position.balance_type === 'deposit';
  const interest = isDeposit ? market.cumulative_deposit_interest : market.cumulative_borrow_interest;
  const held = isDeposit
    ? depositTokens(market, position.scaled_balance)
    : borrowTokens(market, position.scaled_balance);
  const taken = min(tokens, held);
  const exact =
    taken === held ? position.scaled_balance : min(position.scaled_balance, ceilDiv(taken * scaleOf(market), interest));
  position.scaled_balance -= exact;
  if (isDeposit) market.deposit_balance -= exact;
  else market.borrow_balance -= exact;
  return taken;
}

function grow(market: SpotMarket, position: SpotPosition, side: 'deposit' | 'borrow', tokens: bigint): void {
  position.balance_type = side;
  const interest = side === 'deposit' ? market.cumulative_deposit_interest : market.cumulative_borrow_interest;
  // Rounds against the user: a deposit down, a borrow up.
  const scaled =
    side === 'deposit' ? (tokens * scaleOf(market)) / interest : ceilDiv(tokens * scaleOf(market), interest);
  position.scaled_balance += scaled;
  if (side === 'deposit') market.deposit_balance += scaled;
  else market.borrow_balance += scaled;
}

/** Tokens of a pool in this spot market. */
export function poolTokens(spot: StoredSpot, pool: PoolBalance): bigint {
  return depositTokens(spot.account, pool.scaled_balance);
}

/** Moves tokens into a pool, or out of it. Throws when the pool has fewer. */
export function changePool(spot: StoredSpot, pool: PoolBalance, delta: bigint): void {
  const market = spot.account;
  const magnitude = (delta < 0n ? -delta : delta) * scaleOf(market);
  const scaled =
    delta < 0n
      ? -ceilDiv(magnitude, market.cumulative_deposit_interest)
      : magnitude / market.cumulative_deposit_interest;
  if (pool.scaled_balance + scaled < 0n) throw new RangeError('the pool holds fewer tokens');
  pool.scaled_balance += scaled;
  market.deposit_balance += scaled;
}
