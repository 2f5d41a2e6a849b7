// Books one account event by event, as the program does: positions, P&L, tokens. The base of recomputed snapshots.

import { big, type Data, type MonthEvent, type MonthTruth } from './truth.ts';

const BASE_SCALE = 1_000_000_000n;
const INTEREST_SCALE = 10_000_000_000n;
export const TOKEN_SCALES = [1_000_000n, 1_000_000_000n, 100_000_000n] as const;

interface Position {
  base: bigint;
  /** Negative for the cost of a long, positive for the proceeds of a short. */
  entry: bigint;
  /** Oracle price of the account's newest fill. */
  price: bigint;
}

interface Interest {
  readonly order: number;
  readonly deposit: bigint;
  readonly borrow: bigint;
}

/** One token of an account. */
interface Purse {
  deposits: bigint;
  withdrawals: bigint;
  rewards: bigint;
  settled: bigint;
  /** Every movement. */
  moved: bigint;
  /** Balance and interest after the newest deposit record. */
  recorded: { readonly amount: bigint; readonly interest: Interest } | null;
  movedSince: bigint;
  price: bigint;
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

export class AccountLedger {
  realized = 0n;
  funding = 0n;
  settled = 0n;
  feePaid = 0n;
  feeRebate = 0n;
  takerVolume = 0n;
  makerVolume = 0n;
  /** Unsettled quote gains and losses of positions. */
  cash = 0n;
  events = 0;
  readonly positions = new Map<number, Position>();
  readonly purses = new Map<number, Purse>();
  readonly #user: string;

  constructor(user: string) {
    this.#user = user;
  }

  take(event: MonthEvent): void {
    const { name, data } = event;
    this.events += 1;
    if (name === 'OrderActionRecord') this.#fill(data);
    else if (name === 'FundingPaymentRecord') {
      this.funding += big(data.funding_payment);
      this.cash += big(data.funding_payment);
    } else if (name === 'SettlePnlRecord') this.#settle(data);
    else if (name === 'DepositRecord') this.#deposit(event);
    else if (name === 'SwapRecord') {
      this.#move(Number(data.in_market_index), -big(data.amount_in), big(data.in_oracle_price));
      this.#move(Number(data.out_market_index), big(data.amount_out), big(data.out_oracle_price));
    } else if (name === 'LiquidationRecord') this.#liquidation(data);
  }

  #fill(data: Data): void {
    for (const side of ['taker', 'maker'] as const) {
      if (data[side] !== this.#user) continue;
      const [size, quote, fee] = [
        big(data.base_asset_amount_filled),
        big(data.quote_asset_amount_filled),
        big(data[`${side}_fee`]),
      ];
      if (fee > 0n) this.feePaid += fee;
      else this.feeRebate -= fee;
      if (data.action_explanation !== 'transferPerpPosition') {
        if (side === 'taker') this.takerVolume += quote;
        else this.makerVolume += quote;
      }
      const sign = data[`${side}_order_direction`] === 'long' ? 1n : -1n;
      this.cash -= sign * quote + fee;
      this.#trade(Number(data.market_index), sign, size, quote, fee);
      this.#position(Number(data.market_index)).price = big(data.oracle_price);
    }
  }

  /** Opens, closes, or closes and opens the other way. */
  #trade(market: number, sign: bigint, size: bigint, quote: bigint, fee: bigint): void {
    const position = this.#position(market);
    const held = magnitude(position.base);
    const isOpening = position.base === 0n || position.base > 0n === sign > 0n;
    position.base += sign * size;
    if (isOpening) {
      position.entry -= sign * quote;
      return;
    }
    const closed = size < held ? size : held;
    const closedEntry = (magnitude(position.entry) * closed) / held;
    const closedQuote = (quote * closed) / size;
    this.realized += -sign * (closedQuote - closedEntry) - (fee * closed) / size;
    // The rest of a long's entry stays negative, of a short's positive.
    position.entry += sign > 0n ? -closedEntry : closedEntry;
    if (size <= held) return;
    position.entry = -sign * (quote - closedQuote);
  }

