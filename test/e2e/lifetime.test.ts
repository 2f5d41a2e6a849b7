// Nothing outlives `npm start` or a role, whichever of npm, its shell, the launcher and the program gets which signal.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { killWithUs, NODE_FLAGS } from '../support/platform/children.ts';
import { freePorts } from '../support/platform/ports.ts';
import { familyOf, isAlive, type Member } from '../support/processes/family.ts';
import { eventually, temporaryDirectory } from '../support/processes/processes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The stop of the whole pipeline included. */
const GONE_MS = 60_000;
const PORT_FLAGS = ['metrics', 'orderbook', 'gateway', 'history', 'page', 'localnet-rpc', 'localnet-ws'];
const MEMBERS = {
  npm: ({ command }: Member) => command.startsWith('npm '),
  'the shell of npm': ({ command }: Member) => command.startsWith('sh -c'),
  'the launcher': ({ command }: Member) => /^\S*node \S*bin\/slotbook\.mjs /.test(command),
  'the program': ({ command }: Member) => command.includes('bin/cli.ts'),
};
const NAMES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

describe.runIf(process.platform === 'linux')('npm', () => {
  const { dir, remove } = temporaryDirectory();
  let started: Member[] = [];
  let taken: Server | undefined;
  let release = () => {};
  afterEach(() => {
    for (const member of started.filter(isAlive)) process.kill(member.pid, 'SIGKILL');
    taken?.close();
    release();
  });
  afterAll(remove);

  const npm = (...args: readonly string[]): { readonly child: ChildProcess; output(): string } => {
    const child = spawn('npm', [...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, npm_lifecycle_event: undefined },
    });
    release = killWithUs(child.pid ?? 0, true);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
    return { child, output: () => output };
  };
  const npmStart = (ports: readonly number[]) => {
    const flags = PORT_FLAGS.flatMap((name, at) => [`--${name}-port`, String(ports[at])]);
    return npm('start', '--', '--data-dir', dir, '--accounts', '30', ...flags);
  };
  const running = async ({ child, output }: ReturnType<typeof npm>, ready: RegExp): Promise<readonly Member[]> => {
    await eventually(`npm runs: ${output()}`, () => {
      if (child.exitCode !== null) throw new Error(output());
      return ready.test(output());
    });
    started = familyOf(child.pid ?? 0);
    expect(started.some(({ command }) => command.includes('clickhouse/child.ts'))).toBe(true);
    return started;
  };
  const expectNothingLeft = async (family: readonly Member[], name: keyof typeof MEMBERS, signal: NodeJS.Signals) => {
    const member = family.find(MEMBERS[name]);
    if (!member) throw new Error(`no ${name} among ${JSON.stringify(family)}`);
    process.kill(member.pid, signal);
    const left = () => family.filter(isAlive).map(({ command }) => command);
    await eventually(`everything ended after ${signal} to ${name}`, () => left().length === 0, GONE_MS).catch(() => {
      expect(left()).toEqual([]);
    });
  };

  it.each([
    ['the program', 'SIGKILL'],
    ['npm', 'SIGTERM'],
  ] as const)('start leaves nothing when %s gets %s', async (name, signal) => {
    const family = await running(npmStart(await freePorts(PORT_FLAGS.length)), / events\/s \| /);
    expect(family.some(({ command }) => command.includes('localnet/main.ts'))).toBe(true);
    await expectNothingLeft(family, name, signal);
  });

  // The launcher is the same for every command; one role starts in a fraction of the time of `npm start`.
  it.each((['SIGTERM', 'SIGKILL'] as const).flatMap((signal) => NAMES.map((name) => [name, signal] as const)))(
    'run slotbook leaves nothing when %s gets %s',
    async (name, signal) => {
      const role = npm('run', 'slotbook', '--', 'run', 'clickhouse', '--data-dir', dir, '--metrics-port', '0');
      await expectNothingLeft(await running(role, /^\{.*endpoints/m), name, signal);
    },
  );

  it('start names the process that has a port, and ends with code 1 and no stack trace', async () => {
    const ports = await freePorts(PORT_FLAGS.length);
    taken = createServer();
    await new Promise<void>((resolve) => taken?.listen(ports[2], '127.0.0.1', resolve));
    const { child, output } = npmStart(ports);
    started = [{ pid: child.pid ?? 0, parent: process.pid, command: 'npm start' }];
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
    expect(output()).toContain(`slotbook: port ${ports[2]} of localhost is taken by pid ${process.pid} (`);
    expect(output()).toMatch(/--gateway-port or SLOTBOOK_GATEWAY_PORT/);
    expect(output()).not.toMatch(/^\s+at /m);
  });
});

describe('a process that cannot start', () => {
  const { dir, remove } = temporaryDirectory();
  afterAll(remove);

  it.each([
    // The log cannot be opened: a file has the name of its folder.
    ['run', () => ['trades'], 'EEXIST'],
    ['dev', (closed: number) => ['--rpc-url', `http://127.0.0.1:${closed}`], 'not a readable cluster'],
  ] as const)('ends with code 1 although a timer is left: slotbook %s', async (command, args, reason) => {
    writeFileSync(path.join(dir, 'log'), '');
    const [closed = 0, ...ports] = await freePorts(1 + PORT_FLAGS.length);
    const flags = PORT_FLAGS.flatMap((name, at) => [`--${name}-port`, String(ports[at])]);
    const timer = ['--import', 'data:text/javascript,setInterval(() => {}, 1000)'];
    const child = spawn(
      process.execPath,
      [...NODE_FLAGS, ...timer, 'bin/cli.ts', command, ...args(closed), '--data-dir', dir, ...flags],
      { cwd: ROOT, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk));
    const [code] = await once(child, 'close');
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining(reason) });
  });
});
