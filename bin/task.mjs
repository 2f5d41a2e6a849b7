// Runs `npm test`, `npm run check`, `npm run bench` and the others: installs missing packages, then starts the tools.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { buildPage } from './build-page.mjs';
import { install, isInterrupted, ROOT, runPinned } from './install.mjs';
import { soak } from './soak.mjs';
import { inTestFolder } from './test-folder.mjs';

const tool = (name, ...args) => [path.join(ROOT, 'node_modules', ...name.split('/')), ...args];
const EXIT_WITH_LAUNCHER = new URL('../test/support/platform/exit-with-launcher.mjs', import.meta.url).href;
const BUILD_INFO = path.join(ROOT, 'node_modules', '.cache', 'slotbook');
/** Checks what changed since the last run alone. */
const typecheck = (project, name) => [
  ...tool('typescript/bin/tsc', '-p', project, '--incremental'),
  ...['--tsBuildInfoFile', path.join(BUILD_INFO, `${name}.tsbuildinfo`)],
];
const lint = tool('@biomejs/biome/bin/biome', 'check', '.');
const tests = (names, environment = {}) =>
  inTestFolder((folder) => runPinned(tool('vitest/vitest.mjs', 'run', ...names), { ...environment, ...folder }));

const scriptsIn = (folder) =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
    .sort();

/** Runs <folder>/<name>.ts. Returns 2 when there is no such file. */
async function script(folder, name, args = [], environment = {}) {
  const file = path.join(ROOT, folder, `${name}.ts`);
  if (!existsSync(file)) {
    process.stderr.write(`${folder} has no ${name}; available: ${scriptsIn(folder).join(', ')}\n`);
    return 2;
  }
  return runPinned(['--expose-gc', '--import', EXIT_WITH_LAUNCHER, file, ...args], environment);
}

/** Runs all benchmarks, also after a failure but not after an interrupt. Returns the code of the first one that failed or missed its bar. */
async function bench(names) {
  const codes = [];
  for (const name of names.length > 0 ? names : scriptsIn('test/bench')) {
    codes.push(await script('test/bench', name));
    if (isInterrupted(codes.at(-1))) break;
  }
  return codes.find((code) => code !== 0) ?? 0;
}

/** Runs lint and type check at the same time: each uses little more than one core. */
async function check() {
  const codes = await Promise.all([
    runPinned(lint),
    runPinned(typecheck('.', 'rooms')),
    runPinned(typecheck('web', 'page')),
  ]);
  return codes.find((code) => code !== 0) ?? 0;
}

const [task = 'test', ...rest] = process.argv.slice(2);
const tasks = {
  test: async () => (rest.length > 0 ? 0 : await check()) || (await buildPage()) || tests(rest),
  build: () => buildPage({ force: true }),
  check,
  format: () => runPinned(tool('@biomejs/biome/bin/biome', 'check', '--write', '.')),
  schemas: () => runPinned([path.join(ROOT, 'schemas', 'generate.ts'), ...rest]),
  docs: () => runPinned([path.join(ROOT, 'bin', 'reference', 'generate.ts')]),
  prose: () => runPinned([path.join(ROOT, 'test', 'prose', 'measure.ts'), ...rest]),
  bench: () => bench(rest),
  soak: () =>
    soak(rest, {
      script: (name, args, environment) => script('test/soak', name, args, environment),
      tests: async (files, environment) => (await buildPage()) || tests(files, environment),
    }),
  conformance: () => script('test/conformance', 'generate', rest),
  'measure-log': () => script('test/support/log', rest[0] === 'memory' ? 'measure-memory' : 'measure', rest),
  example: () => script('examples', rest[0], rest.slice(1)),
};

if (!Object.hasOwn(tasks, task)) {
  process.stderr.write(`unknown task ${task}; available: ${Object.keys(tasks).join(', ')}\n`);
  process.exitCode = 2;
} else {
  await install();
  process.exitCode = await tasks[task]();
}
