// An interrupted test run leaves no process behind: neither roles, nor clusters, engines, brokers or busy loops.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { KAFKA } from '../support/log/java-broker.ts';
import { bundled } from '../support/platform/bundled.ts';
import { killWithUs } from '../support/platform/children.ts';
import { javaVersion } from '../support/platform/java.ts';
import { familyOf, isAlive, type Member } from '../support/processes/family.ts';
import { eventually } from '../support/processes/processes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIG = 'test/e2e/harness/interrupted/vitest.config.ts';
const GONE_MS = 60_000;
const isVitest = ({ command }: Member) => command.includes('vitest.mjs run');
const isNpm = ({ command }: Member) => command.startsWith('npm ');

describe.runIf(process.platform === 'linux')('an interrupted test run', () => {
  let family: readonly Member[] = [];
  let release = () => {};
  afterEach(() => {
    for (const member of family.filter(isAlive)) process.kill(member.pid, 'SIGKILL');
    release();
  });

  const start = async (java: number): Promise<void> => {
    const child = spawn('npm', ['test', '--', '--config', CONFIG], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: {
        ...process.env,
        npm_lifecycle_event: undefined,
        ENDLESS_WITH_JAVA: String(java),
      },
    });
    release = killWithUs(child.pid ?? 0, true);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
    await eventually('the run has started everything', () => {
      if (child.exitCode !== null) throw new Error(output);
      return output.includes('everything runs');
    });
    family = familyOf(child.pid ?? 0);
  };

  it.each([
    ['vitest', 'SIGKILL', isVitest],
    ['vitest', 'SIGINT', isVitest],
    ['npm', 'SIGKILL', isNpm],
  ] as const)('leaves nothing when %s gets %s', async (_, signal, isTarget) => {
    // Java takes longest to start, so it takes part once.
    const java = signal === 'SIGKILL' && isTarget === isVitest ? ((await javaVersion(KAFKA)) ?? 0) : 0;
    await start(java);
    const programs = [bundled('localnet/main.ts'), `${bundled('bin/cli.ts')} run`];
    const kinds = [...programs, 'clickhouse/child.ts', 'while :', ...(java ? ['java '] : [])];
    for (const kind of kinds)
      expect(
        family.some(({ command }) => command.includes(kind)),
        kind,
      ).toBe(true);
    const target = family.find(isTarget);
    if (!target) throw new Error(`no target among ${JSON.stringify(family)}`);
    process.kill(target.pid, signal);
    const left = () => family.filter(isAlive).map(({ command }) => command);
    await eventually(`everything ended after ${signal}`, () => left().length === 0, GONE_MS).catch(() => {
      expect(left()).toEqual([]);
    });
  });
});
