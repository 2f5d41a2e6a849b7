// A client that knows only the published protocol follows every market of a busy cluster while everything around it fails. It
// notices every difference of its book from the log, and at each slot from the accounts of the cluster.

import { describe, expect, it } from 'vitest';
import { seededRandom } from '../support/platform/chance.ts';
import { runKeepers } from './harness/keeper/run.ts';

const SECONDS = 12;
const SEED = 20_261_122;
/** The run has five slots a second. */
const SLOTS_AT_LEAST = 2 * SECONDS;
/** On two idle cores the run takes half a minute; a busy machine takes a multiple. */
const TIMEOUT_MS = 900_000;
/** Shares of the slots since the first client's first; the spot market has its first orders later. */
const SHARES_AT_LEAST = { 'perp-0': 0.5, 'perp-1': 0.5, 'perp-2': 0.5, 'perp-3': 0.5, 'spot-1': 0.1 };

describe('book keepers over the pipeline', () => {
  it(
    `hold the published books through ${SECONDS} s of reconnects, lost and altered messages and gateway restarts`,
    async () => {
      const run = await runKeepers({ seconds: SECONDS, seed: 11, speed: 2, random: seededRandom(SEED) });
      expect(run.differences).toEqual([]);
      expect(run.stoppedDifferences).toEqual([]);
      expect(run.slotTruth.differences).toEqual([]);
      expect(run.slotTruth.slots).toBeGreaterThan(SLOTS_AT_LEAST);
      for (const [market, share] of Object.entries(SHARES_AT_LEAST)) {
        expect(run.slotTruth.books[market], market).toBeGreaterThan(run.slotTruth.slotsPassed * share);
      }
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
    },
    TIMEOUT_MS,
  );
});
