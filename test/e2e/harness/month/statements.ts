// Statements of balances of the month, asked for like a wallet does, against the ledger of ledger.ts and the served snapshots.

import { gunzipSync } from 'node:zlib';
import { type CsvRow, parseCsv } from '../../../support/api/export-files.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { AccountLedger, eventsOf, interestAt } from './ledger.ts';
import { getJson } from './paging.ts';
import { big, type MonthTruth } from './truth.ts';

const DAY = 86_400;
/** Begins and ends at midnights that daily snapshots have, too. The chain has not finalized the newest two days of the month. */
const RANGE_DAYS = 24;
const NEWEST_DAYS = 3;
const BUILT_WITHIN_MS = 120_000;
const WALLETS = 5;

interface Statement {
  readonly wallet: string;
  readonly users: readonly string[];
  readonly rows: readonly CsvRow[];
}

export interface StatementReport {
  readonly statements: number;
  readonly rows: number;
  readonly snapshots: number;
  /** Kinds of movements that some row has. */
  readonly moved: readonly string[];
  readonly differences: readonly string[];
}

export const MOVEMENTS = [
  'deposits',
  'withdrawals',
  'rewards',
  'swapsReceived',
  'swapsPaid',
  'settledPnl',
  'liquidations',
];

/** Asks for statements of the busiest wallets and compares every row. */
export async function checkStatements(history: string, truth: MonthTruth): Promise<StatementReport> {
  const to = (Math.floor(Date.now() / 1000 / DAY) - NEWEST_DAYS) * DAY;
  const from = to - RANGE_DAYS * DAY + 1;
  const wallets = busiestWallets(truth);
  const statements = await Promise.all(wallets.map((wallet) => statementOf(history, truth, wallet, { from, to })));
  const differences: string[] = [];
  const moved = new Set<string>();
  let snapshots = 0;
  for (const { users, rows } of statements) {
    for (const user of users) {
      const own = rows.filter((row) => row.user === user);
      for (const row of own) for (const name of MOVEMENTS) if (row[name] !== '0') moved.add(name);
      const served = await servedBalances(history, user, [from - 1, to]);
      snapshots += served.size;
      differences.push(
        ...ledgerDifferences(truth, user, own, from, to),
        ...snapshotDifferences(user, own, served, from, to),
      );
    }
  }
  const rows = statements.reduce((sum, one) => sum + one.rows.length, 0);
  return { statements: statements.length, rows, snapshots, moved: [...moved].sort(), differences };
}

/** Wallets with most records of tokens, at least one of each kind of movement. */
function busiestWallets(truth: MonthTruth): readonly string[] {
  const chosen = new Set<string>();
  for (const kind of ['LiquidationRecord', 'SwapRecord', 'SettlePnlRecord', 'DepositRecord', 'FundingPaymentRecord']) {
    const counts = new Map<string, number>();
    for (const { data } of truth.of(kind)) {
      const wallet = truth.walletOf(data.user);
      if (wallet !== null && !chosen.has(wallet)) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
    }
    const [most] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    if (most) chosen.add(most[0]);
  }
  const rewarded = truth.of('DepositRecord', ({ explanation }) => explanation === 'reward');
  for (const { data } of rewarded.slice(0, 1)) chosen.add(truth.walletOf(data.user) ?? '');
  return [...chosen].filter((wallet) => wallet !== '').slice(0, WALLETS + 1);
}

async function statementOf(
  history: string,
  truth: MonthTruth,
  wallet: string,
  range: { readonly from: number; readonly to: number },
): Promise<Statement> {
  const users = truth.accounts().filter((user) => truth.walletOf(user) === wallet);
  const path = `${history}/authority/${wallet}/exports`;
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ fileType: 'balances', userPublicKeys: users, ...range }),
  });
  const { requestId } = (await answer.json()) as { requestId?: string };
  if (requestId === undefined) throw new Error(`${answer.status} for a statement of ${wallet}`);
  const url = await eventually(
    `the statement of ${wallet}`,
    async () => {
      const { records } = await getJson<{ records: { requestId: string; status: string; downloadUrl: string }[] }>(
        path,
      );
      const job = records.find((record) => record.requestId === requestId);
      if (job?.status === 'failed') throw new Error(`the statement of ${wallet} failed`);
      return job?.status === 'ready' && job.downloadUrl;
    },
    BUILT_WITHIN_MS,
  );
  const file = Buffer.from(await (await fetch(url)).arrayBuffer());
  return { wallet, users, rows: parseCsv(gunzipSync(file).toString()) };
}

