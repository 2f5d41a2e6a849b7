// Behind `npm run soak`: lists the suites, runs one or all of them, or repeats the tests under load.

import { spawn } from 'node:child_process';
import { listing, SUITES } from '../test/soak/suites.mjs';
import { isInterrupted } from './install.mjs';

const REPEATS = 20;
const BUSY_LOOPS = 2;
const EXIT_USAGE = 2;

/** Read by test/support/platform/times.ts. */
const LARGE = { TEST_SIZE: 'soak' };

/**
 * `run` has `script(name, args, environment)` and `tests(files, environment)`; both resolve to an exit code. Resolves to an exit code.
 */
export async function soak([name, ...args], run) {
  if (name === undefined) {
    process.stdout.write(listing());
    return 0;
  }
  if (name === 'all') return summary(Object.keys(SUITES), (each) => suite(each, [], run));
  if (name === 'repeat') return repeat(Number(args[0] ?? REPEATS), run);
  if (Object.hasOwn(SUITES, name)) return suite(name, args, run);
  process.stderr.write(`no soak named ${name}\n${listing()}`);
  return EXIT_USAGE;
}

function suite(name, args, run) {
  const { files, profiles } = SUITES[name];
  if (files === undefined) return run.script(name, args, LARGE);
  if (profiles === undefined) return run.tests([...files, ...args], LARGE);
  return summary(profiles, (profile) => run.tests([...files, ...args], { CLUSTER_PROFILE: profile }));
}

/** The whole suite, again and again, beside loops that keep two cores busy. */
async function repeat(times, run) {
  if (!Number.isSafeInteger(times) || times < 1) {
    process.stderr.write('repeat [times]: a positive integer\n');
    return EXIT_USAGE;
  }
  // Standard input is a pipe of this process: the loop ends with it, however it ends.
  const loop =
    'process.stdin.on("end", () => process.exit()).resume(); (function turn() { for (let n = 0; n < 1e7; n += 1); setImmediate(turn); })();';
  const loops = Array.from({ length: BUSY_LOOPS }, () =>
    spawn(process.execPath, ['-e', loop], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  try {
    const names = Array.from({ length: times }, (_, index) => `repetition ${index + 1} of ${times}`);
    return await summary(names, () => run.tests([], {}));
  } finally {
    for (const one of loops) one.kill();
  }
}

/** Runs each in turn, also after a failure but not after an interrupt, and prints the results. */
async function summary(names, runOne) {
  const lines = [];
  let failures = 0;
  for (const name of names) {
    const startedMs = Date.now();
    const code = await runOne(name);
    if (code !== 0) failures += 1;
    lines.push(
      `${code === 0 ? 'passed' : `FAILED (${code})`}  ${name}  ${Math.round((Date.now() - startedMs) / 1000)} s`,
    );
    process.stdout.write(`${lines.at(-1)}\n`);
    if (isInterrupted(code)) break;
  }
  process.stdout.write(`\n${lines.join('\n')}\n${lines.length - failures} passed, ${failures} failed\n`);
  return failures === 0 ? 0 : 1;
}
