// Environments for the tests of the Python client, and the package's wheel as a stranger gets it, in an environment of its own.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Absent,
  environment,
  findPython,
  must,
  type Python,
  pythonOf,
  removeModules,
} from '../platform/python.ts';

export { run } from '../platform/python.ts';

export const PYTHON_CLIENT = fileURLToPath(new URL('../../../client/python', import.meta.url));
const TOOLS = path.join(PYTHON_CLIENT, 'requirements-test.txt');
const ADAPTERS = path.join(PYTHON_CLIENT, 'requirements-adapters.txt');

export interface PythonTools {
  /** Interpreter of the environment with tools and extras, without the package. */
  readonly python: string;
  readonly version: string;
  readonly folder: string;
  readonly installer: Python;
}

/** The environment with the tools and the package's own requirements. */
export async function pythonTools(): Promise<PythonTools | Absent> {
  const installer = await findPython();
  if ('absent' in installer) return installer;
  const identity = `${readFileSync(TOOLS, 'utf8')} ${installer.version}`;
  const made = await environment('python-tools', identity, async (folder) => {
    await installer.venv(folder);
    await installer.install(folder, ['--requirement', TOOLS]);
  });
  return 'absent' in made ? made : toolsIn(made.folder, installer);
}

/** The environment with the libraries of the adapters, which also finds the packages of `tools`. Its list names everything. */
export async function adapterTools(tools: PythonTools): Promise<PythonTools | Absent> {
  const identity = `${readFileSync(ADAPTERS, 'utf8')} ${tools.folder}`;
  const made = await environment('python-adapters', identity, async (folder) => {
    await tools.installer.venv(folder);
    await writeFile(path.join(await siteOf(pythonOf(folder)), 'tools.pth'), await siteOf(tools.python));
    await tools.installer.install(folder, ['--no-deps', '--requirement', ADAPTERS]);
  });
  return 'absent' in made ? made : toolsIn(made.folder, tools.installer);
}

function toolsIn(folder: string, installer: Python): PythonTools {
  return { python: pythonOf(folder), version: installer.version, folder, installer };
}

/** Folder of the packages of an environment. */
async function siteOf(python: string): Promise<string> {
  return (await must(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])).trim();
}

export interface InstalledWheel {
  readonly folder: string;
  readonly wheel: string;
  /** Interpreter of an environment with the wheel and its requirements alone. */
  readonly python: string;
  /** Folder with the installed packages. */
  readonly site: string;
  remove(): Promise<void>;
}

/** Builds the wheel and installs it into a new environment, without a network: its requirements are those of the tools. */
export async function installedWheel({ python: builder, installer }: PythonTools): Promise<InstalledWheel> {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-python-'));
  const build = ['build', '--wheel', '--no-build-isolation', '--python', builder, '--out-dir', folder, PYTHON_CLIENT];
  await installer.uv(build);
  const name = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? '';
  const wheel = path.join(folder, name);
  const own = path.join(folder, 'venv');
  await installer.venv(own);
  await installer.install(own, ['--offline', '--constraint', TOOLS, wheel]);
  const python = pythonOf(own);
  return {
    folder,
    wheel,
    python,
    site: await siteOf(python),
    remove: () => removeModules(folder),
  };
}
