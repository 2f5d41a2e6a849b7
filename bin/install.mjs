// Installs missing packages and starts the pinned Node 22. Plain JavaScript without dependencies: it runs on the machine's
// own Node (20 or later) before anything is installed.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LAUNCHER_VARIABLE, watchNpm } from './launcher-watch.mjs';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PINNED_NODE = path.join(ROOT, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const PROGRESS_INTERVAL_MS = 5_000;
/** An exit code above is that of a signal. */
const EXIT_SIGNAL = 128;
const INTERRUPTS = ['SIGINT', 'SIGTERM'].map((signal) => EXIT_SIGNAL + constants.signals[signal]);

/** True when node_modules has every package that this platform needs, at the version of the lock file. */
function isInstalled() {
  const wanted = readPackages(path.join(ROOT, 'package-lock.json'));
  const present = readPackages(path.join(ROOT, 'node_modules', '.package-lock.json'));
  if (!wanted || !present || !existsSync(PINNED_NODE)) return false;
  return Object.entries(wanted).every(
    ([name, entry]) => name === '' || entry.optional || entry.devOptional || entry.version === present[name]?.version,
  );
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return null;
  }
}

/** Prints a line and runs `npm ci` when a package is missing. Exits with its code when it fails. */
export async function install() {
  if (isInstalled()) return;
  process.stderr.write('slotbook: installing dependencies (once; about a minute and 1.1 GB)\n');
  const started = Date.now();
  const progress = setInterval(() => {
    process.stderr.write(`slotbook: still installing, ${Math.round((Date.now() - started) / 1000)} s\n`);
  }, PROGRESS_INTERVAL_MS);
  // npm's engine warnings refer to the machine's Node, while the lock file is for the pinned one.
  const code = await run('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {});
  clearInterval(progress);
  if (code !== 0 || !existsSync(PINNED_NODE)) {
    process.stderr.write(`slotbook: npm ci ended with code ${code}${code === 0 ? ' but installed no Node 22' : ''}\n`);
    process.exit(code || 1);
  }
  process.stderr.write(`slotbook: installed in ${Math.round((Date.now() - started) / 1000)} s\n`);
}

/** Environment whose `node` is the pinned one and whose PATH has the package binaries. */
function pinnedEnvironment(extra = {}) {
  const bins = [path.dirname(PINNED_NODE), path.join(ROOT, 'node_modules', '.bin')].join(path.delimiter);
  return { ...process.env, ...extra, PATH: `${bins}${path.delimiter}${process.env.PATH ?? ''}` };
}

/** Whether an exit code says that somebody ended the run, so that nothing more may start. */
export function isInterrupted(code) {
  return INTERRUPTS.includes(code);
}

/** Runs a file or tool on the pinned Node in this terminal. Resolves to its exit code. */
export function runPinned(args, extra = {}) {
  return run(PINNED_NODE, ['--disable-warning=ExperimentalWarning', ...args], pinnedEnvironment(extra));
}

function run(command, args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      // The pipe closes when this process ends (launcher-watch.mjs).
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: { ...process.env, ...environment, [LAUNCHER_VARIABLE]: String(process.pid) },
      shell: process.platform === 'win32' && command === 'npm',
    });
    // A signal to this process alone must reach the child. A terminal sends ctrl-C to both: the child gets it twice (signals.ts).
    const interrupt = () => child.kill('SIGINT');
    const terminate = () => child.kill('SIGTERM');
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', terminate);
    const unwatch = watchNpm(terminate);
    child.stdio[3]?.on('error', () => {});
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
      unwatch();
      resolve(code ?? EXIT_SIGNAL + constants.signals[signal]);
    });
  });
}
