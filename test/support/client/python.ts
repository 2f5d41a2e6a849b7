// Python for the tests of its client: an environment with the pinned tools, installed from PyPI once, and the package's wheel
// as a stranger gets it, in an environment of its own.

import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killWithUs } from '../platform/children.ts';

const exec = promisify(execFile);

export const PYTHON_CLIENT = fileURLToPath(new URL('../../../client/python', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/slotbook/', import.meta.url));
/** Compiled modules, outside of the sources. */
const COMPILED = path.join(CACHE, 'pycache');
/** Python compiles what is imported; pip would compile thousands of modules that nobody imports. */
const INSTALL = ['install', '--no-compile', '--quiet'];
const INSTALL_WITHIN_MS = 600_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** What the package itself needs; everything else in the list is for tests. */
const OWN_REQUIREMENTS = ['msgspec', 'websockets'];
const CANDIDATES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const FIND =
  'import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(".".join(map(str, sys.version_info[:3])))';

export interface Output {
  readonly isOk: boolean;
  readonly text: string;
}

/** Runs a program, which ends with this process. */
export async function run(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number } = {},
): Promise<Output> {
  const { cwd = tmpdir(), env = {}, timeoutMs = INSTALL_WITHIN_MS } = options;
  try {
    const running = exec(file, args, {
      cwd,
      env: { ...process.env, PYTHONPYCACHEPREFIX: COMPILED, PIP_DISABLE_PIP_VERSION_CHECK: '1', ...env },
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: timeoutMs,
    });
    const release = killWithUs(running.child.pid ?? 0);
    const { stdout, stderr } = await running.finally(release);
    return { isOk: true, text: `${stdout}${stderr}` };
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as ExecFileException;
    return { isOk: false, text: `${message}\n${stdout}\n${stderr}` };
  }
}

async function must(...call: Parameters<typeof run>): Promise<string> {
  const { isOk, text } = await run(...call);
  if (!isOk) throw new Error(text.slice(-2000));
  return text;
}

const inBin = (folder: string, name: string): string => path.join(folder, 'bin', name);

/** A Python of the supported versions, with its version. */
async function findPython(): Promise<{ readonly command: string; readonly version: string } | null> {
  for (const command of CANDIDATES) {
    const { isOk, text } = await run(command, ['-c', FIND]);
    if (isOk) return { command, version: text.trim() };
  }
  return null;
}

export interface PythonTools {
  /** Of the environment with tools and extras, without the package. */
  readonly python: string;
  readonly version: string;
  /** Wheels of the package's own requirements. */
  readonly wheels: string;
}

/** The reason why there is no environment. */
interface Absent {
  readonly absent: string;
}

/** The environment with the tools and the package's own requirements. */
export async function pythonTools(): Promise<PythonTools | Absent> {
  const found = await findPython();
  if (!found) return { absent: 'no Python 3.10 or later with venv and ensurepip' };
  const { version } = found;
  const list = requirements('requirements-test.txt');
  return environment({ list, identity: [version] }, version, async (building) => {
    const python = inBin(building, 'python');
    await must(found.command, ['-m', 'venv', building]);
    await must(python, ['-m', 'pip', ...INSTALL, '--requirement', list]);
    const own = readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => OWN_REQUIREMENTS.includes(line.split('==')[0] ?? ''));
    const wheels = ['download', '--quiet', '--no-deps', '--dest', path.join(building, 'wheels'), ...own];
    await must(python, ['-m', 'pip', ...wheels]);
  });
}

/** The environment with the libraries of the adapters, which also finds the packages of `tools`. Its list names everything. */
export async function adapterTools(tools: PythonTools): Promise<PythonTools | Absent> {
  const list = requirements('requirements-adapters.txt');
  return environment({ list, identity: [tools.python] }, tools.version, async (building) => {
    const python = inBin(building, 'python');
    await must(tools.python, ['-m', 'venv', '--without-pip', building]);
    await writeFile(path.join(await siteOf(python), 'tools.pth'), await siteOf(tools.python));
    const install = [...INSTALL, '--no-deps', '--requirement', list];
    await must(tools.python, ['-m', 'pip', '--python', python, ...install]);
  });
}

const requirements = (list: string): string => path.join(PYTHON_CLIENT, list);

/** Builds an environment once for its list and identity. */
async function environment(
  { list, identity }: { readonly list: string; readonly identity: readonly string[] },
  version: string,
  build: (folder: string) => Promise<void>,
): Promise<PythonTools | Absent> {
  const hash = createHash('sha256').update(readFileSync(list)).update(identity.join(' ')).digest('hex').slice(0, 12);
  const folder = path.join(CACHE, `python-${hash}`);
  const tools = { python: inBin(folder, 'python'), version, wheels: path.join(folder, 'wheels') };
  if (existsSync(folder)) return tools;
  const building = `${folder}.${process.pid}`;
  try {
    await mkdir(CACHE, { recursive: true });
    await build(building);
    await rename(building, folder);
    return tools;
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    // Another run was faster.
    if (existsSync(folder)) return tools;
    return { absent: `${path.basename(list)} cannot be installed from PyPI: ${String(error).slice(0, 500)}` };
  }
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

/** Builds the wheel and installs it into a new environment, without a network. */
export async function installedWheel(tools: PythonTools): Promise<InstalledWheel> {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-python-'));
  const build = [
    '-m',
    'pip',
    'wheel',
    '--quiet',
    '--no-deps',
    '--no-build-isolation',
    '--wheel-dir',
    folder,
    PYTHON_CLIENT,
  ];
  await must(tools.python, build);
  const name = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? '';
  const wheel = path.join(folder, name);
  const own = path.join(folder, 'venv');
  await must(tools.python, ['-m', 'venv', '--without-pip', own]);
  const python = inBin(own, 'python');
  const install = [...INSTALL, '--no-index', '--find-links', tools.wheels, wheel];
  await must(tools.python, ['-m', 'pip', '--python', python, ...install]);
  const site = await siteOf(python);
  return { folder, wheel, python, site, remove: () => rm(folder, { recursive: true, force: true }) };
}
