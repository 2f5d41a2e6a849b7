// Token balances of one account at the points of a grid, from its movements of tokens.

import type { TokenMoveRow } from '../queries/snapshots.ts';
import { byBucket, type CarriedForward } from './series.ts';

/** Cumulative interest 1e10. */
export interface Interest {
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
   * What the newest deposit record (deposit, withdrawal, transfer, reward) says the account held after it, times the growth
   * of the market's cumulative interest from that record to the newest interest record at or before the point (deposit
   * interest for a balance, borrow interest for a debt; truncated toward zero), plus every movement since that record.
   * Without a deposit record: the sum of the movements.
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

/** The newest deposit record settles the balance; `moves` are in the order of the chain. */
export function balancePoints(
  moves: readonly TokenMoveRow[],
  size: number,
  markets: SpotMarkets,
): readonly BalancePoint[] {
  const held = new Map<number, Held>();
  let isIncomplete = false;
  return byBucket(moves, size).map((bucket, point) => {
    for (const move of bucket) {
      const own = held.get(move.marketIndex) ?? empty();
      held.set(move.marketIndex, own);
      isIncomplete ||= own.anchor === null && move.after === null && !(own.moved === 0n && isTransferOfQuote(move));
      take(own, move);
    }
    const balances = [...held].sort(([a], [b]) => a - b).map(([index, own]) => balanceAt(index, own, point, markets));
    return { balances, isIncomplete };
  });
}

/** Settled P&L may be the first thing an account ever holds of the quote token. */
const isTransferOfQuote = ({ kind }: TokenMoveRow): boolean => kind === 'settle';

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

function take(own: Held, { kind, delta: text, after, depositInterest, borrowInterest, price }: TokenMoveRow): void {
  const delta = BigInt(text);
  if (kind === 'deposit') own.deposits += delta;
  if (kind === 'withdraw') own.withdrawals -= delta;
  if (kind === 'reward') own.rewards += delta;
  if (kind === 'settle') own.pnl += delta;
  own.moved += delta;
  if (price !== '0') own.price = BigInt(price);
  if (after === null) {
    own.since += delta;
    return;
  }
  own.anchor = {
    amount: BigInt(after),
    interest: { deposit: BigInt(depositInterest), borrow: BigInt(borrowInterest) },
  };
  own.since = 0n;
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
  const [from, to] = amount < 0n ? [interest.borrow, now?.borrow] : [interest.deposit, now?.deposit];
  return to === undefined || from === 0n || to <= from ? amount : (amount * to) / from;
}
