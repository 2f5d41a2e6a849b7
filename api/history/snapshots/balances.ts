// Token balances of one account at the points of a grid, from its token movements.

import { quoteValue } from '../../../schemas/index.ts';
import type { TokenMoveRow } from '../queries/snapshots.ts';
import { byBucket, type CarriedForward } from './series.ts';

/** Cumulative interest 1e10. */
export interface Interest {
  /** Slot of the record. */
  readonly slot: bigint;
  readonly deposit: bigint;
  readonly borrow: bigint;
}

/** State of the spot markets at each point. */
export interface SpotMarkets {
  /** Oracle price 1e6 by `spot-1`. */
  readonly prices: CarriedForward<bigint>;
  /** By `spot-1`. */
  readonly interest: CarriedForward<Interest>;
  /** Ten to the decimals of the market's token. */
  readonly scaleOf: (marketIndex: number) => bigint;
}

/** One token of an account at one point. Tokens in mint decimals; all sums start at its first movement. */
export interface TokenBalance {
  readonly marketIndex: number;
  /**
   * The balance after the newest deposit record (deposit, withdrawal, transfer, reward), scaled by the change of the market's
   * cumulative interest since that record, plus every movement since. Deposit interest applies to a balance, borrow interest
   * to a debt, truncated toward zero, up to the newest interest record at or before the point. Deposit interest falls when
   * lenders share a loss. Without a deposit record: the sum of the movements.
   */
  readonly balance: bigint;
  /** Deposits and withdrawals with transfers, without rewards; both positive. */
  readonly deposits: bigint;
  readonly withdrawals: bigint;
  readonly rewards: bigint;
  /** P&L of perp positions settled into this token; only the quote token has any. */
  readonly pnl: bigint;
  /** `balance` less all movements. */
  readonly interest: bigint;
  /** Oracle price 1e6: the newest sample at or before the point, else the newest price in a record, else 0. */
  readonly price: bigint;
  /** Value of a token amount in quote 1e6, truncated toward zero. */
  readonly worth: (tokens: bigint) => bigint;
}

export interface BalancePoint {
  readonly balances: readonly TokenBalance[];
  /** True when tokens moved before the first deposit record of their market, so the starting balance is unknown. */
  readonly isIncomplete: boolean;
}

interface Held {
  deposits: bigint;
  withdrawals: bigint;
  rewards: bigint;
  pnl: bigint;
  /** Every movement. */
  moved: bigint;
  anchor: { readonly amount: bigint; readonly interest: Interest } | null;
  /** Movements since the anchor. */
  since: bigint;
  price: bigint;
}

/** Balances at each point; the newest deposit record fixes a balance. `moves` are sorted by slot. */
export function balancePoints(
  moves: readonly TokenMoveRow[],
  size: number,
  markets: SpotMarkets,
): readonly BalancePoint[] {
  const held = new Map<number, Held>();
  let isIncomplete = false;
  return byBucket(moves, size).map((bucket, point) => {
    for (const [marketIndex, slot] of bySlot(bucket)) {
      const own = held.get(marketIndex) ?? empty();
      held.set(marketIndex, own);
      takeSlot(own, slot);
      // Settled P&L may be the account's first movement of the quote token.
      isIncomplete ||= own.anchor === null && own.moved !== own.pnl;
    }
    const balances = [...held].sort(([a], [b]) => a - b).map(([index, own]) => balanceAt(index, own, point, markets));
    return { balances, isIncomplete };
  });
}

/** Movements of each market, grouped by slot in slot order. */
function bySlot(moves: readonly TokenMoveRow[]): readonly (readonly [number, readonly TokenMoveRow[]])[] {
  const slots = new Map<string, [number, TokenMoveRow[]]>();
  for (const move of moves) {
    const key = `${move.marketIndex}-${move.slot}`;
    const known = slots.get(key);
    if (known) known[1].push(move);
    else slots.set(key, [move.marketIndex, [move]]);
  }
  return [...slots.values()];
}

const empty = (): Held => ({
  deposits: 0n,
  withdrawals: 0n,
  rewards: 0n,
  pnl: 0n,
  moved: 0n,
  anchor: null,
  since: 0n,
  price: 0n,
});

/** Adds the movements of a slot; a deposit record among them fixes the balance. */
function takeSlot(own: Held, moves: readonly TokenMoveRow[]): void {
  const records = moves.filter(({ after }) => after !== null);
  const others = moves.filter(({ after }) => after === null).map(({ delta }) => BigInt(delta));
  const last = records.toSorted((a, b) => Number(BigInt(a.recordId) - BigInt(b.recordId))).at(-1);
  if (last?.after) {
    const interest = {
      slot: BigInt(last.slot),
      deposit: BigInt(last.depositInterest),
      borrow: BigInt(last.borrowInterest),
    };
    const amount = BigInt(last.after);
    const expected = own.anchor ? grown(own.anchor, interest) + own.since : own.moved;
    const unexplained = amount - expected - sum(records.map(({ delta }) => BigInt(delta)));
    own.anchor = { amount, interest };
    own.since = sum(others) - nearestSum(others, unexplained);
  } else own.since += sum(others);
  for (const move of moves) take(own, move);
}

function take(own: Held, { kind, delta: text, price }: TokenMoveRow): void {
  const delta = BigInt(text);
  if (kind === 'deposit') own.deposits += delta;
  if (kind === 'withdraw') own.withdrawals -= delta;
  if (kind === 'reward') own.rewards += delta;
  if (kind === 'settle') own.pnl += delta;
  own.moved += delta;
  if (price !== '0') own.price = BigInt(price);
}

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** Movements of one slot beyond this number count as later than the deposit record. */
const MAX_MOVES = 8;

/**
 * The sum of a subset of movements that comes nearest to an amount. The order of transactions in a slot is unknown; the balance
 * in a deposit record shows which other movements of the slot preceded it.
 */
function nearestSum(moves: readonly bigint[], amount: bigint): bigint {
  const sums = [0n];
  for (const move of moves.slice(0, MAX_MOVES)) sums.push(...sums.map((one) => one + move));
  const away = (one: bigint): bigint => (one > amount ? one - amount : amount - one);
  return sums.reduce((best, one) => (away(one) < away(best) ? one : best), 0n);
}

function balanceAt(marketIndex: number, own: Held, point: number, markets: SpotMarkets): TokenBalance {
  const name = `spot-${marketIndex}`;
  const balance = own.anchor === null ? own.moved : grown(own.anchor, markets.interest.at(name, point)) + own.since;
  const price = markets.prices.at(name, point) ?? own.price;
  const scale = markets.scaleOf(marketIndex);
  return {
    marketIndex,
    balance,
    deposits: own.deposits,
    withdrawals: own.withdrawals,
    rewards: own.rewards,
    pnl: own.pnl,
    interest: balance - own.moved,
    price,
    worth: (tokens) => quoteValue(tokens, price, scale),
  };
}

function grown({ amount, interest }: NonNullable<Held['anchor']>, now: Interest | null): bigint {
  if (now === null || now.slot < interest.slot) return amount;
  const [from, to] = amount < 0n ? [interest.borrow, now.borrow] : [interest.deposit, now.deposit];
  return from === 0n ? amount : (amount * to) / from;
}
