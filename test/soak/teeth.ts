// Puts one fault after another into the ingester and runs seeds until the simulation finds it: `npm run soak teeth [seeds]`.

import { availableParallelism } from 'node:os';
import { MUTATIONS } from '../simulation/mutation.ts';
import { range, runSeeds } from '../simulation/pool.ts';

const SEEDS = 5_000;

const seeds = Number(process.argv[2] ?? SEEDS);
const only = process.argv[3] ?? '';
if (!Number.isSafeInteger(seeds) || seeds < 1) {
  process.stderr.write('teeth [seeds of each fault] [part of a name]\n');
  process.exit(2);
}

process.stdout.write('| Fault | Seeds needed | Rule that it breaks |\n|---|---|---|\n');
let missed = 0;
for (const { name } of MUTATIONS.filter((one) => one.name.includes(only))) {
  const threads = availableParallelism();
  const results = await runSeeds({ seeds: range(0, seeds), threads, mutation: name, stopsAtFirst: true });
  const found = results.find(({ violations }) => violations.length > 0);
  if (found === undefined) missed += 1;
  const needed = found === undefined ? `not in ${seeds}` : String(found.seed + 1);
  process.stdout.write(`| ${name} | ${needed} | ${found?.violations[0]?.rule ?? ''} |\n`);
}
process.exitCode = missed === 0 ? 0 : 1;
