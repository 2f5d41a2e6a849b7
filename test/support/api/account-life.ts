// A few days of two accounts' events as stored rows, and a naive reader that recomputes every point from all earlier events.

export const YOUNG = 'y'.repeat(32);
export const OLD = 'o'.repeat(32);
const USERS = [YOUNG, OLD] as const;

type Row = Record<string, unknown>;

interface Position {
  base: bigint;
  entry: bigint;
}

interface Tokens {
  anchor: bigint;
  anchorInterest: bigint;
  /** Index of the event with the anchor. */
  anchorId: number;
  since: bigint;
  moved: bigint;
  deposits: bigint;
  withdrawals: bigint;
  rewards: bigint;
  pnl: bigint;
}

class Account {
  readonly positions = new Map<number, Position>();
  readonly tokens = new Map<number, Tokens>();
  cash = 0n;
  realized = 0n;
  settled = 0n;
  funding = 0n;
  paid = 0n;
  rebate = 0n;
  taken = 0n;
  made = 0n;

  position(market: number): Position {
    const position = this.positions.get(market) ?? { base: 0n, entry: 0n };
    this.positions.set(market, position);
    return position;
  }

  held(market: number): Tokens {
    const none = {
      anchor: 0n,
      anchorInterest: 0n,
      anchorId: 0,
      since: 0n,
      moved: 0n,
      deposits: 0n,
      withdrawals: 0n,
      rewards: 0n,
      pnl: 0n,
    };
    const tokens = this.tokens.get(market) ?? none;
    this.tokens.set(market, tokens);
    return tokens;
  }
}

type Accounts = Readonly<Record<string, Account>>;
const accounts = (): Accounts => Object.fromEntries(USERS.map((user) => [user, new Account()]));

interface Event {
  readonly ts: number;
  readonly apply: (accounts: Accounts) => void;
}

const big = (value: number) => BigInt(Math.floor(value));
const magnitude = (value: bigint) => (value < 0n ? -value : value);

/** Ten to the decimals of USDT (0) and SOL (1). */
const SCALES = [1_000_000n, 1_000_000_000n];
const STEP_S = 977;

export class Life {
  readonly rows: Readonly<Record<string, Row[]>> = {
    order_action: [],
    funding_payment: [],
    settle_pnl: [],
    deposit: [],
    swap: [],
    market_sample: [],
    spot_interest: [],
  };
  readonly #events: Event[] = [];
  readonly #prices: { readonly market: string; readonly ts: number; readonly price: bigint }[] = [];
  readonly #interest: { readonly id: number; readonly market: number; readonly ts: number; readonly index: bigint }[] =
    [];
  readonly #now: Accounts = accounts();
  #random: () => number;
  #id = 0;

  constructor(random: () => number, from: number, to: number) {
    this.#random = random;
    for (let ts = from; ts <= to; ts += STEP_S) this.#step(ts);
  }

  #step(ts: number): void {
    const kind = Math.floor(this.#random() * 10);
    const user = this.#random() < 0.5 ? YOUNG : OLD;
    if (kind < 5) this.#fill(ts, user);
    else if (kind === 5) this.#fundingPayment(ts, user);
    else if (kind === 6) this.#settle(ts, user);
    else if (kind === 7) this.#deposit(ts, user);
    else if (kind === 8) this.#swap(ts, user);
    else this.#sample(ts);
  }

  #happens(ts: number, apply: Event['apply']): void {
    this.#events.push({ ts, apply });
    apply(this.#now);
  }

