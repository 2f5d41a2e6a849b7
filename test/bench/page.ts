// The page: bytes of the first view, time to the first book, and work per frame at 1,000 level changes a second. Also the time
// from a message to the end of the frame that shows it. `npm run bench page`; the soak of the same name compares minutes 5 and
// 60.

import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_VIEW_BYTES_MAX, firstViewBytes } from '../../web/build/first-view.ts';
import { percentile } from '../support/platform/percentile.ts';
import { CHANGES_PER_SECOND, startPageStage, untilBook } from './harness/page-stage.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';

const WORK_MS = 4;
const PIXELS_MS = 20;
const FIRST_BOOK_MS = 1_000;
const OPENINGS = 5;
const WARM_MS = 5_000;
const MEASURE_MS = 30_000;

report({
  name: 'page: script of the first view, gzip, chart included',
  ...{ value: firstViewBytes(), unit: 'bytes', bar: { atMost: FIRST_VIEW_BYTES_MAX } },
});

const stage = await startPageStage();
try {
  const beside = { browser: stage.browser, changesPerSecond: CHANGES_PER_SECOND, ...machine() };
  await sleep(WARM_MS);
  await stage.reset();
  await sleep(MEASURE_MS);
  const { work, toPixels } = await stage.timings();
  report({
    name: 'page: synchronous work per frame, p99',
    ...{ value: percentile(work, 0.99), unit: 'ms', bar: { atMost: WORK_MS }, p50: percentile(work, 0.5) },
    ...{ frames: work.length, ...beside },
  });
  report({
    name: 'page: message received to pixels, p99',
    ...{ value: percentile(toPixels, 0.99), unit: 'ms', bar: { atMost: PIXELS_MS }, p50: percentile(toPixels, 0.5) },
    ...{ frames: toPixels.length, ...beside },
  });
  const openings: number[] = [];
  for (let count = 0; count < OPENINGS; count += 1) {
    const page = await stage.page.context().newPage();
    await page.goto(stage.url);
    openings.push(await untilBook(page));
    await page.close();
  }
  report({
    name: 'page: from opening to the first book, median',
    ...{ value: percentile(openings, 0.5), unit: 'ms', bar: { atMost: FIRST_BOOK_MS }, openings, ...beside },
  });
} finally {
  await stage.stop();
}
