import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Files that take longest begin first, so that none of them runs alone at the end. */
const LONGEST = [
  'test/e2e/history-month',
  'test/e2e/history-contract',
  'test/e2e/kafka',
  'test/e2e/pipeline',
  'test/e2e/shadow',
  'test/e2e/book-keeper',
  'test/e2e/rebuild',
  'test/e2e/analysts',
  'test/e2e/replicated-history',
  'test/e2e/bad-input',
  'platform/log/kafka',
  'processors/history/sink',
  'localnet/exchange/exchange',
  'platform/log/embedded',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const rank = ({ moduleId }: (typeof files)[number]): number => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// Unit and contract tests stand beside the code; test/ holds what crosses rooms and starts real processes.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{schemas,platform,ingest,processors,api,client,localnet,bin}/**/*.test.ts'],
          // Above the patience of platform/testing/eventually.ts, whose errors say more.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          globalSetup: ['platform/testing/run-folder.ts'],
          // Loading the modules anew for each file takes more time than all the tests. No test changes what modules share.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 180_000,
          globalSetup: ['platform/testing/run-folder.ts'],
          // Each of these starts many processes and waits for some of them half of its time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
