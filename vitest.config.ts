// The test run: which tests belong to which project, how many workers run them, and in which order.

import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LATE_OPTIMISATION } from './test/support/platform/children.ts';
import { FailuresLast } from './test/support/platform/failures-last.ts';

/** Files that take longest begin first, so that none of them runs alone at the end. */
const LONGEST = [
  'test/e2e/history-month',
  'test/e2e/page',
  'test/e2e/kafka',
  'test/e2e/rebuild',
  'test/e2e/history-service',
  'test/e2e/takeover',
  'test/e2e/lifetime',
  'test/e2e/pipeline',
  'test/e2e/shadow',
  'test/e2e/clickhouse-kills',
  'test/e2e/book-keeper',
  'test/e2e/interrupted',
  'test/e2e/order-book',
  'test/e2e/hostile',
  'test/e2e/real-node',
  'test/e2e/live-sources',
  'test/e2e/peer-instructions',
  'test/e2e/notification-kills',
  'test/e2e/generated-inputs',
  'test/e2e/peer-books',
  'test/e2e/recorded',
  'client/python',
  'ingest/source',
  'ingest/rpc/faults',
  'test/simulation/simulation',
  'platform/log/kafka',
  'ingest/backfill/backfill',
  'ingest/grpc/outage',
  'ingest/merge/source',
  'api/history/routes/trades-csv',
  'processors/history/sink',
  'platform/clickhouse/provider',
  'localnet/exchange/exchange',
  'processors/history/account-days',
  'platform/log/embedded',
];

/** Tests that start processes wait half of the time, so they run beside tests that need the processor. */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    const [pages, others] = parted(ranked, ({ project }) => project.name === PAGE);
    const [system, unit] = parted(others, ({ moduleId }) => moduleId.includes('/test/e2e/'));
    const mixed = [...spread(system), ...spread(unit)].sort((a, b) => a.at - b.at).map(({ file }) => file);
    // A worker loads its modules anew when the project changes.
    return [...mixed, ...pages];
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return found < 0 ? LONGEST.length : found;
}

function parted<T>(list: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [list.filter(isFirst), list.filter((one) => !isFirst(one))];
}

/** Places the files evenly over the run. */
function spread(files: readonly TestSpecification[]) {
  return files.map((file, index) => ({ file, at: index / files.length }));
}

/** Modules that vitest loads by Node, with types stripped, are compiled once for all workers and runs. */
process.env.NODE_COMPILE_CACHE ??= path.resolve('node_modules/.cache/slotbook/compiled');

const PAGE = 'page';
/**
 * Sizes of a worker's heap, in megabytes, from which V8 collects garbage. A worker keeps the modules of all its files. With V8's own sizes,
 * marking them again and again takes a tenth of the processor time of a run.
 */
const FEW_COLLECTIONS = ['--initial-old-space-size=1500', '--max-semi-space-size=32'];
const shared = {
  // Several times the patience of test/support/platform/eventually.ts, whose errors say more.
  testTimeout: 900_000,
  hookTimeout: 900_000,
  setupFiles: ['test/support/platform/worker-lifeline.ts'],
  // Loading the modules anew for each file takes more time than all the tests. No test changes what modules share.
  isolate: false,
  // Twice as many as a small machine has cores: many tests wait for processes, leases, retries and servers. Two cores are idle for 7 % of
  // a run with three, and for 3 % with four (docs/benchmarks/2026-11-29.md).
  maxWorkers: 4,
  execArgv: [...FEW_COLLECTIONS, LATE_OPTIMISATION],
};

// Unit and contract tests stand beside the code; test/ holds tests that cross rooms and start real processes.
export default defineConfig({
  test: {
    sequence: { sequencer: Mixed },
    reporters: ['default', new FailuresLast()],
    projects: [
      {
        test: {
          ...shared,
          name: 'rooms',
          include: [
            '{schemas,platform,ingest,processors,api,client,localnet,bin}/**/*.test.ts',
            'test/{architecture,docs,prose,simulation,e2e}/**/*.test.ts',
          ],
          globalSetup: ['test/support/platform/run-folder.ts', 'test/e2e/harness/processes/bundle.ts'],
          // Node's own import takes a fifth of the time of the module runner. Nothing here needs what the runner adds.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      {
        test: {
          ...shared,
          name: PAGE,
          include: ['web/**/*.test.ts'],
          globalSetup: ['test/support/platform/run-folder.ts'],
        },
      },
    ],
  },
});