  #position(market: number): Position {
    const position = this.positions.get(market) ?? { base: 0n, entry: 0n, price: 0n };
    this.positions.set(market, position);
    return position;
  }

  /** The record has the position, which must equal the booked one. */
  #settle(data: Data): void {
    const { base, entry } = this.#position(Number(data.market_index));
    if (base !== big(data.base_asset_amount) || entry !== big(data.quote_entry_amount)) {
      throw new Error(`${this.#user} settled ${JSON.stringify(data)}, and has ${base} for ${entry}`);
    }
    this.settled += big(data.pnl);
    this.cash -= big(data.pnl);
    this.#move(0, big(data.pnl)).settled += big(data.pnl);
  }

  #deposit({ data, order }: MonthEvent): void {
    const [index, amount] = [Number(data.market_index), big(data.amount)];
    const isIn = data.direction === 'deposit';
    const purse = this.#move(index, isIn ? amount : -amount, big(data.oracle_price));
    if (data.explanation === 'reward') purse.rewards += amount;
    else if (isIn) purse.deposits += amount;
    else purse.withdrawals += amount;
    purse.recorded = {
      amount: big(data.user_token_amount_after),
      interest: {
        order,
        deposit: big(data.market_cumulative_deposit_interest),
        borrow: big(data.market_cumulative_borrow_interest),
      },
    };
    purse.movedSince = 0n;
  }

  #liquidation(data: Data): void {
    const isLiquidator = data.liquidator === this.#user;
    const sign = isLiquidator ? -1n : 1n;
    const part = (name: string): Data => data[name] as Data;
    if (data.liquidation_type === 'liquidateSpot') {
      const spot = part('liquidate_spot');
      const fees = isLiquidator ? 0n : big(spot.if_fee) + big(spot.protocol_fee);
      this.#move(Number(spot.asset_market_index), -sign * big(spot.asset_transfer), big(spot.asset_price));
      const paid = sign * big(spot.liability_transfer) - fees;
      this.#move(Number(spot.liability_market_index), paid, big(spot.liability_price));
    } else if (data.liquidation_type === 'liquidateBorrowForPerpPnl') {
      const borrow = part('liquidate_borrow_for_perp_pnl');
      this.cash -= sign * big(borrow.pnl_transfer);
      const paid = sign * big(borrow.liability_transfer);
      this.#move(Number(borrow.liability_market_index), paid, big(borrow.liability_price));
    } else if (data.liquidation_type === 'liquidatePerpPnlForDeposit') {
      const loss = part('liquidate_perp_pnl_for_deposit');
      this.cash += sign * big(loss.pnl_transfer);
      this.#move(Number(loss.asset_market_index), -sign * big(loss.asset_transfer), big(loss.asset_price));
    } else if (isLiquidator) return;
    else if (data.liquidation_type === 'perpBankruptcy') this.cash -= big(part('perp_bankruptcy').pnl);
    else if (data.liquidation_type === 'spotBankruptcy') {
      const debt = part('spot_bankruptcy');
      this.#move(Number(debt.market_index), big(debt.borrow_amount));
    }
  }

  #move(index: number, amount: bigint, price?: bigint): Purse {
    const purse = this.purses.get(index) ?? {
      deposits: 0n,
      withdrawals: 0n,
      rewards: 0n,
      settled: 0n,
      moved: 0n,
      recorded: null,
      movedSince: 0n,
      price: 0n,
    };
    this.purses.set(index, purse);
    purse.moved += amount;
    purse.movedSince += amount;
    if (price !== undefined) purse.price = price;
    return purse;
  }

  /** Tokens of a market: the last recorded balance, its interest since, and later movements. */
  balance(index: number, now: Interest | null): bigint {
    const purse = this.purses.get(index);
    if (!purse?.recorded) return purse?.moved ?? 0n;
    const { amount, interest } = purse.recorded;
    if (now === null || now.order < interest.order) return amount + purse.movedSince;
    const side = amount < 0n ? 'borrow' : 'deposit';
    return (amount * now[side]) / interest[side] + purse.movedSince;
  }
}

/** Every event that moved something of an account, oldest first, without bankruptcies that it only declared. */
export function eventsOf(truth: MonthTruth, user: string): readonly MonthEvent[] {
  const own = (data: Data): boolean =>
    data.user === user || (data.liquidator === user && !/Bankruptcy$/.test(String(data.liquidation_type)));
  const kinds = ['FundingPaymentRecord', 'SettlePnlRecord', 'DepositRecord', 'SwapRecord', 'LiquidationRecord'];
  return [
    ...truth.fills((data) => data.taker === user || data.maker === user),
    ...kinds.flatMap((kind) => truth.of(kind, own)),
  ].sort((a, b) => a.order - b.order);
}

/** Newest interest record of a spot market at a time. */
export function interestAt(truth: MonthTruth, index: number, ts: number): Interest | null {
  const found = truth.of('SpotInterestRecord', (data) => data.market_index === index).findLast((one) => one.ts <= ts);
  if (!found) return null;
  const { cumulative_deposit_interest: deposit, cumulative_borrow_interest: borrow } = found.data;
  return { order: found.order, deposit: big(deposit), borrow: big(borrow) };
}

export function worthOfBase(base: bigint, price: bigint): bigint {
  return (base * price) / BASE_SCALE;
}

export function worthOfTokens(index: number, tokens: bigint, price: bigint): bigint {
  return (tokens * price) / (TOKEN_SCALES[index] ?? INTEREST_SCALE);
}
