// An interrupted run of tests or benchmarks leaves no process behind: neither roles, nor clusters, engines, brokers or busy loops, and
// starts nothing more.

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
const ROLES = `${bundled('bin/cli.ts')} run`;
/** A terminal sends ctrl-C to the whole process group, which npm leads here. */
const TARGETS = {
  vitest: ({ command }: Member) => command.includes('vitest.mjs run'),
  npm: ({ command }: Member) => command.startsWith('npm '),
  'the launcher': ({ command }: Member) => /^\S*node bin\/task\.mjs /.test(command),
  'the terminal': ({ command }: Member) => command.startsWith('npm '),
};
type Target = keyof typeof TARGETS;

describe.runIf(process.platform === 'linux')('an interrupted run', () => {
  let family: readonly Member[] = [];
  let release = () => {};
  afterEach(() => {
    for (const member of family.filter(isAlive)) process.kill(member.pid, 'SIGKILL');
    release();
  });

  /** Starts `npm` with arguments, and waits until it has started what it should. */
  const start = async (
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    isReady: (output: string, family: readonly Member[]) => boolean,
  ): Promise<void> => {
    const child = spawn('npm', [...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, npm_lifecycle_event: undefined, ...environment },
    });
    release = killWithUs(child.pid ?? 0, true);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
    await eventually('the run has started everything', () => {
      if (child.exitCode !== null) throw new Error(output);
      family = familyOf(child.pid ?? 0);
      return isReady(output, family);
    });
  };

  const expectNothingLeft = async (name: Target, signal: NodeJS.Signals): Promise<void> => {
    const target = family.find(TARGETS[name]);
    if (!target) throw new Error(`no target among ${JSON.stringify(family)}`);
    process.kill(name === 'the terminal' ? -target.pid : target.pid, signal);
    const left = () => family.filter(isAlive).map(({ command }) => command);
    await eventually(`everything ended after ${signal}`, () => left().length === 0, GONE_MS).catch(() => {
      expect(left()).toEqual([]);
    });
  };

  it.each([
    ['vitest', 'SIGKILL'],
    ['vitest', 'SIGINT'],
    ['npm', 'SIGKILL'],
    ['the terminal', 'SIGINT'],
  ] as const)('of tests leaves nothing when %s gets %s', async (name, signal) => {
    // Java takes longest to start, so it takes part once.
    const java = signal === 'SIGKILL' && name === 'vitest' ? ((await javaVersion(KAFKA)) ?? 0) : 0;
    const environment = { ENDLESS_WITH_JAVA: String(java) };
    await start(['test', '--', '--config', CONFIG], environment, (output) => output.includes('everything runs'));
    const kinds = [bundled('localnet/main.ts'), ROLES, 'clickhouse/child.ts', 'while :', ...(java ? ['java '] : [])];
    for (const kind of kinds)
      expect(
        family.some(({ command }) => command.includes(kind)),
        kind,
      ).toBe(true);
    await expectNothingLeft(name, signal);
  });

  // The first one has a server from its first second on.
  it.each([
    ['the terminal', 'SIGINT'],
    ['the launcher', 'SIGINT'],
    ['npm', 'SIGKILL'],
  ] as const)('of two benchmarks leaves nothing when %s gets %s', async (name, signal) => {
    const hasServer = (_: string, members: readonly Member[]) => members.some(({ command }) => command.includes(ROLES));
    await start(['run', 'bench', 'connection', 'storm'], {}, hasServer);
    await expectNothingLeft(name, signal);
  });
});
