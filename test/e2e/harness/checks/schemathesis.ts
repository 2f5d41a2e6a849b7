// Schemathesis generates requests from the OpenAPI document: other people's reading of it, which shares no code with ours.
// test/support/api/contracts.ts validates what our own requests and sockets receive. Installed from PyPI once, where Python runs.

import { type Absent, environment, findPython, pythonOf, run } from '../../../support/platform/python.ts';

const VERSION = '4.32.5';

/** Its interpreter, or the reason why it is absent: no Python, or no package index. */
export async function schemathesis(): Promise<{ readonly python: string } | Absent> {
  const installer = await findPython();
  if ('absent' in installer) return installer;
  const made = await environment('schemathesis', `${VERSION} ${installer.version}`, async (folder) => {
    await installer.venv(folder);
    await installer.install(folder, [`schemathesis==${VERSION}`]);
  });
  return 'absent' in made ? made : { python: pythonOf(made.folder) };
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
  const { isOk, text } = await run(interpreter, args);
  return { passed: isOk, output: text };
}
