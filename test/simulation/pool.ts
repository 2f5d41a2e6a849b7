// Runs seeds on threads.

import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';
import type { Assignment } from './worker.ts';

/** A run makes much that is short-lived: a larger young space collects it in fewer, cheaper runs. */
const YOUNG_MB = 96;

export interface PoolOptions {
  readonly seeds: readonly number[];
  readonly threads: number;
  readonly mutation?: string;
  readonly stopsAtFirst?: boolean;
  readonly isVerbose?: boolean;
  readonly onResult?: (result: RunResult) => void;
}

/** Results in the order of the seeds. Rejects when a thread fails. */
export async function runSeeds(options: PoolOptions): Promise<readonly RunResult[]> {
  const { seeds, threads, mutation = null, stopsAtFirst = false, isVerbose = false } = options;
  const results: RunResult[] = [];
  const workers: Worker[] = [];
  const runs = Array.from({ length: threads }, (_, number) => {
    const own = seeds.filter((_, at) => at % threads === number);
    const assignment: Assignment = { seeds: own, mutation, stopsAtFirst, isVerbose };
    return new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        workerData: assignment,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      workers.push(worker);
      worker.on('message', (result: RunResult) => {
        results.push(result);
        options.onResult?.(result);
        if (stopsAtFirst && result.violations.length > 0) for (const one of workers) void one.terminate();
      });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
    });
  });
  await Promise.all(runs);
  return results.sort((a, b) => a.seed - b.seed);
}

/** The seeds from the first one, below `to`. */
export const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** What a failed run says, with the command that runs it again. */
export function reportOf({ seed, violations }: RunResult): string {
  const lines = violations.map(({ rule, detail }) => `  ${rule}: ${detail}`);
  return [`seed ${seed}: npm run soak chain 1 ${seed}`, ...lines].join('\n');
}
