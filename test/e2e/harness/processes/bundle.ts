// Roles and the simulated cluster as bundles, for processes of end-to-end tests: reading some hundred files and packages costs
// each of them half a second of processor time. The code is that of the checkout; assets stay where they are. `lifetime.test.ts` and
// `interrupted.test.ts` start from the sources.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { BUNDLE_FOLDER_VARIABLE, BUNDLED_SCRIPTS } from './bundled.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** With native code or files of their own beside them. */
const PACKAGES_LEFT_OUT = ['lmdb', 'ffi-rs', 'chdb', 'uWebSockets.js', '@triton-one/yellowstone-grpc'];
/** Modules find their assets beside their sources. */
const atTheirSources: Plugin = {
  name: 'at-their-sources',
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

/** Set-up of a test run: makes the bundles inside the checkout, where they find the packages left out. */
export default async function bundleRoles(): Promise<() => void> {
  if (!startsProcesses(process.argv.slice(2))) return () => {};
  const parent = path.join(ROOT, 'node_modules', '.cache', 'slotbook');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'roles-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: Object.fromEntries(Object.entries(BUNDLED_SCRIPTS).map(([script, name]) => [name, path.join(ROOT, script)])),
    external: PACKAGES_LEFT_OUT,
    plugins: [atTheirSources],
  });
  await bundle.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await bundle.close();
  process.env[BUNDLE_FOLDER_VARIABLE] = folder;
  return remove;
}

/** Whether a run has end-to-end tests: all of them without a filter. */
function startsProcesses(args: readonly string[]): boolean {
  const filters = args.filter((arg) => arg !== 'run' && !arg.startsWith('-'));
  return filters.length === 0 || filters.some((filter) => filter.includes('e2e'));
}
