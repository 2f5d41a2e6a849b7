// Thread of simulations: virtual time replaces the clock of a whole thread, so runs never share one with anything else.

import { parentPort, workerData } from 'node:worker_threads';
import { MUTATIONS, putIn } from './mutation.ts';

export interface Assignment {
  readonly seeds: readonly number[];
  /** Name of a fault to put into the source; null for none. */
  readonly mutation: string | null;
  /** Ends after the first violation. */
  readonly stopsAtFirst: boolean;
  readonly isVerbose: boolean;
}

const { seeds, mutation, stopsAtFirst, isVerbose } = workerData as Assignment;
// Runs throw many expected errors, and stacks take time.
Error.stackTraceLimit = isVerbose ? Error.stackTraceLimit : 1;
if (mutation !== null) putIn(mutation);
const { openDecoder } = await import('../../ingest/rpc/account-data.ts');
await openDecoder();
const { openStage } = await import('./stage.ts');
const { runSeed } = await import('./run.ts');
const { planOf } = await import('./plan.ts');
const stage = openStage();
const needs = MUTATIONS.find(({ name }) => name === mutation)?.needs;
for (const seed of seeds) {
  if (needs !== undefined && planOf(seed, stage.tapes.length, stage.blocks)[needs] === null) continue;
  const result = await runSeed(seed, stage, { isVerbose });
  parentPort?.postMessage(isVerbose ? result : { ...result, lines: [] });
  if (stopsAtFirst && result.violations.length > 0) break;
}
