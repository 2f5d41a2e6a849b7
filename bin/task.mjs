// What stands behind `npm test`, `npm run check`, `npm run bench`, ...: installs what is missing, then runs the tools.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { install, ROOT, runPinned } from './install.mjs';

const tool = (name, ...args) => [path.join(ROOT, 'node_modules', ...name.split('/')), ...args];
const typecheck = tool('typescript/bin/tsc', '-p', '.');
const lint = tool('@biomejs/biome/bin/biome', 'check', '.');
const vitest = (...args) => tool('vitest/vitest.mjs', 'run', ...args);

const scriptsIn = (folder) =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
    .sort();

/** Runs <folder>/<name>.ts; 2 when there is none of that name. */
async function script(folder, name, ...args) {
  const file = path.join(ROOT, folder, `${name}.ts`);
  if (!existsSync(file)) {
    process.stderr.write(`nothing in ${folder} named ${name}; there are: ${scriptsIn(folder).join(', ')}\n`);
    return 2;
  }
  return runPinned(['--expose-gc', file, ...args]);
}

/** Runs every one of them, whatever the others come to; the code is that of the first that failed or missed its bar. */
async function bench(names) {
  const codes = [];
  for (const name of names.length > 0 ? names : scriptsIn('test/bench')) codes.push(await script('test/bench', name));
  return codes.find((code) => code !== 0) ?? 0;
}

/** Lint and types at once: each uses little more than one core. */
async function check() {
  const codes = await Promise.all([runPinned(lint), runPinned(typecheck)]);
  return codes.find((code) => code !== 0) ?? 0;
}

const [task = 'test', ...rest] = process.argv.slice(2);
const tasks = {
  test: async () => (rest.length > 0 ? 0 : await check()) || runPinned(vitest(...rest)),
  check,
  format: () => runPinned(tool('@biomejs/biome/bin/biome', 'check', '--write', '.')),
  schemas: () => runPinned([path.join(ROOT, 'schemas', 'generate.ts'), ...rest]),
  bench: () => bench(rest),
  soak: () => script('test/soak', rest[0] ?? 'memory', ...rest.slice(1)),
  'measure-log': () => script('platform/log/testing', 'measure', ...rest),
  example: () => script('examples', ...rest),
};

if (!Object.hasOwn(tasks, task)) {
  process.stderr.write(`unknown task ${task}; there are: ${Object.keys(tasks).join(', ')}\n`);
  process.exitCode = 2;
} else {
  await install();
  process.exitCode = await tasks[task]();
}
