// Where child processes of tests find their program: the set-up of a run with end-to-end tests makes bundles of these scripts
// (test/e2e/harness/processes/bundle.ts).

import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Programs that tests start, and the names of their bundles. */
export const BUNDLED_PROGRAMS: Readonly<Record<string, string>> = {
  'bin/cli.ts': 'cli',
  'localnet/main.ts': 'localnet',
};
/** Scripts of tests that run as child processes. */
export const BUNDLED_CHILDREN: Readonly<Record<string, string>> = {
  'test/support/log/claimer-process.ts': 'claimer',
  'test/support/log/consumer-process.ts': 'consumer',
  'test/support/log/opener-process.ts': 'opener',
  'test/support/log/writer-process.ts': 'writer',
  'test/support/processors/history/sink-process.ts': 'sink',
  'test/support/processors/follow/step-process.ts': 'step',
};
/** Worker threads that the programs start. */
export const BUNDLED_WORKERS: Readonly<Record<string, string>> = { 'ingest/rpc/account-worker.ts': 'account-worker' };
/** Set for the workers of a run that made bundles: their folder. */
export const BUNDLE_FOLDER_VARIABLE = 'BUNDLED_ROLES';
/** Compiled code of the bundles, which each process leaves for the next: a start takes a sixth less of the processor. */
const CODE_CACHE = 'code';

/** The bundle of a script of this checkout; the script itself when this run has no bundles. */
export function bundled(script: string): string {
  const folder = process.env[BUNDLE_FOLDER_VARIABLE];
  const name = BUNDLED_PROGRAMS[script] ?? BUNDLED_CHILDREN[script];
  return folder === undefined || name === undefined ? script : path.join(folder, `${name}.mjs`);
}

/** As `bundled`, for a script by its address: an absolute path. */
export function bundledAt(script: URL): string {
  return path.resolve(ROOT, bundled(path.relative(ROOT, fileURLToPath(script))));
}

/** Environment of a process that runs a bundle. */
export function bundleEnvironment(): Readonly<Record<string, string>> {
  const folder = process.env[BUNDLE_FOLDER_VARIABLE];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.join(folder, CODE_CACHE) };
}
