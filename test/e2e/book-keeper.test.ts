// A client that knows only the published protocol follows every market of a busy cluster while everything around it fails:
// nothing it holds ever differs from the log, nor from the accounts of the cluster, without its noticing.

import { describe, expect, it } from 'vitest';
import { seededRandom } from './harness/chance.ts';
import { runKeepers } from './harness/keeper-run.ts';

const SECONDS = 30;
const SEED = 20_261_122;

describe('book keepers over the pipeline', () => {
  it(`hold the published books through ${SECONDS} s of reconnects, lost and altered messages and gateway restarts`, async () => {
    const run = await runKeepers({ seconds: SECONDS, seed: 11, speed: 4, random: seededRandom(SEED) });
    expect(run.differences).toEqual([]);
    expect(run.stoppedDifferences).toEqual([]);
    expect(run.refused).toBe(0);
    expect(run.compared).toBeGreaterThan(1_000);
    expect(run.stoppedBooks).toBeGreaterThan(10);
    // An altered message that follows a lost one shows as a gap.
    expect(run.droppedMessages).toBeGreaterThan(1);
    expect(run.gaps).toBeGreaterThan(0);
    expect(run.alteredMessages).toBeGreaterThan(0);
    expect(run.mismatches).toBeGreaterThan(0);
    expect(run.mismatches + run.gaps).toBeGreaterThanOrEqual(run.alteredMessages);
    expect(run.reconnects).toBeGreaterThan(1);
    expect(run.shutdownNotices).toBeGreaterThan(0);
    expect(run.recovered).toBeGreaterThan(run.lost);
    process.stdout.write(`${JSON.stringify(run)}\n`);
  });
});
