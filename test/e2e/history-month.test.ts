// A month of exchange life, seeded, through real processes. Every list, paged to its end, equals the chain's own events row for
// row, as JSON and CSV. Candles, volumes, boards, notifications and statements equal a naive recomputation. `npm run soak
// month` does the same with more slots and accounts, then from a log in disorder.

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startRoles } from '../support/processes/processes.ts';
import { describeAnalysts } from './harness/month/analysts.ts';
import { runStats } from './harness/month/answers.ts';
import { checkCandles } from './harness/month/candle-check.ts';
import { byEndpoint, checkLists, type EndpointReport, servedPaths, sumChecks } from './harness/month/check.ts';
import { daysReduced } from './harness/month/days.ts';
import {
  authorityLists,
  busiestAccounts,
  busiestWallets,
  marketLists,
  statsLists,
  userLists,
} from './harness/month/lists.ts';
import { finalTs } from './harness/month/log.ts';
import { chainMarkets, type MonthMarket } from './harness/month/markets.ts';
import {
  bucketsInARow,
  expectedCauses,
  notificationDifferences,
  storedNotifications,
} from './harness/month/notifications.ts';
import { expectedPushes, pushes, registerDevices } from './harness/month/pushes.ts';
import { everythingStored, liveMonth, type Month } from './harness/month/run.ts';
import { checkStatements, MOVEMENTS } from './harness/month/statements.ts';
import { type Sample, storedSamples } from './harness/month/stored-samples.ts';
import { MonthTruth } from './harness/month/truth.ts';
import { venueChecks } from './harness/month/venues.ts';

/** Of the dated archives one in so many is compared; `npm run soak month` compares all. */
const ARCHIVED_SLOT_EVERY = 9;
/** On two idle cores the month takes 40 seconds and its comparison a minute; a busy machine takes a multiple. */
const TIMEOUT_MS = 900_000;
/** Kinds without which the month would prove too little. */
const KINDS = [
  'OrderActionRecord',
  'OrderRecord',
  'FundingRateRecord',
  'FundingPaymentRecord',
  'DepositRecord',
  'SwapRecord',
  'SettlePnlRecord',
  'LiquidationRecord',
  'InsuranceFundRecord',
  'InsuranceFundStakeRecord',
  'LPMintRedeemRecord',
  'NewUserRecord',
  'DeleteUserRecord',
  'VaultDepositorRecord',
  'ShareTransferRecord',
];

const LIQUIDATIONS = [
  'liquidatePerp',
  'liquidateSpot',
  'liquidateBorrowForPerpPnl',
  'liquidatePerpPnlForDeposit',
  'perpBankruptcy',
  'spotBankruptcy',
];

let month: Month;
/** Statements and pushes, of the whole month at once. */
let late: Running;
let startedPushesS: number;
let optedOut: ReadonlySet<string>;
let truth: MonthTruth;
let samples: readonly Sample[];
let markets: readonly MonthMarket[];
const compared = new Set<string>();
const startedMs = Date.now();

/** Comparisons made, for the output of the run. */
function say(title: string, reports: readonly EndpointReport[], missing: readonly string[] = []): void {
  for (const { endpoint } of reports) compared.add(endpoint);
  const lines = reports.map(
    ({ endpoint, lists, rows, requests, differences }) =>
      `  ${endpoint}: ${lists} lists, ${rows} rows, ${requests} requests${differences.length > 0 ? ', DIFFERS' : ''}`,
  );
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const absent = missing.length === 0 ? '' : `  not served: ${missing.join(', ')}\n`;
  process.stdout.write(`${title} (second ${seconds})\n${lines.join('\n')}\n${absent}`);
}

function differencesOf(reports: readonly EndpointReport[]): readonly string[] {
  return reports.flatMap(({ differences }) => differences.slice(0, 3));
}

/**
 * Faults of a node towards its listeners: after so many slots logs are cut, nothing is sent, connections drop. The last comes
 * last. Accounts that never change again and were not sent come with the snapshot of a new connection. (Or with the shadow
 * check, which is off here.)
 */
async function trouble(run: Month, slots: number): Promise<void> {
  const { cluster } = run;
  if (slots === 120) await cluster.rpc('localnet_truncateLogs', [{ transactions: 25 }]);
  if (slots === 240) await cluster.rpc('localnet_silence', [{ ms: 700 }]);
  if (slots === 400) await cluster.rpc('localnet_dropConnections');
  // The audits find what got lost. The last slots publish that nothing is missing: a chain that stands still publishes nothing.
  if (slots === 440) await everythingStored(run);
}

beforeAll(async () => {
  month = await liveMonth({ seed: 7, during: trouble });
  truth = await MonthTruth.read(month.cluster);
  samples = await storedSamples(month.url('clickhouse'));
  markets = await chainMarkets(month);
  optedOut = await registerDevices(month.dataDir, truth.wallets());
  startedPushesS = Math.floor(Date.now() / 1000);
  late = await startRoles(['exports', 'push'], month.settings());
}, TIMEOUT_MS);
afterAll(async () => {
  await late?.stop();
  await month?.stop();
});

