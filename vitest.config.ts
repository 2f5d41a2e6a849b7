import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Files that take longest begin first, so that none of them runs alone at the end. */
const LONGEST = [
  'test/e2e/history-month',
  'test/e2e/page',
  'test/e2e/kafka',
  'test/e2e/rebuild',
  'test/e2e/history-contract',
  'test/e2e/takeover',
  'test/e2e/lifetime',
  'test/e2e/pipeline',
  'test/e2e/shadow',
  'test/e2e/analysts',
  'test/e2e/clickhouse-kills',
  'test/e2e/book-keeper',
  'test/e2e/transactions',
  'test/e2e/interrupted',
  'test/e2e/order-book',
  'test/e2e/bad-input',
  'test/e2e/hostile',
  'test/e2e/recorded',
  'client/python',
  'ingest/source',
  'test/simulation/simulation',
  'platform/log/kafka',
  'processors/history/sink',
  'platform/clickhouse/provider',
  'localnet/exchange/exchange',
  'processors/history/account-days',
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
          include: [
            '{schemas,platform,ingest,processors,api,client,localnet,web,bin}/**/*.test.ts',
            'test/{docs,prose,simulation}/**/*.test.ts',
          ],
          // Above the patience of test/support/platform/eventually.ts, whose errors say more.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          globalSetup: ['test/support/platform/run-folder.ts'],
          setupFiles: ['test/support/platform/worker-lifeline.ts'],
          // Loading the modules anew for each file takes more time than all the tests. No test changes what modules share.
          isolate: false,
          // More than cores: many of these wait for leases, retries and servers.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          globalSetup: ['test/support/platform/run-folder.ts', 'test/e2e/harness/processes/bundle.ts'],
          setupFiles: ['test/support/platform/worker-lifeline.ts'],
          // Each of these starts many processes, which wait for slots half of the time.
          maxWorkers: 3,
          // As above: the modules of a pipeline and of the chain take seconds to load.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