const amount = (row: CsvRow, name: string): bigint => big(row[name]);

/** A row must add up, have the ledger's balances at both ends and its movements in between. */
function ledgerDifferences(
  truth: MonthTruth,
  user: string,
  rows: readonly CsvRow[],
  from: number,
  to: number,
): readonly string[] {
  const [opening, closing] = [ledgerAt(truth, user, from - 1), ledgerAt(truth, user, to)];
  const tokens = new Set([...closing.book.purses.keys(), ...rows.map((row) => Number(row.marketIndex))]);
  return [...tokens].flatMap((index) => {
    const row = rows.find((one) => Number(one.marketIndex) === index);
    const [before, after] = [opening.book.purses.get(index), closing.book.purses.get(index)];
    const moved = (name: 'deposits' | 'withdrawals' | 'rewards' | 'settled' | 'moved'): bigint =>
      (after?.[name] ?? 0n) - (before?.[name] ?? 0n);
    const balances = { openingBalance: opening.balance(index), closingBalance: closing.balance(index) };
    if (!row) {
      const isEmpty = balances.openingBalance === 0n && balances.closingBalance === 0n && moved('moved') === 0n;
      return isEmpty ? [] : [`${user} token ${index}: no row`];
    }
    const known = moved('deposits') - moved('withdrawals') + moved('rewards') + moved('settled');
    const expected: Readonly<Record<string, readonly [bigint, bigint]>> = {
      openingBalance: [balances.openingBalance, amount(row, 'openingBalance')],
      closingBalance: [balances.closingBalance, amount(row, 'closingBalance')],
      deposits: [moved('deposits'), amount(row, 'deposits')],
      withdrawals: [moved('withdrawals'), amount(row, 'withdrawals')],
      rewards: [moved('rewards'), amount(row, 'rewards')],
      settledPnl: [moved('settled'), amount(row, 'settledPnl')],
      others: [
        moved('moved') - known,
        amount(row, 'swapsReceived') - amount(row, 'swapsPaid') + amount(row, 'liquidations'),
      ],
      sum: [
        amount(row, 'closingBalance'),
        [
          'openingBalance',
          'earlierBalance',
          'deposits',
          'rewards',
          'swapsReceived',
          'settledPnl',
          'liquidations',
          'interest',
        ]
          .map((name) => amount(row, name))
          .reduce((sum, one) => sum + one, 0n) -
          amount(row, 'withdrawals') -
          amount(row, 'swapsPaid'),
      ],
    };
    return Object.entries(expected).flatMap(([name, [wanted, got]]) =>
      wanted === got ? [] : [`${user} token ${index} ${name}: expected ${wanted}, got ${got}`],
    );
  });
}

/** The books of an account after the last event of a second. */
function ledgerAt(truth: MonthTruth, user: string, ts: number) {
  const book = new AccountLedger(user);
  for (const event of eventsOf(truth, user)) if (event.ts <= ts) book.take(event);
  return { book, balance: (index: number): bigint => book.balance(index, interestAt(truth, index, ts)) };
}

interface EarnAnswer {
  readonly snapshots: readonly {
    readonly ts: number;
    readonly assets: readonly { readonly marketIndex: number; readonly balance: string }[];
  }[];
}

/** Balances by time and token, as the earn snapshots of an account show them. */
async function servedBalances(
  history: string,
  user: string,
  times: readonly number[],
): Promise<ReadonlyMap<string, bigint>> {
  const { snapshots } = await getJson<EarnAnswer>(
    `${history}/user/${user}/snapshots/earn?days=${RANGE_DAYS + NEWEST_DAYS + 2}`,
  );
  const own = snapshots.filter(({ ts }) => times.includes(ts));
  return new Map(
    own.flatMap(({ ts, assets }) => assets.map(({ marketIndex, balance }) => [`${ts}/${marketIndex}`, big(balance)])),
  );
}

function snapshotDifferences(
  user: string,
  rows: readonly CsvRow[],
  served: ReadonlyMap<string, bigint>,
  from: number,
  to: number,
): readonly string[] {
  return rows.flatMap((row) =>
    (
      [
        ['openingBalance', from - 1],
        ['closingBalance', to],
      ] as const
    ).flatMap(([name, ts]) => {
      const snapshot = served.get(`${ts}/${row.marketIndex}`) ?? 0n;
      return snapshot === amount(row, name)
        ? []
        : [`${user} token ${row.marketIndex} ${name}: ${row[name]}, and ${snapshot} in the snapshot of ${ts}`];
    }),
  );
}
