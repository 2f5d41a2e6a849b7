// Runs seeds on threads.

import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';
import type { Assignment } from './worker.ts';

/** A run makes much that is short-lived: a larger young space collects it in fewer, cheaper runs. */
const YOUNG_MB = 96;
/** Memory outside of the heap, a megabyte a seed, comes back when a thread ends. */
const SEEDS_OF_THREAD = 400;

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
  const { seeds, threads } = options;
  const run = new PoolRun(options);
  const shares = Array.from({ length: threads }, (_, number) => seeds.filter((_, at) => at % threads === number));
  await Promise.all(shares.map((own) => run.all(own)));
  return run.results.sort((a, b) => a.seed - b.seed);
}

class PoolRun {
  readonly results: RunResult[] = [];
  readonly #options: PoolOptions;
  readonly #workers = new Set<Worker>();
  #isStopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Runs seeds one after the other, on one thread at a time. */
  async all(seeds: readonly number[]): Promise<void> {
    for (let at = 0; at < seeds.length && !this.#isStopped; at += SEEDS_OF_THREAD) {
      await this.#onThread(seeds.slice(at, at + SEEDS_OF_THREAD));
    }
  }

  #onThread(seeds: readonly number[]): Promise<void> {
    const { mutation = null, stopsAtFirst = false, isVerbose = false } = this.#options;
    const assignment: Assignment = { seeds, mutation, stopsAtFirst, isVerbose };
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        workerData: assignment,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      this.#workers.add(worker);
      worker.on('message', (result: RunResult) => this.#take(result));
      worker.on('error', reject);
      worker.on('exit', () => {
        this.#workers.delete(worker);
        resolve();
      });
    });
  }

  #take(result: RunResult): void {
    const { stopsAtFirst = false, onResult } = this.#options;
    this.results.push(result);
    onResult?.(result);
    if (!stopsAtFirst || result.violations.length === 0) return;
    this.#isStopped = true;
    for (const one of this.#workers) void one.terminate();
  }
}

/** The seeds from the first one, below `to`. */
export const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** Message of a failed run, with the command that runs it again. */
export function reportOf({ seed, violations }: RunResult): string {
  const lines = violations.map(({ rule, detail }) => `  ${rule}: ${detail}`);
  return [`seed ${seed}: npm run soak chain 1 ${seed}`, ...lines].join('\n');
}