  /** Returns the index of the event. */
  #put(table: string, ts: number, members: Row): number {
    const id = ++this.#id;
    this.rows[table]?.push({
      signature: String(id).padStart(64, 'l'),
      event_index: id % 7,
      slot: String(1000 + id),
      tx_index: 3,
      ts,
      ...members,
    });
    return id;
  }

  #fill(ts: number, taker: string): void {
    const maker = taker === YOUNG ? OLD : YOUNG;
    const market = Math.floor(this.#random() * 2);
    const base = big(this.#random() * 3e9) + 1n;
    const price = big(100e6 + this.#random() * 10e6);
    const quote = (base * price) / 1_000_000_000n;
    const direction = this.#random() < 0.5 ? 'long' : 'short';
    const other = direction === 'long' ? 'short' : 'long';
    const [takerFee, makerFee] = [quote / 1000n, -(quote / 5000n)];
    const moved = this.#random() < 0.1;
    const takerSide = existing(this.#now[taker]?.position(market), direction, base);
    const makerSide = existing(this.#now[maker]?.position(market), other, base);
    this.#put('order_action', ts, {
      action: 'fill',
      action_explanation: moved ? 'transferPerpPosition' : 'orderFilledWithMatch',
      market_type: 'perp',
      market_index: market,
      fill_record_id: String(this.#id),
      base_asset_amount_filled: String(base),
      quote_asset_amount_filled: String(quote),
      taker,
      maker,
      taker_fee: String(takerFee),
      maker_fee: String(makerFee),
      taker_order_direction: direction,
      maker_order_direction: other,
      taker_existing_quote_entry_amount: text(takerSide.quote),
      taker_existing_base_asset_amount: text(takerSide.base),
      maker_existing_quote_entry_amount: text(makerSide.quote),
      maker_existing_base_asset_amount: text(makerSide.base),
      oracle_price: String(price),
      bit_flags: 0,
    });
    this.#happens(ts, (all) => {
      trade(all[taker], market, direction, base, quote, takerFee);
      trade(all[maker], market, other, base, quote, makerFee);
      if (moved) return;
      if (all[taker]) all[taker].taken += quote;
      if (all[maker]) all[maker].made += quote;
    });
  }

  #fundingPayment(ts: number, user: string): void {
    const payment = big(this.#random() * 2e6) - 1_000_000n;
    this.#put('funding_payment', ts, { user, market_index: 0, funding_payment: String(payment) });
    this.#happens(ts, ({ [user]: account }) => {
      if (!account) return;
      account.funding += payment;
      account.cash += payment;
    });
  }

  #settle(ts: number, user: string): void {
    const pnl = big(this.#random() * 2e7) - 10_000_000n;
    this.#put('settle_pnl', ts, { user, market_index: 1, pnl: String(pnl), explanation: 'none' });
    this.#happens(ts, ({ [user]: account }) => {
      if (!account) return;
      account.settled += pnl;
      account.cash -= pnl;
      const held = account.held(0);
      held.pnl += pnl;
      held.since += pnl;
      held.moved += pnl;
    });
  }

  #deposit(ts: number, user: string): void {
    const market = Math.floor(this.#random() * 2);
    const amount = big(this.#random() * 5e9) + 1n;
    const kind = (['deposit', 'withdraw', 'reward'] as const)[Math.floor(this.#random() * 3)] ?? 'deposit';
    const delta = kind === 'withdraw' ? -amount : amount;
    const interest = 10_000_000_000n + BigInt(ts % 1_000_000);
    const after =
      (this.#now[user]?.held(market).anchor ?? 0n) + (this.#now[user]?.held(market).since ?? 0n) + delta + 17n;
    const id = this.#put('deposit', ts, {
      user,
      direction: kind === 'withdraw' ? 'withdraw' : 'deposit',
      explanation: kind === 'reward' ? 'reward' : 'none',
      amount: String(amount),
      market_index: market,
      oracle_price: '0',
      market_cumulative_deposit_interest: String(interest),
      market_cumulative_borrow_interest: String(interest),
      user_token_amount_after: String(after),
    });
    this.#happens(ts, ({ [user]: account }) => {
      if (!account) return;
      const held = account.held(market);
      if (kind === 'deposit') held.deposits += amount;
      if (kind === 'withdraw') held.withdrawals += amount;
      if (kind === 'reward') held.rewards += amount;
      held.moved += delta;
      Object.assign(held, { anchor: after, anchorInterest: interest, anchorId: id, since: 0n });
    });
  }

  #swap(ts: number, user: string): void {
    const [amountIn, amountOut] = [big(this.#random() * 1e7), big(this.#random() * 1e9)];
    this.#put('swap', ts, {
      user,
      in_market_index: 0,
      out_market_index: 1,
      amount_in: String(amountIn),
      amount_out: String(amountOut),
      in_oracle_price: '0',
      out_oracle_price: '0',
      fee: '5',
    });
    this.#happens(ts, ({ [user]: account }) => {
      if (!account) return;
      for (const [market, delta] of [
        [0, -amountIn],
        [1, amountOut],
      ] as const) {
        const held = account.held(market);
        held.since += delta;
        held.moved += delta;
      }
    });
  }

  /** Stores a sample: prices of all markets, interest of the spot markets. */
  #sample(ts: number): void {
    for (const [type, index] of [
      ['perp', 0],
      ['perp', 1],
      ['spot', 0],
      ['spot', 1],
    ] as const) {
      const price = big(1e6 + this.#random() * 100e6);
      this.rows.market_sample?.push({
        market_type: type,
        market_index: index,
        ts,
        slot: String(ts),
        oracle_price: String(price),
      });
      this.#prices.push({ market: `${type}-${index}`, ts, price });
      if (type === 'perp') continue;
      const cumulative = 10_000_000_000n + BigInt(ts % 1_000_000) + big(this.#random() * 1e8);
      const id = this.#put('spot_interest', ts, {
        market_index: index,
        cumulative_deposit_interest: String(cumulative),
        cumulative_borrow_interest: String(cumulative),
      });
      this.#interest.push({ id, market: index, ts, index: cumulative });
    }
  }

  /** Newest sampled price, 1e6. */
  priceAt(market: string, ts: number): bigint {
    return this.#prices.findLast((sample) => sample.market === market && sample.ts <= ts)?.price ?? 0n;
  }

  #accountAt(user: string, ts: number): Account {
    const all = accounts();
    for (const event of this.#events) if (event.ts <= ts) event.apply(all);
    return all[user] ?? new Account();
  }

  #balance(held: Tokens, market: number, ts: number): bigint {
    const newest = this.#interest.findLast((record) => record.market === market && record.ts <= ts);
    const isNewer = newest !== undefined && held.anchorInterest > 0n && newest.id > held.anchorId;
    return (isNewer ? (held.anchor * newest.index) / held.anchorInterest : held.anchor) + held.since;
  }

  tradingAt(user: string, ts: number): object {
    const account = this.#accountAt(user, ts);
    let [worth, entries, tokens] = [0n, 0n, 0n];
    for (const [market, { base, entry }] of account.positions) {
      worth += (base * this.priceAt(`perp-${market}`, ts)) / 1_000_000_000n;
      entries += entry;
    }
    for (const [market, held] of account.tokens) {
      tokens += (this.#balance(held, market, ts) * this.priceAt(`spot-${market}`, ts)) / (SCALES[market] ?? 1n);
    }
    return texts({
      ts,
      accountBalance: tokens + worth + account.cash,
      unrealizedPnl: worth + entries,
      cumulativeRealizedPnl: account.realized,
      unsettledPnl: worth + account.cash,
      cumulativeSettledPnl: account.settled,
      cumulativeFunding: account.funding,
      cumulativeFeePaid: account.paid,
      cumulativeFeeRebate: account.rebate,
      cumulativeTakerVolume: account.taken,
      cumulativeMakerVolume: account.made,
    });
  }

  earnAt(user: string, ts: number): object {
    const assets = [...this.#accountAt(user, ts).tokens]
      .sort(([a], [b]) => a - b)
      .map(([marketIndex, held]) => {
        const balance = this.#balance(held, marketIndex, ts);
        const price = this.priceAt(`spot-${marketIndex}`, ts);
        const interest = balance - held.moved;
        const { deposits, withdrawals, rewards, pnl } = held;
        return texts({
          marketIndex,
          balance,
          deposits,
          withdrawals,
          rewards,
          pnl,
          interestBaseValue: interest,
          interestQuoteValue: (interest * price) / (SCALES[marketIndex] ?? 1n),
          oraclePrice: price,
        });
      });
    return { ts, assets };
  }

  /** Every row, some twice, in random order. */
  shuffled(table: string): readonly Row[] {
    const rows = this.rows[table] ?? [];
    const twice = [...rows, ...rows.filter((_, index) => index % 3 === 0)];
    return twice
      .map((row) => ({ row, place: this.#random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ row }) => row);
  }
}

const text = (value: bigint | null) => (value === null ? null : String(value));
const texts = (members: Readonly<Record<string, bigint | number>>) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );

/** Existing amounts that the program writes into a fill that reduces a position. */
function existing(position: Position | undefined, direction: string, base: bigint) {
  const { base: held, entry } = position ?? { base: 0n, entry: 0n };
  const isSame = held === 0n || held > 0n === (direction === 'long');
  if (isSame) return { quote: null, base: null };
  const size = magnitude(held);
  if (base <= size) return { quote: (magnitude(entry) * base) / size, base: null };
  return { quote: magnitude(entry), base: size };
}

function trade(
  account: Account | undefined,
  market: number,
  direction: string,
  base: bigint,
  quote: bigint,
  fee: bigint,
): void {
  if (!account) return;
  const sign = direction === 'long' ? 1n : -1n;
  const position = account.position(market);
  const { quote: entryOut, base: whole } = existing(position, direction, base);
  account.cash += -sign * quote - fee;
  if (fee > 0n) account.paid += fee;
  else account.rebate -= fee;
  const closed = entryOut === null ? 0n : (whole ?? base);
  const closedQuote = (quote * closed) / base;
  if (entryOut !== null) {
    const gain = direction === 'short' ? closedQuote - entryOut : entryOut - closedQuote;
    account.realized += gain - (fee * closed) / base;
    position.entry += sign * -entryOut;
  }
  position.base += sign * base;
  position.entry -= sign * (quote - closedQuote);
}
