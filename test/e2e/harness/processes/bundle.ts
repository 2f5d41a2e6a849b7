// Roles, their worker threads, the simulated cluster and child processes of tests as bundles. Reading some hundred files and
// packages would cost each half a second of processor time. The code is that of the checkout; assets stay where they are.
// `lifetime.test.ts` starts from the sources.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import {
  BUNDLE_FOLDER_VARIABLE,
  BUNDLED_CHILDREN,
  BUNDLED_PROGRAMS,
  BUNDLED_WORKERS,
} from '../../../support/platform/bundled.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** With native code or files of their own beside them. */
const PACKAGES_LEFT_OUT = ['lmdb', 'ffi-rs', 'chdb', 'uWebSockets.js', '@triton-one/yellowstone-grpc'];
/** Otherwise what `api` imports from them stands in the chunk of `api`, and each processor loads six megabytes instead of one and a half. */
const PROCESSORS_APART = {
  includeDependenciesRecursively: false,
  groups: [{ name: 'processors-room', test: /[\\/]processors[\\/]/ }],
};
const FOLDER_PREFIX = 'roles-';
/** Longer than a run takes. A run that was killed leaves its folder. */
const LEFT_BEHIND_MS = 6 * 3_600_000;
const IMPORT = /^import (?:([\w$]+)|\{([^}]+)\}) from "([\w:/]+)";$/gm;
const WORKER_URL = /new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g;

/** Modules find their assets beside their sources, and their worker threads among the bundles in `folder`. */
function inPlace(folder: string): Plugin {
  const workerAt = (found: string, file: string, id: string): string => {
    const name = BUNDLED_WORKERS[path.relative(ROOT, path.resolve(path.dirname(id), file))];
    return name === undefined ? found : urlOf(path.join(folder, `${name}.mjs`));
  };
  return {
    name: 'in-place',
    transform: (code, id) =>
      code.includes('import.meta.url')
        ? code
            .replace(WORKER_URL, (found, file: string) => workerAt(found, file, id))
            .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        : undefined,
  };
}

/** An import of `node:http` reads all that it exports, and so loads Node's fetch: a sixth of the start of a processor. */
const BUILTINS_UNREAD: Plugin = {
  name: 'builtins-unread',
  renderChunk: (code) =>
    code.replace(IMPORT, (found, whole: string | undefined, members: string | undefined, id: string) =>
      isBuiltin(id)
        ? `const ${whole ?? `{${members?.replaceAll(' as ', ': ')}}`} = process.getBuiltinModule("${id}");`
        : found,
    ),
};

const urlOf = (file: string): string => `new URL(${JSON.stringify(pathToFileURL(file).href)})`;

/** Set-up of a test run: makes the bundles inside the checkout, where they find the packages left out. */
export default async function bundleRoles(): Promise<() => void> {
  if (!startsProcesses(process.argv.slice(2))) return () => {};
  const parent = path.join(ROOT, 'node_modules', '.cache', 'slotbook');
  mkdirSync(parent, { recursive: true });
  removeLeftBehind(parent);
  const folder = mkdtempSync(path.join(parent, FOLDER_PREFIX));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: inputOf(BUNDLED_PROGRAMS),
    external: PACKAGES_LEFT_OUT,
    preserveEntrySignatures: 'allow-extension',
    plugins: [inPlace(folder), BUILTINS_UNREAD],
  });
  await bundle.write({
    dir: folder,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    codeSplitting: PROCESSORS_APART,
  });
  await bundle.close();
  // By itself: a thread that shares files with the roles would load most of them.
  const workers = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: inputOf(BUNDLED_WORKERS),
    plugins: [BUILTINS_UNREAD],
  });
  await workers.write({ dir: folder, entryFileNames: '[name].mjs' });
  await workers.close();
  // By themselves too: in one build they changed the code of the programs.
  const children = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: inputOf(BUNDLED_CHILDREN),
    external: PACKAGES_LEFT_OUT,
    plugins: [inPlace(folder), BUILTINS_UNREAD],
  });
  await children.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: 'child-[name]-[hash].mjs' });
  await children.close();
  process.env[BUNDLE_FOLDER_VARIABLE] = folder;
  return remove;
}

function removeLeftBehind(parent: string): void {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(FOLDER_PREFIX))) {
    const folder = path.join(parent, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
    if (Date.now() - mtimeMs > LEFT_BEHIND_MS) rmSync(folder, { recursive: true, force: true });
  }
}

const inputOf = (scripts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(scripts).map(([script, name]) => [name, path.join(ROOT, script)]));

/** Whether a run has end-to-end tests: all of them without a filter. */
function startsProcesses(args: readonly string[]): boolean {
  const filters = args.filter((arg) => arg !== 'run' && !arg.startsWith('-'));
  return filters.length === 0 || filters.some((filter) => filter.includes('e2e'));
}
