// Schemathesis generates requests from the OpenAPI document: other people's reading of it, which shares no code with ours.
// test/support/api/contracts.ts validates what our own requests and sockets receive. Installed from PyPI once, where Python runs.

import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killWithUs } from '../../../support/platform/children.ts';

const run = promisify(execFile);

const VERSION = '4.32.5';
const CACHE = fileURLToPath(
  new URL(`../../../../node_modules/.cache/slotbook/schemathesis-${VERSION}`, import.meta.url),
);
const INSTALL_WITHIN_MS = 240_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Python scripts name their interpreter by its path, so the installed program runs as a module. */
const python = (folder: string): string => path.join(folder, 'bin', 'python');

/** Its interpreter, or the reason why it is absent: no Python, or no package index. */
export async function schemathesis(): Promise<{ readonly python: string } | { readonly absent: string }> {
  if (existsSync(python(CACHE))) return { python: python(CACHE) };
  try {
    await run('python3', ['-c', 'import venv, ensurepip']);
  } catch {
    return { absent: 'no Python 3 with venv' };
  }
  const folder = `${CACHE}.${process.pid}`;
  try {
    await mkdir(path.dirname(CACHE), { recursive: true });
    await run('python3', ['-m', 'venv', folder]);
    const install = ['install', '--no-compile', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
    await run(python(folder), ['-m', 'pip', ...install], { timeout: INSTALL_WITHIN_MS });
    await rename(folder, CACHE);
    return { python: python(CACHE) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return { absent: `schemathesis cannot be installed: ${String(error).slice(0, 300)}` };
  }
}

export interface SchemathesisRun {
  readonly passed: boolean;
  readonly output: string;
}

/** Each answer must have a documented status and body. */
const CHECKS = 'status_code_conformance,content_type_conformance,response_schema_conformance';
/** No answer is a failure of the server, documented or not. */
const NO_FAILURE = 'not_a_server_error';

export interface SchemathesisOptions {
  /** `coverage` tries the edges of each parameter, `fuzzing` draws requests. */
  readonly phases: readonly ('coverage' | 'fuzzing')[];
  /** For each operation. */
  readonly examples: number;
  readonly seconds: number;
  readonly seed: number;
  /** Whether documented answers of 500 and above are allowed: the order-book server has published ones. */
  readonly mayFail?: boolean;
}

/** Runs it on a served document. */
export async function runSchemathesis(
  interpreter: string,
  url: string,
  { phases, examples, seconds, seed, mayFail = false }: SchemathesisOptions,
): Promise<SchemathesisRun> {
  const args = [
    ...[
      '-m',
      'schemathesis.cli',
      'run',
      url,
      '--checks',
      mayFail ? CHECKS : `${NO_FAILURE},${CHECKS}`,
      '--phases',
      phases.join(','),
    ],
    ...['--max-examples', String(examples), '--max-time', String(seconds), '--seed', String(seed)],
    ...['--no-color', '--suppress-health-check', 'all', '--warnings', 'off'],
  ];
  try {
    const running = run(interpreter, args, { maxBuffer: OUTPUT_BYTES_MAX, cwd: tmpdir() });
    const release = killWithUs(running.child.pid ?? 0);
    const { stdout } = await running.finally(release);
    return { passed: true, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as ExecFileException;
    return { passed: false, output: `${stdout}\n${stderr}` };
  }
}
