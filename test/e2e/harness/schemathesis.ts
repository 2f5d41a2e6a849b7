// Schemathesis, a generator of requests from OpenAPI documents by other people: installed from PyPI once, where Python runs.

import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const VERSION = '4.32.5';
const CACHE = fileURLToPath(new URL(`../../../node_modules/.cache/slotbook/schemathesis-${VERSION}`, import.meta.url));
const INSTALL_WITHIN_MS = 240_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Python scripts name their interpreter by its path, so what was installed is run as a module. */
const python = (folder: string): string => path.join(folder, 'bin', 'python');

/** Interpreter that has it; null, with the reason, where there is no Python or nothing to install from. */
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
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
    await run(python(folder), install, { timeout: INSTALL_WITHIN_MS });
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

/** What answers must be: a documented status with a documented body, and no failure of the server. */
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

/** Runs it on a served document. */
export async function runSchemathesis(
  interpreter: string,
  url: string,
  { examples, seconds, seed }: { readonly examples: number; readonly seconds: number; readonly seed: number },
): Promise<SchemathesisRun> {
  const args = [
    ...['-m', 'schemathesis.cli', 'run', url, '--checks', CHECKS, '--phases', 'coverage,fuzzing'],
    ...['--max-examples', String(examples), '--max-time', String(seconds), '--seed', String(seed)],
    ...['--no-color', '--suppress-health-check', 'all', '--warnings', 'off'],
  ];
  try {
    const { stdout } = await run(interpreter, args, { maxBuffer: OUTPUT_BYTES_MAX, cwd: tmpdir() });
    return { passed: true, output: stdout };
  } catch (error) {
    const { stdout, stderr } = error as ExecFileException;
    return { passed: false, output: `${stdout}\n${stderr}` };
  }
}
