// Snapshots of accounts and wallets, every member at every point, from the books of ledger.ts and the samples that price them.

import { times } from '../../../support/platform/times.ts';
import { askedAt, type StatsCheck, type StatsResult } from './answers.ts';
import { AccountLedger, eventsOf, interestAt, worthOfBase, worthOfTokens } from './ledger.ts';
import { getJson } from './paging.ts';
import type { Sample } from './stored-samples.ts';
import { big, type MonthTruth, STRANGER } from './truth.ts';
import { VaultBooks, type VaultPricing, vaultAccounts, vaultStatsCheck, vaultWallets } from './vaults.ts';

const HOUR = 3_600;
const DAY = 86_400;
/** One shown by the hour, one that the chain is older than, one that begins before it; the first key is asked for all. */
const SPANS = [1, 40, 7] as const;
/** One in so many accounts is requested by itself; the answers of wallets contain all of them. */
const USER_STRIDE = times(18, 6);

/** Points at the UTC hours (one day) or midnights within (now - days, now], and one now. */
export function pointsOf(now: number, days: number, step: number): readonly number[] {
  const points: number[] = [];
  for (let ts = Math.floor(now / step) * step; ts > now - days * DAY; ts -= step) points.unshift(ts);
  return points.at(-1) === now ? points : [...points, now];
}

const tradingPoints = (now: number, days: number) => pointsOf(now, days, days === 1 ? HOUR : DAY);
const earnPoints = (now: number, days: number) => pointsOf(now, days, DAY);

export function snapshotChecks(truth: MonthTruth, samples: readonly Sample[]): readonly StatsCheck[] {
  const books = new Books(truth, samples);
  const users = [...truth.accounts().filter((_, index) => index % USER_STRIDE === 0), STRANGER];
  const wallets = [...walletsOf(truth), STRANGER];
  const vaults = new VaultBooks(truth, books);
  const holders = [...vaultWallets(truth), STRANGER];
  return [
    {
      endpoint: '/user/{accountId}/snapshots/trading',
      run: (base) =>
        each(base, '/user/KEY/snapshots/trading', users, (user, now, days) => books.trading(user, now, days)),
    },
    {
      endpoint: '/user/{accountId}/snapshots/earn',
      run: (base) =>
        each(base, '/user/KEY/snapshots/earn', users, (user, now, days) => {
          return { snapshots: books.earn(user, now, days), meta: { flagged: false } };
        }),
    },
    {
      endpoint: '/authority/{authorityId}/snapshots/trading',
      run: (base) =>
        each(base, '/authority/KEY/snapshots/trading', wallets, (wallet, now, days) => ({
          accounts: openAccounts(truth, wallet).map((accountId) => ({
            accountId,
            ...books.trading(accountId, now, days),
          })),
        })),
    },
    {
      endpoint: '/authority/{authorityId}/snapshots/earn',
      run: (base) =>
        each(base, '/authority/KEY/snapshots/earn', wallets, (wallet, now, days) => ({
          accounts: openAccounts(truth, wallet).map((accountId) => ({
            accountId,
            snapshots: books.earn(accountId, now, days),
          })),
        })),
    },
    {
      endpoint: '/authority/{authorityId}/snapshots/overview',
      run: (base) =>
        each(base, '/authority/KEY/snapshots/overview', [...wallets, ...holders.slice(0, 1)], (wallet, now, days) => {
          const accounts = openAccounts(truth, wallet);
          return {
            products: {
              trade: accounts.map((accountId) => ({ accountId, ...books.trading(accountId, now, days) })),
              earn: accounts.map((accountId) => ({ accountId, snapshots: books.earn(accountId, now, days) })),
              vaults: vaults.ofWallet(wallet, tradingPoints(now, days)),
            },
          };
        }),
    },
    {
      endpoint: '/user/{accountId}/snapshots/vaults',
      run: (base) =>
        each(base, '/user/KEY/snapshots/vaults', [...vaultAccounts(truth), ...users], (key, now, days) => ({
          snapshots: vaults.ofAccount(key, tradingPoints(now, days)),
        })),
    },
    {
      endpoint: '/authority/{authorityId}/snapshots/vaults',
      run: (base) =>
        each(base, '/authority/KEY/snapshots/vaults', holders, (wallet, now, days) => ({
          accounts: vaults.ofWallet(wallet, tradingPoints(now, days)),
        })),
    },
    vaultStatsCheck(truth),
  ];
}

/** Each answer must equal the expected one of some second during the request. */
async function each(
  base: string,
  path: string,
  keys: readonly string[],
  expectedOf: (key: string, now: number, days: number) => object,
): Promise<StatsResult> {
  let [rows, requests] = [0, 0];
  for (const [index, key] of keys.entries()) {
    for (const days of SPANS) {
      if (index > 0 && days !== SPANS[index % SPANS.length]) continue;
      const result = await askedAt(
        async () => {
          const body = await getJson<object>(`${base}${path.replace('KEY', key)}?days=${days}`);
          rows += JSON.stringify(body).split('"ts":').length - 1;
          return body;
        },
        (now) => ({ success: true, ...expectedOf(key, now, days) }),
      );
      requests += 1;
      if (result.difference) return { rows, requests, difference: `${key}, ${days} days: ${result.difference}` };
    }
  }
  return { rows, requests, difference: null };
}

