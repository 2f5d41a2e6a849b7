// A month of exchange life, seeded, through real processes: every list paged to its end equals what the chain says it
// emitted, row for row, JSON and CSV; candles, volumes and boards equal a naive recomputation. Then the same from a log in
// which events come twice, in disorder and late, while sink and candles are killed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TruthMarket } from '../../localnet/index.ts';
import { seededRandom } from './harness/chance.ts';
import { runStats } from './harness/month-answers.ts';
import { checkCandles } from './harness/month-candle-check.ts';
import { byEndpoint, checkLists, type EndpointReport, servedPaths, sumChecks } from './harness/month-check.ts';
import { daySums, daysReduced } from './harness/month-days.ts';
import { disorderedMonth } from './harness/month-disorder.ts';
import {
  authorityLists,
  marketLists,
  statsLists,
  tellingAccounts,
  tellingWallets,
  userLists,
} from './harness/month-lists.ts';
import { chainMarkets } from './harness/month-markets.ts';
import { liveMonth, type Month } from './harness/month-run.ts';
import { type Sample, storedSamples } from './harness/month-samples.ts';
import { MonthTruth } from './harness/month-truth.ts';
import { venueChecks } from './harness/month-venues.ts';

const SEED = 20_261_121;
const KILLS = 3;
/**
 * Of the archives of the disordered month one slot in so many is compared, of its snapshots one account in so many
 * (`npm run soak month` compares all). Rolling lists of markets, candles, boards and sums by day are compared whole.
 */
const DISORDERED_SLOT_EVERY = 15;
const DISORDERED_ACCOUNT_EVERY = 4;
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
let truth: MonthTruth;
let samples: readonly Sample[];
let markets: readonly TruthMarket[];
const compared = new Set<string>();
const startedMs = Date.now();

/** What was compared, for whoever reads the run. */
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
 * What a node does to its listeners now and then: after so many slots logs are cut, nothing is told, connections drop. The last
 * comes last: what was not told of accounts that never change again comes with the snapshot of a new connection (or with the
 * shadow check, which is off here).
 */
async function trouble({ cluster }: Month, slots: number): Promise<void> {
  if (slots === 200) await cluster.rpc('localnet_truncateLogs', [{ transactions: 25 }]);
  if (slots === 400) await cluster.rpc('localnet_silence', [{ ms: 700 }]);
  if (slots === 600) await cluster.rpc('localnet_dropConnections');
}

beforeAll(async () => {
  month = await liveMonth({ seed: 7, during: trouble });
  truth = await MonthTruth.read(month.cluster);
  samples = await storedSamples(month.url('clickhouse'));
  markets = await chainMarkets(month.cluster);
}, TIMEOUT_MS);
afterAll(() => month?.stop());

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
    expect(month.missingRoles).toEqual([]);
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
    'is listed row for row, JSON and CSV, to the end of every list',
    async () => {
      const checks = [
        ...marketLists(truth),
        ...userLists(truth, tellingAccounts(truth)),
        ...authorityLists(truth, tellingWallets(truth)),
        ...statsLists(truth),
      ];
      const { reports, missing } = await checkLists(month.url('history'), checks);
      say('lists', reports, missing);
      const served = await servedPaths(month.url('history'));
      const rest = [...served].filter((path) => !compared.has(path.replace(/\/\{year\}.*$/, '')));
      process.stdout.write(`served, not compared here: ${rest.join(', ')}\n`);
      expect(differencesOf(reports)).toEqual([]);
      expect(missing).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    `gives the same from a log in disorder, with copies and late events, through ${KILLS} kills`,
    async () => {
      const again = await disorderedMonth(month, seededRandom(SEED), KILLS);
      try {
        expect(await daysReduced(again.clickhouse)).toBeGreaterThan(30);
        expect(await daySums(again.clickhouse)).toEqual(await daySums(month.url('clickhouse')));
        const checks = sumChecks(truth, samples, markets, DISORDERED_ACCOUNT_EVERY);
        const sums = byEndpoint(await runStats(again.url, checks));
        const lists = [...marketLists(truth), ...userLists(truth, tellingAccounts(truth).slice(0, 2))];
        const { reports } = await checkLists(again.url, lists, DISORDERED_SLOT_EVERY);
        const candles = byEndpoint(await checkCandles(again.url, truth, samples));
        const all = [...reports, ...candles, ...sums];
        say(`disorder: ${again.copies} copies, ${again.kills} kills`, all);
        expect(again.copies).toBeGreaterThan(1_000);
        expect(differencesOf(all)).toEqual([]);
      } finally {
        await again.stop();
      }
    },
    TIMEOUT_MS,
  );
});
