// Answers about wallets and accounts as a whole, and the lists of older clients, recomputed from the chain's events.

import { times } from '../../../support/platform/times.ts';
import { askedAt, compared, type StatsCheck, type StatsResult } from './answers.ts';
import { actionsByOrder, orderRow } from './orders.ts';
import { firstDifference, getJson } from './paging.ts';
import type { Row } from './rows.ts';
import { big, type Data, type MonthEvent, type MonthTruth, NO_KEY } from './truth.ts';

const DAY = 86_400;
/** One in so many outcomes is requested by itself; the lists contain all of them. */
const OUTCOMES_EVERY = times(4, 1);

export function accountChecks(truth: MonthTruth): readonly StatsCheck[] {
  return [
    { endpoint: '/authority/{authorityId}/accounts', run: (base) => accountsOfWallets(truth, base) },
    { endpoint: '/authority/{authorityId}/snapshots/referrals', run: (base) => referrals(truth, base) },
    {
      endpoint: '/user/{accountId}/orders/id/{orderId}',
      run: (base) => singleOrders(truth, base, 'id', OUTCOMES_EVERY),
    },
    { endpoint: '/stats/insuranceFund', run: (base) => insuranceFund(truth, base) },
    {
      endpoint: '/user/{accountId}/orders/{marketFilter}/id/{orderId}',
      run: (base) => singleOrders(truth, base, 'perp/id', 4 * OUTCOMES_EVERY),
    },
    { endpoint: '/trades', run: (base) => legacyTrades(truth, base) },
    { endpoint: '/fundingRates', run: (base) => legacyFunding(truth, base) },
  ];
}

/** Wallets with closed accounts, and some others: accounts made and not deleted since, with their names. */
async function accountsOfWallets(truth: MonthTruth, base: string): Promise<StatsResult> {
  const deleted = new Set(truth.of('DeleteUserRecord').map(({ data }) => data.user));
  const isGone = (wallet: string): boolean =>
    truth.accounts().some((user) => deleted.has(user) && truth.walletOf(user) === wallet);
  let rows = 0;
  const wallets = truth.wallets().filter((wallet, index) => index % 4 === 0 || isGone(wallet));
  for (const wallet of wallets) {
    const expected = truth
      .of('NewUserRecord', (data) => data.user_authority === wallet && !deleted.has(data.user))
      .map(({ data }) => ({
        accountId: data.user,
        subAccountId: Number(data.sub_account_id),
        name: Buffer.from(data.name as number[])
          .toString('utf8')
          .replace(/[ \0]+$/, ''),
      }))
      .sort((a, b) => a.subAccountId - b.subAccountId);
    const { accounts } = await getJson<{ accounts: unknown[] }>(`${base}/authority/${wallet}/accounts`);
    rows += accounts.length;
    const result = compared(expected, accounts, rows);
    if (result.difference) return result;
  }
  return { rows, requests: wallets.length, difference: null };
}

/** Every referrer over 1 and 40 days: the referred accounts, their fees, and their volume of 30 days. */
async function referrals(truth: MonthTruth, base: string): Promise<StatsResult> {
  const made = truth.of('NewUserRecord', (data) => data.referrer !== NO_KEY);
  const referrers = [...new Set(made.map(({ data }) => String(data.referrer)))];
  let [rows, requests] = [0, 0];
  for (const referrer of referrers) {
    const own = made.filter(({ data }) => data.referrer === referrer);
    for (const days of [1, 40]) {
      const { snapshots } = await getJson<{ snapshots: { ts: number }[] }>(
        `${base}/authority/${referrer}/snapshots/referrals?days=${days}`,
      );
      requests += 1;
      rows += snapshots.length;
      const result = compared(
        snapshots.map(({ ts }) => referralAt(truth, own, ts)),
        snapshots,
        requests,
      );
      if (result.difference) return result;
    }
  }
  return { rows, requests, difference: null };
}

function referralAt(truth: MonthTruth, made: readonly MonthEvent[], ts: number) {
  const users = new Set(made.map(({ data }) => data.user));
  const wallets = new Set(made.filter((event) => event.ts <= ts).map(({ data }) => String(data.user_authority)));
  let [rewards, volume] = [0n, 0n];
  for (const { data, ts: at } of truth.fills()) {
    if (at > ts) continue;
    if (users.has(data.taker)) rewards += big(data.referrer_reward);
    if (at <= ts - 30 * DAY || data.action_explanation === 'transferPerpPosition') continue;
    for (const side of [data.taker, data.maker]) if (users.has(side)) volume += big(data.quote_asset_amount_filled);
  }
  return {
    ts,
    referralCount: wallets.size,
    referralRewards: String(rewards),
    referredVolume30D: String(volume),
    referredUsers: [...wallets].sort(),
  };
}

