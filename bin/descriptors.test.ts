// Clients exhaust the file descriptors of a server. The server runs in a process of its own with few descriptors.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NODE_FLAGS } from '../test/support/platform/children.ts';
import { until } from '../test/support/platform/eventually.ts';

/** More than a server opens by itself, its log included. */
const DESCRIPTORS = 160;

let folder: string;
let child: ChildProcess;
let output = '';
let endpoints: Readonly<Record<string, string>>;

beforeEach(async () => {
  output = '';
  folder = mkdtempSync(path.join(tmpdir(), 'slotbook-descriptors-'));
  const cli = fileURLToPath(new URL('cli.ts', import.meta.url));
  const ports = ['ORDERBOOK', 'GATEWAY', 'METRICS'].map((name) => [`SLOTBOOK_${name}_PORT`, '0']);
  const script = `ulimit -n ${DESCRIPTORS}; exec "$0" "$@" run orderbook`;
  child = spawn('sh', ['-c', script, process.execPath, ...NODE_FLAGS, cli], {
    env: {
      PATH: process.env.PATH,
      SLOTBOOK_DATA_DIR: folder,
      SLOTBOOK_SOURCE: 'capture',
      ...Object.fromEntries(ports),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (output += String(bytes)));
  await until(() => output.includes('"ready"'));
  const line = output.split('\n').find((one) => one.startsWith('{"ready"')) ?? '';
  ({ endpoints } = JSON.parse(line) as { endpoints: typeof endpoints });
});

afterEach(async () => {
  if (child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

const lines = (): readonly string[] => output.split('\n').filter((line) => line.includes('no file descriptor left'));

async function episodes(): Promise<number> {
  const text = await (await fetch(endpoints.metrics ?? '')).text();
  return Number(/^slotbook_descriptor_limit_total(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]);
}

it.each(['orderbook', 'gateway'])(
  'logs once and counts that clients of the %s have taken all descriptors',
  async (name) => {
    expect(await episodes()).toBe(0);
    const { port, hostname } = new URL(endpoints[name] ?? '');
    // Clients that reconnect at once belong to the same episode.
    for (let round = 0; round < 2; round += 1) {
      const sockets = Array.from({ length: DESCRIPTORS }, () => connect({ host: hostname, port: Number(port) }));
      for (const socket of sockets) socket.on('error', () => {});
      await until(() => lines().length > 0);
      for (const socket of sockets) socket.destroy();
      await until(async () => (await episodes()) === 1);
    }
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ code: 'EMFILE', limit: DESCRIPTORS, level: 50 }),
    ]);
  },
);
