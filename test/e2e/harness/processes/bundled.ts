// Where processes of end-to-end tests find their program: bundle.ts makes bundles of these scripts.

import path from 'node:path';

/** Scripts that tests start, and the names of their bundles. */
export const BUNDLED_SCRIPTS: Readonly<Record<string, string>> = {
  'bin/cli.ts': 'cli',
  'localnet/main.ts': 'localnet',
};
/** Worker threads that these scripts start. */
export const BUNDLED_WORKERS: Readonly<Record<string, string>> = { 'ingest/rpc/account-worker.ts': 'account-worker' };
/** Set for the workers of a run that made bundles: their folder. */
export const BUNDLE_FOLDER_VARIABLE = 'BUNDLED_ROLES';
/** Compiled code of the bundles, which each process leaves for the next: a start takes a sixth less of the processor. */
const CODE_CACHE = 'code';

/** The bundle of a script of this checkout; the script itself when this run has no bundles. */
export function bundled(script: string): string {
  const folder = process.env[BUNDLE_FOLDER_VARIABLE];
  const name = BUNDLED_SCRIPTS[script];
  return folder === undefined || name === undefined ? script : path.join(folder, `${name}.mjs`);
}

/** Environment of a process that runs a bundle. */
export function bundleEnvironment(): Readonly<Record<string, string>> {
  const folder = process.env[BUNDLE_FOLDER_VARIABLE];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.join(folder, CODE_CACHE) };
}
