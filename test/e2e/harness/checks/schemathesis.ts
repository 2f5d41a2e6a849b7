// Schemathesis generates requests from the OpenAPI document: other people's reading of it, which shares no code with ours.
// test/support/api/contracts.ts validates what our own requests and sockets receive. Installed from PyPI once, where Python runs.

import { expect } from 'vitest';
import { type Absent, environment, findPython, pythonOf, run } from '../../../support/platform/python.ts';

const VERSION = '4.32.5';
/** Of a report: the end that is shown, and the end that a failure shows. */
const [SUMMARY_LINES, REPORT_CHARACTERS] = [12, 6_000];

/** Its interpreter, or the reason why it is absent: no Python, or no package index. */
async function schemathesis(): Promise<{ readonly python: string } | Absent> {
  const installer = await findPython();
  if ('absent' in installer) return installer;
  const made = await environment('schemathesis', `${VERSION} ${installer.version}`, async (folder) => {
    await installer.venv(folder);
    await installer.install(folder, [`schemathesis==${VERSION}`]);
  });
  return 'absent' in made ? made : { python: pythonOf(made.folder) };
}

interface SchemathesisRun {
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

/** Runs it on a served document, where it can be installed, and fails with the end of its report. */
export async function expectSchemathesisPasses(url: string, options: SchemathesisOptions): Promise<void> {
  const tool = await schemathesis();
  if ('absent' in tool) {
    process.stdout.write(`schemathesis: not run, ${tool.absent}\n`);
    return;
  }
  const { passed, output } = await runSchemathesis(tool.python, url, options);
  process.stdout.write(`schemathesis: ${output.trimEnd().split('\n').slice(-SUMMARY_LINES).join('\n')}\n`);
  expect([passed, passed ? '' : output.slice(-REPORT_CHARACTERS)]).toEqual([true, '']);
}

async function runSchemathesis(
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
  const { isOk, text } = await run(interpreter, args);
  return { passed: isOk, output: text };
}
