// Runs many seeds of the simulation on all cores: `npm run soak chain [seeds] [first seed] [verbose]`.

import { availableParallelism } from 'node:os';
import { range, reportOf, runSeeds } from '../simulation/pool.ts';

const SEEDS = 10_000;
const PROGRESS_SEEDS = 500;

const [seeds = SEEDS, first = 0] = process.argv.slice(2, 4).map(Number);
const isVerbose = process.argv[4] === 'verbose';
if (!Number.isSafeInteger(seeds) || seeds < 1 || !Number.isSafeInteger(first) || first < 0) {
  process.stderr.write('chain [seeds] [first seed] [verbose]\n');
  process.exit(2);
}

const startedMs = performance.now();
const totals = {
  runs: 0,
  failed: 0,
  events: 0,
  crashes: 0,
  labels: 0,
  ahead: 0,
  undone: 0,
  early: 0,
  withdrawn: 0,
  named: 0,
  retracted: 0,
};
const rate = () => (totals.runs / ((performance.now() - startedMs) / 1000)).toFixed(1);

await runSeeds({
  seeds: range(first, first + seeds),
  threads: Math.min(seeds, availableParallelism()),
  isVerbose,
  onResult: (result) => {
    totals.runs += 1;
    totals.events += result.events;
    totals.crashes += result.crashes;
    totals.labels += result.labels;
    totals.ahead += result.ahead;
    totals.undone += result.undone;
    totals.early += result.early;
    totals.withdrawn += result.withdrawn;
    totals.named += result.named;
    totals.retracted += result.retracted;
    if (isVerbose) process.stdout.write(`${result.lines.join('\n')}\nhash ${result.hash}\n`);
    if (result.violations.length > 0) {
      totals.failed += 1;
      process.stdout.write(`${reportOf(result)}\n`);
    }
    if (totals.runs % PROGRESS_SEEDS === 0) {
      process.stdout.write(`${totals.runs} seeds, ${totals.failed} failed, ${rate()} a second\n`);
    }
  },
});
process.stdout.write(
  `${totals.runs} seeds, ${totals.failed} failed, ${rate()} a second: ${totals.events} events, ${totals.labels} labels of slots, ${totals.crashes} ends of a process\n` +
    `${totals.ahead} labels of processed slots, ${totals.undone} undos of lost blocks, ${totals.named} lying sources named\n` +
    `${totals.early} fills before their confirmation, ${totals.withdrawn} withdrawn fills, ${totals.retracted} retracted transactions\n`,
);
process.exitCode = totals.failed === 0 ? 0 : 1;
