// The page for an hour at 1,000 level changes a second: heap and frame work of the last minute beside those of minute 5.
// `npm run soak page [minutes]`.

import { setTimeout as sleep } from 'node:timers/promises';
import { startPageStage } from '../bench/harness/page-stage.ts';
import { machine } from '../bench/harness/processes.ts';
import { report } from '../bench/harness/report.ts';
import { percentile } from '../support/platform/percentile.ts';

const MINUTES = 60;
const FIRST_MINUTE = 5;
const MINUTE_MS = 60_000;
/** Growth of at most a tenth. */
const RATIO = 1.1;

const minutes = Number(process.argv[2] ?? MINUTES);
const first = Math.min(FIRST_MINUTE, Math.max(1, Math.floor(minutes / 2)));
const stage = await startPageStage();

async function minute(): Promise<{ readonly heapBytes: number; readonly workMs: number }> {
  await stage.reset();
  await sleep(MINUTE_MS);
  const { work } = await stage.timings();
  const meanMs = work.reduce((sum, ms) => sum + ms, 0) / work.length;
  return { heapBytes: await stage.heapBytes(), workMs: Number.isFinite(meanMs) ? meanMs : percentile(work, 0.5) };
}

try {
  await sleep((first - 1) * MINUTE_MS);
  const before = await minute();
  await sleep((minutes - first - 1) * MINUTE_MS);
  const after = await minute();
  const beside = { minutes, before, after, browser: stage.browser, ...machine() };
  const bar = { atMost: RATIO };
  report({
    name: 'page: heap at the end beside minute 5',
    value: after.heapBytes / before.heapBytes,
    unit: 'ratio',
    bar,
    ...beside,
  });
  report({
    name: 'page: frame work at the end beside minute 5',
    value: after.workMs / before.workMs,
    unit: 'ratio',
    bar,
    ...beside,
  });
} finally {
  await stage.stop();
}
