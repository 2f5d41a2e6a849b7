// `npm run soak book-keeper [minutes]`: the end-to-end run of the book keepers for ten minutes by default. One JSON
// object with what was seen; fails when a keeper held a wrong book without noticing.

import { seededRandom } from '../e2e/harness/chance.ts';
import { runKeepers } from '../e2e/harness/keeper-run.ts';

const DEFAULT_MINUTES = 10;
/** Share of the slots in which books must have been compared with the accounts. */
const SLOTS_COMPARED_MIN = 0.8;

const minutes = Number(process.argv[2] ?? DEFAULT_MINUTES);
const run = await runKeepers({ seconds: minutes * 60, seed: 12, speed: 4, random: seededRandom(Date.now()) });
process.stdout.write(`${JSON.stringify(run, null, 2)}\n`);
const { slots, slotsPassed, differences } = run.slotTruth;
const found = run.differences.length + run.stoppedDifferences.length + differences.length;
process.exit(found === 0 && slots > slotsPassed * SLOTS_COMPARED_MIN ? 0 : 1);
