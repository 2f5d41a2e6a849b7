// The ingester on simulated chains: seeded runs with forks, faults of nodes, cut logs and crashes.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../support/platform/changed-module.ts';
import { MUTATIONS } from './mutation.ts';
import { range, reportOf, runSeeds } from './pool.ts';
import type { RunResult } from './run.ts';

/** A minute of one core. `npm run soak chain` runs 10,000. */
const SEEDS = 200;
const SEEDS_TWICE = 3;
/** Each has found a fault that few seeds meet. */
const RARE_SEEDS = [439, 925, 1492, 3438];
const TIMEOUT_MS = 1_800_000;

describe('the simulation', { timeout: TIMEOUT_MS }, () => {
  let results: readonly RunResult[];
  let rare: readonly RunResult[];
  beforeAll(async () => {
    // On one thread: each loads the ingester and records its tapes, which takes seconds.
    const all = await runSeeds({ seeds: [...range(0, SEEDS), ...RARE_SEEDS], threads: 1 });
    results = all.slice(0, SEEDS);
    rare = all.slice(SEEDS);
  }, TIMEOUT_MS);

  it('does the same for the same seed, whatever its thread has run before', async () => {
    const again = await runSeeds({ seeds: range(SEEDS - SEEDS_TWICE, SEEDS), threads: 1 });
    const hashes = again.map(({ hash }) => hash);
    expect(hashes).toEqual(results.slice(-SEEDS_TWICE).map(({ hash }) => hash));
    expect(new Set(hashes).size).toBe(SEEDS_TWICE);
  });

  it('finds no event lost, doubled or made up, and no wrong book', () => {
    expect(results.filter(({ violations }) => violations.length > 0).map(reportOf)).toEqual([]);
    expect(results.map(({ seed }) => seed)).toEqual(range(0, SEEDS));
    // The runs were not idle.
    expect(results.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(SEEDS * 50);
    for (const what of ['crashes', 'ahead', 'undone', 'early', 'withdrawn', 'named', 'retracted'] as const)
      expect(Math.max(...results.map((result) => result[what]))).toBeGreaterThan(0);
  });

  it('finds nothing at seeds that meet what few seeds meet', () => {
    expect(rare.map(({ seed }) => seed)).toEqual(RARE_SEEDS);
    expect(rare.filter(({ violations }) => violations.length > 0).map(reportOf)).toEqual([]);
  });

  it('has faults to be tested with, whose places in the source still exist', () => {
    for (const mutation of MUTATIONS) {
      const source = readFileSync(new URL(`../../${mutation.file}`, import.meta.url), 'utf8');
      expect(changed(source, mutation)).not.toBe(source);
    }
  });
});
