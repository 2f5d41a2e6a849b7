// A month of exchange life, seeded, through real processes: every list paged to its end equals what the chain says it
// emitted, row for row, JSON and CSV; candles, volumes and boards equal a naive recomputation. Then the same from a log in
// which events come twice, in disorder and late, while sink and candles are killed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from './harness/chance.ts';
import { checkCandles } from './harness/month-candle-check.ts';
import { byEndpoint, checkLists, type EndpointReport } from './harness/month-check.ts';
import { disorderedMonth } from './harness/month-disorder.ts';
import { authorityLists, marketLists, statsLists, tellingAccounts, userLists } from './harness/month-lists.ts';
import { liveMonth, type Month } from './harness/month-run.ts';
import { MonthTruth } from './harness/month-truth.ts';

const SEED = 20_261_121;
const KILLS = 8;
const AUTHORITIES = 6;
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
];

let month: Month;
let truth: MonthTruth;
const startedMs = Date.now();

/** What was compared, for whoever reads the run. */
function say(title: string, reports: readonly EndpointReport[], missing: readonly string[] = []): void {
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

beforeAll(async () => {
  month = await liveMonth({ seed: 7 });
  truth = await MonthTruth.read(month.cluster);
});
afterAll(() => month?.stop());

describe('a seeded month of exchange life', () => {
  it('has every kind of record that lists are made of, over 31 days and more than one calendar month', () => {
    process.stdout.write(`events: ${JSON.stringify(truth.countsByName())}\n`);
    const counts = truth.countsByName();
    expect(KINDS.filter((kind) => (counts[kind] ?? 0) === 0)).toEqual([]);
    const [first, last] = [truth.events[0]?.ts ?? 0, truth.events.at(-1)?.ts ?? 0];
    expect(last - first).toBeGreaterThan(31 * 86_400);
    expect(new Date(first * 1000).getUTCMonth()).not.toBe(new Date(last * 1000).getUTCMonth());
    expect(month.missingRoles).toEqual([]);
  });

  it('is listed row for row, JSON and CSV, to the end of every list', async () => {
    const wallets = truth.wallets().filter((_, index) => index % Math.ceil(truth.wallets().length / AUTHORITIES) === 0);
    const checks = [
      ...marketLists(truth),
      ...userLists(truth, tellingAccounts(truth)),
      ...authorityLists(truth, wallets),
      ...statsLists(truth),
    ];
    const { reports, missing } = await checkLists(month.url('history'), checks);
    say('lists', reports, missing);
    expect(differencesOf(reports)).toEqual([]);
    expect(missing).toEqual([]);
  });

  it('has the candles of all resolutions that its fills make', async () => {
    const reports = byEndpoint(await checkCandles(month.url('history'), truth));
    say('candles', reports);
    expect(differencesOf(reports)).toEqual([]);
  });

  it(`gives the same from a log in disorder, with copies and late events, through ${KILLS} kills`, async () => {
    const again = await disorderedMonth(month, seededRandom(SEED), KILLS);
    try {
      const accounts = tellingAccounts(truth).slice(0, 4);
      const checks = [...marketLists(truth), ...userLists(truth, accounts)].map(({ archive: _, ...check }) => check);
      const { reports } = await checkLists(again.url, checks);
      const candles = byEndpoint(await checkCandles(again.url, truth));
      say(`disorder: ${again.copies} copies, ${again.kills} kills`, [...reports, ...candles]);
      expect(again.copies).toBeGreaterThan(1_000);
      expect(differencesOf([...reports, ...candles])).toEqual([]);
    } finally {
      await again.stop();
    }
  });
});