/** The fund after its newest record. */
async function insuranceFund(truth: MonthTruth, base: string): Promise<StatsResult> {
  const newest = truth.events.findLast(({ name }) => /^InsuranceFund(Stake)?Record$/.test(name));
  if (!newest) return { rows: 0, requests: 0, difference: 'no records of the fund' };
  const { data } = newest;
  const before = big(data.insurance_vault_amount_before);
  const signs: Readonly<Record<string, bigint>> = { stake: 1n, adminDeposit: 1n, unstake: -1n };
  const sign = newest.name === 'InsuranceFundRecord' ? 1n : (signs[String(data.action)] ?? 0n);
  const expected = {
    marketIndex: 0,
    vaultAmount: String(before + sign * big(data.amount)),
    totalShares: data.total_if_shares_after,
    ts: newest.ts,
  };
  const body = await getJson<Record<string, unknown>>(`${base}/stats/insuranceFund`);
  const [fund] = (body.data ?? body.insuranceFund ?? []) as Record<string, unknown>[];
  return compared(expected, Object.fromEntries(Object.keys(expected).map((name) => [name, fund?.[name]])), 1);
}

/** Single orders of one outcome in so many, and one that never existed. */
async function singleOrders(truth: MonthTruth, base: string, part: string, every: number): Promise<StatsResult> {
  const actions = actionsByOrder(truth);
  const seen = new Set<string>();
  let requests = 0;
  for (const event of truth.of('OrderRecord')) {
    const id = (event.data.order as Data).order_id;
    const expected = orderRow(event, actions.get(`${event.data.user}/${id}`) ?? []);
    const kind = `${expected.orderType} ${expected.lastActionStatus} ${expected.lastActionExplanation}`;
    if (seen.has(kind)) continue;
    seen.add(kind);
    if (seen.size % every !== 0) continue;
    const url = `${base}/user/${event.data.user}/orders/${part}/${id}`;
    const { record } = await getJson<{ record: Row }>(url);
    requests += 1;
    const difference = firstDifference([expected], [record]);
    if (difference) return { rows: requests, requests, difference: `${kind}: ${difference}` };
  }
  const { status } = await fetch(`${base}/user/${truth.accounts()[0]}/orders/${part}/4000000000`);
  const difference = status === 404 ? null : `an order that never was: ${status}`;
  return { rows: requests, requests: requests + 1, difference };
}

/** `/trades` by offset: fill record ids in the order of the market's list. */
async function legacyTrades(truth: MonthTruth, base: string): Promise<StatsResult> {
  const expected = truth
    .newestFirst(
      truth.fills((data) => data.market_index === 1),
      'fill_record_id',
    )
    .map(({ data }) => data.fill_record_id);
  const got: unknown[] = [];
  let next: number | null = 0;
  let requests = 0;
  while (next !== null) {
    const url: string = `${base}/trades?symbol=BTC-PERP&limit=1000&pageIndex=${next}`;
    const body: { records: { fillRecordId: string }[]; meta: { nextPage: number | null } } = await getJson(url);
    got.push(...body.records.map(({ fillRecordId }) => fillRecordId));
    next = body.meta.nextPage;
    requests += 1;
  }
  const oldest = Date.now() / 1000 - 31 * DAY;
  const least = truth.fills((data) => data.market_index === 1).filter(({ ts }) => ts > oldest).length;
  if (got.length < least) return { rows: got.length, requests, difference: `${got.length} rows of ${least}` };
  return compared(expected.slice(0, got.length), got, requests);
}

/** `/fundingRates`: the rates of 30 days, oldest first. */
async function legacyFunding(truth: MonthTruth, base: string): Promise<StatsResult> {
  const expectedAt = (now: number) =>
    [...truth.of('FundingRateRecord', (data) => data.market_index === 2)]
      .filter(({ ts }) => ts >= now - 30 * DAY)
      .sort((a, b) => Number(big(a.data.record_id) - big(b.data.record_id)))
      .map(({ data }) => data.record_id);
  const ask = async () => {
    const url = `${base}/fundingRates?symbol=ETH-PERP`;
    const { fundingRates } = await getJson<{ fundingRates: { recordId: string }[] }>(url);
    return fundingRates.map(({ recordId }) => recordId);
  };
  return askedAt(ask, expectedAt);
}
