// Python for tests: environments of pinned packages from PyPI, made once into node_modules/.cache by uv, which takes a third of
// the processor time of pip.

import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killWithUs } from './children.ts';

const exec = promisify(execFile);

const UV_VERSION = '0.13.9';
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/slotbook/', import.meta.url));
const COMPILED = path.join(CACHE, 'pycache');
/**
 * Compiled modules are kept for the next process, outside of the sources, also where the machine's settings forbid it. Without
 * them compilation is a third of these tests' processor time.
 */
const COMPILED_ONCE = { PYTHONPYCACHEPREFIX: COMPILED, PYTHONDONTWRITEBYTECODE: '' };
const RUN_WITHIN_MS = 600_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const CANDIDATES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const FIND =
  'import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(".".join(map(str, sys.version_info[:3])))';

export interface Output {
  readonly isOk: boolean;
  readonly text: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program, which ends with this process. */
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Output> {
  const { cwd = tmpdir(), env = {} } = options;
  try {
    const running = exec(file, args, {
      cwd,
      env: { ...process.env, ...COMPILED_ONCE, ...env },
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: RUN_WITHIN_MS,
    });
    const release = killWithUs(running.child.pid ?? 0);
    const { stdout, stderr } = await running.finally(release);
    return { isOk: true, text: `${stdout}${stderr}` };
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as ExecFileException;
    return { isOk: false, text: `${message}\n${stdout}\n${stderr}` };
  }
}

/** Removes a folder with Python modules, and what was compiled of them. */
export async function removeModules(folder: string): Promise<void> {
  for (const each of [folder, path.join(COMPILED, folder)]) await rm(each, { recursive: true, force: true });
}

/** Throws the end of the output when the program fails. */
export async function must(...call: Parameters<typeof run>): Promise<string> {
  const { isOk, text } = await run(...call);
  if (!isOk) throw new Error(text.slice(-2000));
  return text;
}

const inBin = (folder: string, name: string): string => path.join(folder, 'bin', name);

/** Python scripts name their interpreter by its path: programs of an environment, which moves once it is made, run as modules. */
export const pythonOf = (folder: string): string => inBin(folder, 'python');

/** The reason why there is no environment. */
export interface Absent {
  readonly absent: string;
}

export interface Python {
  readonly version: string;
  /** Makes an empty environment of this Python, without pip. */
  venv(folder: string): Promise<void>;
  /** Installs what pip would install with these arguments into an environment. */
  install(folder: string, args: readonly string[]): Promise<void>;
  /** Runs uv itself. */
  uv(args: readonly string[]): Promise<void>;
}

let found: Promise<Python | Absent> | undefined;

/** A Python of the supported versions, with uv. */
export function findPython(): Promise<Python | Absent> {
  found ??= find();
  return found;
}

async function find(): Promise<Python | Absent> {
  for (const command of CANDIDATES) {
    const { isOk, text } = await run(command, ['-c', FIND]);
    if (isOk) return withUv(command, text.trim());
  }
  return { absent: 'no Python 3.10 or later with venv and ensurepip' };
}

async function withUv(command: string, version: string): Promise<Python | Absent> {
  const made = await cached(`uv-${UV_VERSION}`, async (folder) => {
    await must(command, ['-m', 'venv', folder]);
    const install = ['install', '--no-compile', '--quiet', '--disable-pip-version-check', `uv==${UV_VERSION}`];
    await must(pythonOf(folder), ['-m', 'pip', ...install]);
  });
  if ('absent' in made) return made;
  const uv = async (args: readonly string[]): Promise<void> => {
    const index = process.env.PIP_INDEX_URL;
    await must(inBin(made.folder, 'uv'), ['--quiet', '--cache-dir', path.join(CACHE, 'uv-packages'), ...args], {
      // The index and the certificates that pip would take.
      env: { UV_SYSTEM_CERTS: '1', ...(index === undefined ? {} : { UV_DEFAULT_INDEX: index }) },
    });
  };
  return {
    version,
    uv,
    venv: (folder) => uv(['venv', '--python', command, folder]),
    install: (folder, args) => uv(['pip', 'install', '--python', pythonOf(folder), ...args]),
  };
}

/** A folder of node_modules/.cache, built once. `build` fills a draft. */
async function cached(
  name: string,
  build: (draft: string) => Promise<void>,
): Promise<{ readonly folder: string } | Absent> {
  const folder = path.join(CACHE, name);
  if (existsSync(folder)) return { folder };
  const draft = `${folder}.${process.pid}`;
  try {
    await mkdir(CACHE, { recursive: true });
    await build(draft);
    await rename(draft, folder);
    return { folder };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another run was faster.
    if (existsSync(folder)) return { folder };
    return { absent: `${name} cannot be installed from PyPI: ${String(error).slice(0, 500)}` };
  }
}

/** An environment, built once for each `identity`: what decides its contents. */
export function environment(
  name: string,
  identity: string,
  build: (folder: string) => Promise<void>,
): Promise<{ readonly folder: string } | Absent> {
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 12);
  return cached(`${name}-${hash}`, build);
}
