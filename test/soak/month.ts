// `npm run soak month [seed] [slots]`: the month of test/e2e/history-month.test.ts with another seed and more slots, every
// list, candle and sum of it. One line per endpoint; ends with 1 when something differs.

import { runStats } from '../e2e/harness/month-answers.ts';
import { checkCandles } from '../e2e/harness/month-candle-check.ts';
import { byEndpoint, checkLists, sumChecks } from '../e2e/harness/month-check.ts';
import {
  authorityLists,
  marketLists,
  statsLists,
  tellingAccounts,
  tellingWallets,
  userLists,
} from '../e2e/harness/month-lists.ts';
import { chainMarkets } from '../e2e/harness/month-markets.ts';
import { liveMonth } from '../e2e/harness/month-run.ts';
import { storedSamples } from '../e2e/harness/month-samples.ts';
import { MonthTruth } from '../e2e/harness/month-truth.ts';
import { venueChecks } from '../e2e/harness/month-venues.ts';

const SLOTS = 4_000;

const [seed = Math.floor(Date.now() / 1000), slots = SLOTS] = process.argv.slice(2).map(Number);
process.stdout.write(`seed ${seed}, ${slots} slots\n`);
const month = await liveMonth({ seed, slots });
try {
  const truth = await MonthTruth.read(month.cluster);
  const samples = await storedSamples(month.url('clickhouse'));
  const history = month.url('history');
  const sums = [...sumChecks(truth, samples, await chainMarkets(month.cluster)), ...venueChecks()];
  const lists = [
    ...marketLists(truth),
    ...userLists(truth, tellingAccounts(truth)),
    ...authorityLists(truth, tellingWallets(truth)),
    ...statsLists(truth),
  ];
  const reports = [
    ...byEndpoint(await runStats(history, sums)),
    ...byEndpoint(await checkCandles(history, truth, samples)),
    ...(await checkLists(history, lists)).reports,
  ];
  for (const report of reports) process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exitCode = reports.some(({ differences }) => differences.length > 0) ? 1 : 0;
} finally {
  await month.stop();
}