describe('a seeded month of exchange life', () => {
  it('has every kind of record that lists are made of, over 31 days and more than one calendar month', () => {
    process.stdout.write(`events: ${JSON.stringify(truth.countsByName())}\n`);
    const counts = truth.countsByName();
    expect(KINDS.filter((kind) => (counts[kind] ?? 0) === 0)).toEqual([]);
    const liquidated = new Set(truth.of('LiquidationRecord').map(({ data }) => data.liquidation_type));
    expect([...liquidated].sort()).toEqual([...LIQUIDATIONS].sort());
    const [first, last] = [truth.events[0]?.ts ?? 0, truth.events.at(-1)?.ts ?? 0];
    expect(last - first).toBeGreaterThan(31 * 86_400);
    expect(new Date(first * 1000).getUTCMonth()).not.toBe(new Date(last * 1000).getUTCMonth());
  });

  it(
    'is reduced by account and day once its days are over',
    async () => expect(await daysReduced(month.url('clickhouse'))).toBeGreaterThan(30),
    TIMEOUT_MS,
  );

  // Before the lists, because the service keeps some sums for a minute and lists ask for them as well.
  it(
    'is summed up as a naive recomputation sums it up',
    async () => {
      const reports = byEndpoint(
        await runStats(month.url('history'), [...sumChecks(truth, samples, markets), ...venueChecks()]),
      );
      say('sums', reports);
      expect(differencesOf(reports)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'has the candles of all resolutions that its fills and samples make',
    async () => {
      const reports = byEndpoint(await checkCandles(month.url('history'), truth, samples));
      say('candles', reports);
      compared.add('/market/{symbol}/candles/{resolution}');
      expect(differencesOf(reports)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'is notified once for each cause, and pushed once unless the wallet opted out or the notification is old',
    async () => {
      const stored = await storedNotifications(month.url('clickhouse'));
      const expected = expectedCauses(truth);
      const countOf = (name: string): number => stored.filter(({ data }) => data.record === name).length;
      const names = [...new Set(stored.map(({ data }) => String(data.record)))].sort();
      process.stdout.write(`notifications: ${names.map((name) => `${name} ${countOf(name)}`).join(', ')}\n`);
      const recorded = new Set(expected.map(({ record }) => record));
      expect([...recorded].sort()).toEqual(['deposit', 'fundingPayment', 'liquidation', 'orderAction', 'trade']);
      expect(notificationDifferences(expected, stored).slice(0, 3)).toEqual([]);
      expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
      expect(bucketsInARow(stored)).toEqual([]);

      const pushed = await pushes(month.dataDir);
      const { must, may } = expectedPushes(stored, truth.wallets(), optedOut, {
        fromS: startedPushesS,
        toS: Math.ceil(Date.now() / 1000),
      });
      process.stdout.write(`pushes: ${pushed.size} of ${stored.length} notifications\n`);
      expect(must.size).toBeGreaterThan(0);
      expect([...must].filter((key) => !pushed.has(key))).toEqual([]);
      expect([...pushed.keys()].filter((key) => !may.has(key))).toEqual([]);
      const once = { begun: 1, outcomes: ['SENT'] };
      expect([...pushed.values()].filter((push) => !isDeepStrictEqual(push, once))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'adds up in statements, which begin and end with the balances of snapshots',
    async () => {
      const { differences, ...report } = await checkStatements(month.url('history'), truth);
      process.stdout.write(`statements: ${JSON.stringify(report)}\n`);
      expect(differences.slice(0, 3)).toEqual([]);
      expect(report.moved).toEqual(MOVEMENTS.toSorted());
      expect(report.rows).toBeGreaterThan(10);
      expect(report.snapshots).toBeGreaterThan(10);
    },
    TIMEOUT_MS,
  );

  it(
    'is listed row for row, JSON and CSV, to the end of every list',
    async () => {
      const checks = [
        ...marketLists(truth),
        ...userLists(truth, busiestAccounts(truth, true)),
        ...authorityLists(truth, busiestWallets(truth)),
        ...statsLists(truth),
      ];
      const { reports, missing } = await checkLists(
        month.url('history'),
        checks,
        await finalTs(month.dataDir),
        ARCHIVED_SLOT_EVERY,
      );
      say('lists', reports, missing);
      const served = await servedPaths(month.url('history'));
      const rest = [...served].filter((path) => !compared.has(path.replace(/\/\{year\}.*$/, '')));
      process.stdout.write(`served, not compared here: ${rest.join(', ')}\n`);
      expect(differencesOf(reports)).toEqual([]);
      expect(missing).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

// After the lists: it adds indicative quotes and a table.
describeAnalysts(() => ({ month, truth }));
