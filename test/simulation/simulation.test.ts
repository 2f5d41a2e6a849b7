// The ingester on simulated chains: seeded runs with forks, faults of nodes, cut logs and crashes.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changed } from '../support/platform/changed-module.ts';
import { MUTATIONS } from './mutation.ts';
import { reportOf, runSeeds } from './pool.ts';

/** A minute of one core. `npm run soak chain` runs 10,000. */
const SEEDS = 200;
const SEEDS_TWICE = 3;

describe('the simulation', { timeout: 1_800_000 }, () => {
  it('does the same for the same seed', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => runSeeds({ from: 0, to: SEEDS_TWICE, threads: 1 })));
    expect(one?.map(({ hash }) => hash)).toEqual(other?.map(({ hash }) => hash));
    expect(new Set(one?.map(({ hash }) => hash)).size).toBe(SEEDS_TWICE);
  });

  it('finds no event lost, doubled or made up, and no wrong book', async () => {
    const results = await runSeeds({ from: 0, to: SEEDS, threads: 1 });
    expect(results.filter(({ violations }) => violations.length > 0).map(reportOf)).toEqual([]);
    expect(results).toHaveLength(SEEDS);
    // The runs were not idle.
    expect(results.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(SEEDS * 50);
    for (const what of ['crashes', 'ahead', 'undone', 'named'] as const)
      expect(Math.max(...results.map((result) => result[what]))).toBeGreaterThan(0);
  });

  it('has faults to be tested with, whose places in the source still exist', () => {
    for (const mutation of MUTATIONS) {
      const source = readFileSync(new URL(`../../${mutation.file}`, import.meta.url), 'utf8');
      expect(changed(source, mutation)).not.toBe(source);
    }
  });
});
