// `npm run soak book-keeper [minutes] [seed]`: the end-to-end run of the book keepers, for ten minutes by default. Prints one
// JSON object; fails when a keeper held a wrong book without noticing.

import { runKeepers } from '../e2e/harness/keeper/run.ts';
import { seededRandom } from '../support/platform/chance.ts';

const DEFAULT_MINUTES = 10;
/** Each run draws other faults. The printed seed repeats them, as far as time allows. */
const SEEDS = 1_000_000;
/** Share of the slots in which books must have been compared with the accounts. */
const SLOTS_COMPARED_MIN = 0.99;

const minutes = Number(process.argv[2] ?? DEFAULT_MINUTES);
const seed = Number(process.argv[3] ?? Date.now() % SEEDS);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new RangeError('[minutes] [seed]: a number and an integer');
process.stderr.write(`seed ${seed}\n`);
const run = await runKeepers({ seconds: minutes * 60, seed: 12, speed: 4, random: seededRandom(seed) });
process.stdout.write(`${JSON.stringify({ seed, ...run }, null, 2)}\n`);
const { slots, slotsPassed, differences } = run.slotTruth;
const found = run.differences.length + run.stoppedDifferences.length + differences.length;
process.exit(found === 0 && slots >= slotsPassed * SLOTS_COMPARED_MIN ? 0 : 1);
