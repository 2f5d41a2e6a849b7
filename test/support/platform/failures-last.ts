// A vitest reporter: the failed tests with the first line of their error, as the last thing that a run prints.

import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Longer first lines are cut; the whole error stands further up. */
const MESSAGE_CHARS = 300;

export class FailuresLast implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap(failuresOf);
    if (lines.length > 0) process.stdout.write(`\n${lines.length} failed:\n${lines.join('\n')}\n`);
  }
}

function failuresOf(module: TestModule): readonly string[] {
  const { relativeModuleId: file, children } = module;
  const suites = [...children.allSuites()];
  const tests = [...children.allTests('failed')];
  return [
    ...module.errors().map((error) => failure(file, error)),
    ...suites.flatMap((suite) => suite.errors().map((error) => failure(`${file} > ${suite.fullName}`, error))),
    ...tests.map((test) => failure(`${file} > ${test.fullName}`, test.result().errors?.at(0))),
  ];
}

function failure(where: string, error: SerializedError | undefined): string {
  const message = error?.message ?? 'no error was reported';
  return `  ${where}\n    ${message.split('\n', 1)[0]?.slice(0, MESSAGE_CHARS)}`;
}