/** Wallets with most accounts, with an account that was closed, and one of each kind besides. */
function walletsOf(truth: MonthTruth): readonly string[] {
  const count = (wallet: string): number => truth.accounts().filter((user) => truth.walletOf(user) === wallet).length;
  const wallets = [...truth.wallets()].sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1));
  const closed = truth.of('DeleteUserRecord').map(({ data }) => String(data.user_authority));
  return [...new Set([...wallets.slice(0, 2), ...closed.slice(0, 1), ...wallets.slice(-1)])];
}

/** Accounts of a wallet that were made and not closed, by sub-account id. */
function openAccounts(truth: MonthTruth, wallet: string): readonly string[] {
  const closed = new Set(truth.of('DeleteUserRecord').map(({ data }) => data.user));
  return truth
    .of('NewUserRecord', (data) => data.user_authority === wallet && !closed.has(data.user))
    .toSorted((a, b) => Number(a.data.sub_account_id) - Number(b.data.sub_account_id))
    .map(({ data }) => String(data.user));
}

/** The accounts' books and their values at any points. */
class Books implements VaultPricing {
  readonly #truth: MonthTruth;
  readonly #prices: ReadonlyMap<string, readonly { readonly ts: number; readonly price: bigint }[]>;

  constructor(truth: MonthTruth, samples: readonly Sample[]) {
    this.#truth = truth;
    const prices = new Map<string, { ts: number; price: bigint }[]>();
    for (const { market_type: type, market_index: index, ts, oracle_price: price } of samples) {
      if (price === null) continue;
      const key = `${type}-${index}`;
      prices.set(key, [...(prices.get(key) ?? []), { ts: Number(ts), price: big(price) }]);
    }
    this.#prices = prices;
  }

  trading(user: string, now: number, days: number) {
    const points = tradingPoints(now, days);
    const snapshots = this.#at(user, points, (book, ts) => this.#tradingAt(book, ts, points[0] ?? 0));
    const last = snapshots.at(-1);
    return {
      snapshots,
      metrics: {
        cumulativeMakerVolume: last?.cumulativeMakerVolume ?? '0',
        cumulativeTakerVolume: last?.cumulativeTakerVolume ?? '0',
        cumulativeFeePaid: last?.cumulativeFeePaid ?? '0',
        cumulativeFeeRebate: last?.cumulativeFeeRebate ?? '0',
      },
    };
  }

  earn(user: string, now: number, days: number) {
    const points = earnPoints(now, days);
    return this.#at(user, points, (book, ts) => this.#earnAt(book, ts, points[0] ?? 0)).filter(
      ({ assets }) => assets.length > 0,
    );
  }

  /** `view` of an account's books at each point from its first event on. */
  #at<T>(user: string, points: readonly number[], view: (book: AccountLedger, ts: number) => T): readonly T[] {
    const book = new AccountLedger(user);
    const events = eventsOf(this.#truth, user);
    let next = 0;
    return points.flatMap((ts) => {
      for (let event = events[next]; event && event.ts <= ts; event = events[++next]) book.take(event);
      return book.events === 0 ? [] : [view(book, ts)];
    });
  }

  /** Value of an account's tokens and positions at points from its first event on. */
  worths(user: string, points: readonly number[]): ReadonlyMap<number, bigint> {
    const snapshots = this.#at(user, points, (book, ts) => this.#tradingAt(book, ts, points[0] ?? 0));
    return new Map(snapshots.map(({ ts, accountBalance }) => [ts, big(accountBalance)]));
  }

  /** The newest sampled price that is not more than a day older than the first point. */
  price(market: string, ts: number, first: number): bigint | null {
    const found = this.#prices.get(market)?.findLast((sample) => sample.ts <= ts);
    return found && found.ts > first - DAY ? found.price : null;
  }

  #tokens(book: AccountLedger, ts: number, first: number) {
    return [...book.purses]
      .sort(([a], [b]) => a - b)
      .map(([index, purse]) => {
        const balance = book.balance(index, interestAt(this.#truth, index, ts));
        return { index, purse, balance, price: this.price(`spot-${index}`, ts, first) ?? purse.price };
      });
  }

  #tradingAt(book: AccountLedger, ts: number, first: number) {
    let [worth, entries, held] = [0n, 0n, 0n];
    for (const [index, { base, entry, price }] of book.positions) {
      worth += worthOfBase(base, this.price(`perp-${index}`, ts, first) ?? price);
      entries += entry;
    }
    for (const { index, balance, price } of this.#tokens(book, ts, first)) held += worthOfTokens(index, balance, price);
    return {
      ts,
      accountBalance: String(held + book.cash + worth),
      unrealizedPnl: String(worth + entries),
      cumulativeRealizedPnl: String(book.realized),
      unsettledPnl: String(book.cash + worth),
      cumulativeSettledPnl: String(book.settled),
      cumulativeFunding: String(book.funding),
      cumulativeFeePaid: String(book.feePaid),
      cumulativeFeeRebate: String(book.feeRebate),
      cumulativeTakerVolume: String(book.takerVolume),
      cumulativeMakerVolume: String(book.makerVolume),
    };
  }

  #earnAt(book: AccountLedger, ts: number, first: number) {
    return {
      ts,
      assets: this.#tokens(book, ts, first).map(({ index, purse, balance, price }) => ({
        marketIndex: index,
        balance: String(balance),
        deposits: String(purse.deposits),
        withdrawals: String(purse.withdrawals),
        rewards: String(purse.rewards),
        pnl: String(purse.settled),
        interestBaseValue: String(balance - purse.moved),
        interestQuoteValue: String(worthOfTokens(index, balance - purse.moved, price)),
        oraclePrice: String(price),
      })),
    };
  }
}
