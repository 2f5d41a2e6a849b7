// Token balances of one account at the points of a grid, from its movements of tokens.

import type { TokenMoveRow } from '../queries/snapshots.ts';
import { byBucket, type CarriedForward } from './series.ts';

/** Cumulative interest 1e10. */
export interface Interest {
  /** When a record said so. */
  readonly slot: bigint;
  readonly deposit: bigint;
  readonly borrow: bigint;
}

/** What is known of a spot market at a point; null where nothing is. */
export interface SpotMarkets {
  /** Oracle price 1e6 by `spot-1`. */
  readonly prices: CarriedForward<bigint>;
  /** By `spot-1`. */
  readonly interest: CarriedForward<Interest>;
  /** Ten to the decimals of the market's token. */
  readonly scaleOf: (marketIndex: number) => bigint;
}

/** One token of an account at one point: tokens in mint decimals, all sums since its first movement. */
export interface TokenBalance {
  readonly marketIndex: number;
  /**
   * What the newest deposit record (deposit, withdrawal, transfer, reward) says the account held after it, times the change
   * of the market's cumulative interest from that record to a newer interest record at or before the point (deposit
   * interest for a balance, borrow interest for a debt; truncated toward zero), plus every movement since that record.
   * Deposit interest falls when lenders share a loss. Without a deposit record: the sum of the movements.
   */
  readonly balance: bigint;
  /** Deposits and withdrawals, transfers among them, rewards not; both positive. */
  readonly deposits: bigint;
  readonly withdrawals: bigint;
  readonly rewards: bigint;
  /** P&L of perp positions settled into this token (the quote token alone has any). */
  readonly pnl: bigint;
  /** `balance` less all movements: what nothing but interest explains. */
  readonly interest: bigint;
  /** Oracle price 1e6: the newest sample at or before the point, else that of the newest record naming one, else 0. */
  readonly price: bigint;
  /** Worth of a token amount in quote 1e6, truncated toward zero. */
  readonly worth: (tokens: bigint) => bigint;
}

export interface BalancePoint {
  readonly balances: readonly TokenBalance[];
  /** True when tokens moved before the first deposit record of their market: the balance begins at an unknown amount. */
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

/** The newest deposit record settles the balance; `moves` are in the order of slots. */
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
      // Settled P&L may be the first thing that an account ever holds of the quote token.
      isIncomplete ||= own.anchor === null && own.moved !== own.pnl;
    }
    const balances = [...held].sort(([a], [b]) => a - b).map(([index, own]) => balanceAt(index, own, point, markets));
    return { balances, isIncomplete };
  });
}

/** What moved in each market and slot, slot after slot. */
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

/** Sums up what moved in a slot; a deposit record among it says what the account held then. */
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

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** Of more movements than this in one slot each further one is taken for a later one. */
const MAX_MOVES = 8;

/**
 * The sum of those movements that comes nearest to an amount. The order of transactions in a slot is not known; what a deposit
 * record says the account held tells which of the slot's other movements came before it.
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
    worth: (tokens) => (tokens * price) / scale,
  };
}

function grown({ amount, interest }: NonNullable<Held['anchor']>, now: Interest | null): bigint {
  if (now === null || now.slot < interest.slot) return amount;
  const [from, to] = amount < 0n ? [interest.borrow, now.borrow] : [interest.deposit, now.deposit];
  return from === 0n ? amount : (amount * to) / from;
}
