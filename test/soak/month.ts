// `npm run soak month [seed] [slots]`: the month of test/e2e/history-month.test.ts with another seed and more slots. It compares every
// list, candle and sum, then those of markets and accounts again from a log in disorder, through kills. One line per endpoint;
// exit code 1 when something differs.

import { isDeepStrictEqual } from 'node:util';
import { runStats } from '../e2e/harness/month/answers.ts';
import { checkCandles } from '../e2e/harness/month/candle-check.ts';
import { byEndpoint, checkLists, type EndpointReport, sumChecks } from '../e2e/harness/month/check.ts';
import { daySums, daysReduced } from '../e2e/harness/month/days.ts';
import { disorderedMonth } from '../e2e/harness/month/disorder.ts';
import {
  authorityLists,
  busiestAccounts,
  busiestWallets,
  marketLists,
  statsLists,
  userLists,
} from '../e2e/harness/month/lists.ts';
import { finalTs } from '../e2e/harness/month/log.ts';
import { chainMarkets } from '../e2e/harness/month/markets.ts';
import { liveMonth } from '../e2e/harness/month/run.ts';
import { storedSamples } from '../e2e/harness/month/stored-samples.ts';
import { MonthTruth } from '../e2e/harness/month/truth.ts';
import { venueChecks } from '../e2e/harness/month/venues.ts';
import { seededRandom } from '../support/platform/chance.ts';

const SLOTS = 4_000;
const KILLS = 8;

const [seed = Math.floor(Date.now() / 1000), slots = SLOTS] = process.argv.slice(2).map(Number);
process.stdout.write(`seed ${seed}, ${slots} slots\n`);
const month = await liveMonth({ seed, slots });
try {
  const truth = await MonthTruth.read(month.cluster);
  const samples = await storedSamples(month.url('clickhouse'));
  const sums = sumChecks(truth, samples, await chainMarkets(month));
  const lists = [...marketLists(truth), ...userLists(truth, busiestAccounts(truth))];
  const finalUpTo = await finalTs(month.dataDir);
  let differs = false;
  const compare = async (history: string, checks: typeof sums, listed: typeof lists): Promise<void> => {
    const reports: readonly EndpointReport[] = [
      ...byEndpoint(await runStats(history, checks)),
      ...byEndpoint(await checkCandles(history, truth, samples)),
      ...(await checkLists(history, listed, finalUpTo)).reports,
    ];
    for (const report of reports) process.stdout.write(`${JSON.stringify(report)}\n`);
    differs ||= reports.some(({ differences }) => differences.length > 0);
  };
  await compare(
    month.url('history'),
    [...sums, ...venueChecks()],
    [...lists, ...authorityLists(truth, busiestWallets(truth)), ...statsLists(truth)],
  );
  await daysReduced(month.url('clickhouse'));
  const again = await disorderedMonth(month, seededRandom(seed), KILLS);
  try {
    await daysReduced(again.clickhouse);
    const [own, first] = await Promise.all([again.clickhouse, month.url('clickhouse')].map(daySums));
    differs ||= !isDeepStrictEqual(own, first);
    process.stdout.write(`in disorder: ${again.copies} copies, ${again.kills} kills\n`);
    await compare(again.url, sums, lists);
  } finally {
    await again.stop();
  }
  process.exitCode = differs ? 1 : 0;
} finally {
  await month.stop();
}
